"""A point measured from end to end over steps that answer as they are told: what is written, and every way out of it."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.interrupts import Signals
from bot.bench import kept, stages
from bot.bench.watch import ServerDied
from bot.errors import Missing, Refusal, Stopped, Unreachable
from bot.model.bench import Counts, Gate, Setting
from tests.fakes.benches import DIGEST, PRINT, Bench, Took, eval_order, order, raising

STEPS = ("facts", "fits", "tool", "begin", "ready", "settings", "probes", "load")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path / "out").put_on(monkeypatch)


class TestAWholeRun:
    def test_asks_what_costs_least_first(self, bench: Bench) -> None:
        assert bench.measure().good
        assert bench.went == ["facts", "fits", "tool", "begin", "ready", "settings", "probes", "load", "probes"]
        assert bench.standing == []

    def test_says_that_it_runs_from_the_start_until_it_ends(self, bench: Bench) -> None:
        seen = []
        whole = bench._load
        bench.instead["facts"] = lambda host: seen.append(bench.written["state"]) or bench._facts(host)
        bench.instead["load"] = lambda *given: seen.append(bench.written["state"]) or whole(*given)
        bench.measure()
        assert seen == ["running", "running"] and bench.written["state"] == "complete" and bench.written["exit_code"] == 0

    def test_gives_each_row_the_whole_identity_of_its_point(self, bench: Bench) -> None:
        bench.env = {"GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "2", "BUMPBOT_HEAD": "e" * 40, "GITHUB_SHA": "f" * 40}
        bench.measure()
        row = next(row for row in bench.rows if row["metric"] == "output_tput" and row["repeat"] == 2)
        assert row["point"] == {"recipe": "own", "concurrency": 2, "workload": "chat", "topology": "TP4", "fingerprint": PRINT}
        assert (row["run"], row["attempt"], row["head"]) == (77, 2, "e" * 40)
        assert row["image"] == f"vllm/vllm-openai:v0.25.1@{DIGEST}" and row["value"] == 322.0
        assert bench.rows == bench.written["rows"]

    def test_tells_totals_per_gpu_too(self, bench: Bench) -> None:
        bench.measure()
        found = {(row["metric"], row["repeat"]): (row["value"], row["unit"]) for row in bench.rows}
        assert found["tput_per_gpu", 1] == (200.0, "tok/s/GPU") and found["output_tput_per_gpu", 2] == (80.5, "tok/s/GPU")

    def test_leaves_what_the_order_pins_as_it_stands(self, bench: Bench) -> None:
        bench.order = order(image=f"vllm/vllm-openai:v0.25.1@sha256:{'a' * 64}")
        bench.measure()
        assert {row["image"] for row in bench.rows} == {bench.order.image}

    def test_sums_up_every_file_of_both_folders(self, bench: Bench) -> None:
        bench.instead["begin"] = lambda *given: (given[3].logs / "server.log").write_text("up\n") and bench._begin(*given)
        report = bench.measure()
        lines = (bench.root / "results" / "SHA256SUMS").read_text().splitlines()
        told = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        there = {path.relative_to(bench.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                 for path in bench.root.rglob("*") if path.is_file() and path.name != "SHA256SUMS"}
        assert told == there and "logs/server.log" in told
        assert {one.name for one in report.files} == set(told) - {"results/bench.json"}

    def test_counts_as_its_own_time_what_is_neither_server_nor_tool(self, bench: Bench) -> None:
        seconds = bench.measure().seconds
        assert seconds == {"launch": 3.0, "ready": 60.0, "gates": 8.0, "load": 99.0, "stop": 2.0, "whole": 173.0, "harness": 1.0}

    def test_of_an_eval_gives_its_scores(self, bench: Bench) -> None:
        bench.order = eval_order()
        assert bench.measure().state == "complete"
        assert bench.went.index("prepare") < bench.went.index("begin")
        assert {(row["metric"], row["task"], row["stat"], row["n"], row["point"]["concurrency"]) for row in bench.rows} == {
            ("eval", "gsm8k", "strict", 4, 2), ("eval", "gsm8k", "flexible", 4, 2)}

    def test_of_which_a_gate_does_not_hold_is_complete_and_not_good(self, bench: Bench) -> None:
        whole = bench._load
        bench.instead["load"] = lambda *given: Took(**{**vars(whole(*given)), "gates": (Gate(name="windows", passed=False),)})
        report = bench.measure()
        assert (report.state, report.good, report.exit_code) == ("complete", False, 1)
        assert {row["flags"][0] for row in bench.rows} == {"workload-mismatch"}


class TestRefusedBeforeTheLoad:
    @pytest.mark.parametrize(("step", "error", "code"), [
        ("fits", Refusal("4 GPUs of h200 are asked for, and 8 of b200 are here"), 1), ("begin", Missing("no such image"), 1), ("tool", Missing("there is no program aiperf"), 1),
        ("ready", Unreachable("not ready within 60 minutes"), 3), ("ready", ServerDied("the server ended"), 1)])
    def test_says_why_and_leaves_nothing_standing(self, bench: Bench, step: str, error: Any, code: int) -> None:
        bench.instead[step] = raising(error)
        report = bench.measure()
        assert (report.state, report.reason, report.exit_code) == ("refused", error.reason, code)
        assert bench.standing == [] and "load" not in bench.went and bench.rows == [] and bench.written["state"] == "refused"

    def test_of_a_limit_that_the_server_lowered_names_it(self, bench: Bench) -> None:
        bench.instead["settings"] = lambda *_: (Setting(name="max-num-seqs", asked=64, effective=8, state="lowered"),)
        report = bench.measure()
        assert "max-num-seqs from 64 to 8" in report.reason and report.state == "refused" and "load" not in bench.went
        assert [(gate.name, gate.passed) for gate in report.gates] == [("settings", False)]

    def test_of_a_gate_that_fails_costs_no_load(self, bench: Bench) -> None:
        bench.instead["probes"] = lambda *_: (Gate(name="tools", passed=False, phase="before", said="<b>no call</b>"),)
        report = bench.measure()
        assert report.state == "refused" and report.reason.endswith("not hold: tools") and "load" not in bench.went

    def test_of_a_gate_that_nobody_answered_is_a_limit_that_passed(self, bench: Bench) -> None:
        silent = Gate(name="stream", passed=False, phase="before", fault="hung", said="no answer to chat: none within 600 s")
        bench.instead["probes"] = lambda *_: (silent,)
        report = bench.measure()
        assert (report.state, report.exit_code) == ("refused", 3) and "none within 600 s" in report.reason
        assert (bench.root / "logs" / "bench.log").read_text().endswith("refused: no-answer stream\n") and "load" not in bench.went

    def test_of_another_version_costs_no_load(self, bench: Bench) -> None:
        heard = []
        bench.proof = lambda asked, told: heard.extend(told) or Gate(name="image", passed=False)
        assert bench.measure().state == "refused" and "settings" not in bench.went
        assert {(one.kind, one.value, one.engine) for one in heard} == {
            ("version", "0.25.1", "vllm"), ("digest", DIGEST, ""), ("image", "vllm/vllm-openai:v0.25.1", "")}


class TestAPartialRun:
    def test_keeps_what_was_measured_and_marks_it(self, bench: Bench) -> None:
        def dies(asked: Any, server: Any, machine: Any, host: Any, place: Any) -> Any:
            bench.export(place, 1)
            error = ServerDied("the server ended during the load: exit 139")
            error.loaded = Took(counts=Counts(profiled=8, failed=3))  # type: ignore[attr-defined]
            raise error

        bench.instead["load"] = dies
        report = bench.measure()
        assert (report.state, report.exit_code, report.counts.failed) == ("partial", 1, 3)
        assert bench.rows and all(row["flags"] == ["partial-run"] for row in bench.rows) and bench.standing == []

    def test_is_one_whose_server_ended_after_the_load(self, bench: Bench) -> None:
        whole = bench._load

        def last(*given: Any) -> Any:
            bench.server.died = "exit 1"
            return whole(*given)

        bench.instead["load"] = last
        report = bench.measure()
        assert report.state == "partial" and "ended after it was loaded: exit 1" in report.reason and bench.went[-1] == "load"

    def test_is_one_of_which_an_export_was_cut(self, bench: Bench) -> None:
        whole = bench._load

        def cut(*given: Any) -> Any:
            took = whole(*given)
            file = given[4].results / "aiperf" / "profile_runs" / "run_0002" / "profile_export_aiperf.json"
            file.write_text(file.read_text()[:-40])
            return took

        bench.instead["load"] = cut
        report = bench.measure()
        assert report.state == "partial" and report.reason.startswith("aiperf/profile_runs/run_0002/")
        assert {row["value"] for row in bench.rows if row["metric"] == "output_tput"} == {321.0}

    @pytest.mark.parametrize(("put", "why"), [
        (lambda bench, place: bench.export(place, 1, conc=16), "says concurrency 16, and 2 was asked for"),
        (lambda bench, place: None, "nothing was measured")])
    def test_is_one_that_measured_something_else_or_nothing(self, bench: Bench, put: Any, why: str) -> None:
        bench.instead["load"] = lambda *given: put(bench, given[4]) and Took() or Took()
        report = bench.measure()
        assert report.state == "partial" and why in report.reason and report.exit_code == 1

    def test_is_one_that_could_not_stop_what_it_started(self, bench: Bench) -> None:
        bench.stopping = raising(Refusal("docker rm: permission denied"))
        report = bench.measure()
        assert report.state == "partial" and "permission denied" in report.reason and bench.rows

    def test_with_a_fault_of_ours_stops_everything_before_it_says_so(self, bench: Bench) -> None:
        bench.instead["load"] = raising(KeyError("x"))
        with pytest.raises(KeyError):
            bench.measure()
        assert bench.standing == [] and bench.written["state"] == "partial"


class TestASignal:
    @pytest.fixture(autouse=True)
    def heard(self) -> Iterator[None]:
        """Tests that run under nohup ignore a lost terminal, and so would what they start."""
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        yield
        signal.signal(signal.SIGHUP, before)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    @pytest.mark.parametrize("step", STEPS)
    def test_in_any_step_is_told_on_the_disk_before_anything_is_stopped(self, bench: Bench, step: str, number: int) -> None:
        seen = []
        bench.stopping = lambda: seen.append(bench.written["state"])
        bench.instead[step] = lambda *_: os.kill(os.getpid(), number)
        with Signals() as bench.interrupts:
            report = bench.measure()
        assert (report.state, report.reason, report.exit_code) == ("partial", f"stopped by {signal.Signals(number).name}", 1)
        assert seen == (["partial"] if "begin" in bench.went[:-1] else []) and bench.standing == []

    def test_is_told_on_the_disk_before_a_tool_is_waited_for(self, bench: Bench) -> None:
        seen = []

        def slow(*_: Any) -> Any:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except Stopped as stop:
                seen.append(bench.written["state"])
                stop.loaded = Took(counts=Counts(profiled=3))  # type: ignore[attr-defined]
                raise

        bench.instead["load"] = slow
        with Signals() as bench.interrupts:
            assert bench.measure().counts.profiled == 3
        assert seen == ["partial"]

    def test_while_it_stops_breaks_nothing(self, bench: Bench) -> None:
        bench.stopping = lambda: [os.kill(os.getpid(), number) for number in (signal.SIGTERM, signal.SIGINT)]
        bench.instead["load"] = lambda *_: os.kill(os.getpid(), signal.SIGINT)
        with Signals() as bench.interrupts:
            report = bench.measure()
        assert report.reason == "stopped by SIGINT" and bench.standing == [] and (bench.root / "results" / "SHA256SUMS").exists()

    def test_at_the_very_end_makes_it_partial_all_the_same(self, bench: Bench) -> None:
        bench.stopping = lambda: os.kill(os.getpid(), signal.SIGTERM)
        with Signals() as bench.interrupts:
            assert bench.measure().state == "partial"
        assert bench.standing == [] and bench.rows

    def test_leaves_the_handlers_of_before(self) -> None:
        before = signal.getsignal(signal.SIGTERM)
        with pytest.raises(Stopped, match="SIGTERM"), Signals():
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is before


class TestAFullDisk:
    def test_is_told_with_what_lies_there_already(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        bench.instead["load"] = raising(OSError(errno.ENOSPC, "No space left on device", "results/aiperf"))
        report = bench.measure()
        assert report.state == "partial" and "No space left" in report.reason and bench.written["state"] == "partial"

    def test_holds_back_enough_to_tell_the_end(self, bench: Bench) -> None:
        sizes = []
        bench.instead["load"] = lambda *given: sizes.append((given[4].results / ".reserve").stat().st_size) or bench._load(*given)
        bench.measure()
        assert sizes[0] >= 100_000 and not (bench.root / "results" / ".reserve").exists()

    def test_on_which_nothing_more_can_be_written_leaves_the_last_whole_report_and_nothing_standing(
            self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        moved = os.replace

        def full(part: Path, path: Path) -> None:
            if "ready" in bench.went:
                raise OSError(errno.ENOSPC, "No space left on device")
            moved(part, path)

        monkeypatch.setattr(kept.os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            bench.measure()
        assert bench.standing == [] and bench.written["state"] == "running" and bench.written["launched"]
        assert not list((bench.root / "results").glob(".*"))


class TestTheTable:
    def test_names_each_stage_once(self) -> None:
        names = [stage.name for stage in stages.STAGES]
        assert len(set(names)) == len(names)
