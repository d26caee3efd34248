"""A load beside the test server, with the program that stands in for AIPerf: what each fault is told as, and what is kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.bench import load
from bot.bench.watch import ServerDied
from bot.errors import Missing, Refusal, Unreachable
from bot.model.bench import Trace
from bot.results import collect
from tests.bench.load import room
from tests.bench.load.room import Served, bench, order, server


def gates(loaded: load.Loaded) -> dict[str, bool | None]:
    return {gate.name: gate.passed for gate in loaded.gates}


def settings(loaded: load.Loaded) -> dict[str, tuple[Any, str]]:
    return {one.name: (one.effective, one.state) for one in loaded.settings}


WELL = {"stream": True, "lengths": True, "failed-requests": True, "windows": True}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[room.Bench, load.Loaded]:
    one = bench(tmp_path_factory.mktemp("good"))
    with pytest.MonkeyPatch.context() as patch, server() as running:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        made = load.run(order(repeats=2), running, one.machine, one.host, one.place)
        assert os.listdir(tempfile.gettempdir()) == []
        return one, made


class TestAGoodLoad:
    def test_counts_every_request_of_every_repeat(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        _, loaded = ran
        assert (loaded.counts.warmup, loaded.counts.profiled, loaded.counts.failed, loaded.counts.invalid) == (4, 24, 0, 0)
        assert gates(loaded) == WELL
        assert loaded.tools == {"aiperf": "0.13.0"}
        assert loaded.cut == () and loaded.seconds > 0

    def test_says_what_was_asked_and_what_was_sent(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        told = settings(ran[1])
        assert {name: told[name] for name in ("requests", "repeats", "warmup", "concurrency", "output-tokens", "seed")} == {
            "requests": (24, "same"), "repeats": (2, "same"), "warmup": (4, "same"), "concurrency": (2, "same"),
            "output-tokens": (8.0, "same"), "seed": ("42,43", "same")}

    def test_gives_each_repeat_other_prompts(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        first, second = (ran[0].file("inputs.json", repeat).read_bytes() for repeat in (1, 2))
        assert first != second

    def test_packs_the_raw_export(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        assert ran[0].file("profile_export_raw.jsonl.gz").exists() and not ran[0].file("profile_export_raw.jsonl").exists()

    def test_leaves_exports_that_are_read_as_two_repeats(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        results = ran[0].place.results
        files = sorted(path for path in results.rglob("*") if path.is_file())
        made = collect([(path.relative_to(results).as_posix(), path.open("rb")) for path in files], recipe="own")
        rates = [row for row in made.rows if row.metric == "output_tput"]
        assert [(row.repeat, row.n, row.point.concurrency) for row in rates] == [(1, 12, 2), (2, 12, 2)]
        assert (made.accounting[0].total, made.accounting[0].profiled) == (28, 24)

    def test_keeps_the_console(self, ran: tuple[room.Bench, load.Loaded]) -> None:
        log = (ran[0].place.logs / "aiperf.log").read_text()
        assert log.count("Phase profiling (profiling) started") == 2
        assert "SECRET" not in log


class TestFaultsOfTheServer:
    @pytest.mark.parametrize(("fault", "kind", "failing"), [
        ("error-500:4", "status-500", {"failed-requests"}),
        ("no-finish-reason:4", "no-finish-reason", {"stream", "failed-requests"}),
        ("no-usage:4", "no-usage", {"stream", "failed-requests"}),
        ("wrong-length:4", "wrong-length", {"lengths", "failed-requests"}),
        ("half-stream:4", "ClientPayloadError", {"failed-requests"}),
    ])
    def test_are_each_told_by_their_gate(self, fault: str, kind: str, failing: set[str], tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--fault", fault) as running:
            loaded = load.run(order(warmup=0), running, one.machine, one.host, one.place)
        assert loaded.counts.kinds == {kind: 3}
        assert loaded.counts.profiled == 9
        assert gates(loaded) == {name: name not in failing for name in WELL}

    def test_within_the_limit_are_counted_and_pass(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--fault", "error-500:4") as running:
            loaded = load.run(order(warmup=0, failed=0.25), running, one.machine, one.host, one.place)
        assert loaded.counts.failed == 3 and gates(loaded) == WELL

    def test_that_hangs_cost_the_time_of_one_request_each(self, tmp_path: Path) -> None:
        one = bench(tmp_path, request_seconds=0.5)
        with server("--fault", "hang:5") as running:
            loaded = load.run(order(warmup=0), running, one.machine, one.host, one.place)
        assert loaded.counts.kinds == {"timeout": 1} and loaded.counts.profiled == 11

    def test_that_dies_is_told_and_what_was_measured_is_kept(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--fault", "crash:8", "--itl-ms", "20") as running, pytest.raises(ServerDied) as caught:
            load.run(order(requests=40, repeats=3), running, one.machine, one.host, one.place)
        kept = caught.value.loaded  # type: ignore[attr-defined]
        # Whether a request is seen to fail before the server is seen to have ended is a matter of milliseconds.
        assert kept.counts.warmup == 2 and 1 <= kept.counts.profiled < 40
        assert gates(kept)["windows"] is False
        assert one.file("profile_export.jsonl").stat().st_size > 0

    def test_that_is_not_there_leaves_no_result(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with pytest.raises(Refusal, match="AIPerf measured nothing and ended with exit code 1: All [0-9]+ inference") as caught:
            load.run(order(warmup=0), Served("http://127.0.0.1:9"), one.machine, one.host, one.place)
        assert caught.value.loaded.counts.kinds.keys() == {"ClientConnectorError"}  # type: ignore[attr-defined]

    def test_with_more_failures_than_can_be_meant_is_given_up(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--fault", "error-500:1") as running, pytest.raises(Refusal):
            load.run(order(requests=400), running, one.machine, one.host, one.place)
        assert len(one.file("profile_export.jsonl").read_bytes().splitlines()) < 50


class TestOtherEnds:
    def test_a_stop_keeps_what_was_measured(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        path = one.file("profile_export.jsonl")

        class Stopping:
            now = staticmethod(one.host.clock.now)

            def __init__(self) -> None:
                self.stopped = False

            def sleep(self, seconds: float) -> None:
                one.host.clock.sleep(seconds)
                if not self.stopped and path.exists() and path.read_bytes().count(b"\n") > 6:
                    self.stopped = True
                    raise KeyboardInterrupt

        host = room.Host(programs=one.host.programs, web=one.host.web, clock=Stopping(), env=one.host.env)
        with server("--itl-ms", "10") as running, pytest.raises(KeyboardInterrupt) as caught:
            load.run(order(requests=400), running, one.machine, host, one.place)
        kept = caught.value.loaded  # type: ignore[attr-defined]
        assert kept.counts.profiled >= 5 and kept.counts.failed == 0
        assert kept.cut == ("aiperf/profile_runs/run_0001",)
        assert one.summary()["was_cancelled"] is True

    def test_the_time_of_a_load_is_limited(self, tmp_path: Path) -> None:
        one = bench(tmp_path, load_minutes=0.01)
        with server("--itl-ms", "40") as running, pytest.raises(Unreachable, match="longer than 0.01 minutes: raise load-minutes"):
            load.run(order(requests=400), running, one.machine, one.host, one.place)

    def test_without_aiperf_it_says_what_to_install(self, tmp_path: Path) -> None:
        one = bench(tmp_path, aiperf=False)
        with server() as running, pytest.raises(Missing, match="requirements-bench.lock"):
            load.run(order(), running, one.machine, one.host, one.place)

    def test_a_tokenizer_that_is_nowhere_is_named(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        room.model.lay_out(tmp_path / "other", name="acme/other")
        machine = room.Machine(models=str(tmp_path / "other"))
        with server() as running, pytest.raises(Refusal, match="Failed to load tokenizer 'bumpbot/rehearsal'.*Hugging Face cache"):
            load.run(order(), running, machine, one.host, one.place)

    def test_fewer_requests_than_users_are_no_fault(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--ttft-ms", "60") as running:
            loaded = load.run(order(conc=8, requests=3, warmup=0), running, one.machine, one.host, one.place)
        assert gates(loaded) == WELL
        assert settings(loaded)["concurrency"] == (3, "changed")

    def test_an_answer_in_one_piece_is_looked_at_as_well(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with server("--fault", "wrong-length:6") as running:
            loaded = load.run(order(stream=False, warmup=0), running, one.machine, one.host, one.place)
        assert loaded.counts.kinds == {"wrong-length": 2}
        assert gates(loaded) == {**WELL, "lengths": False, "failed-requests": False}


class TestBeforeAServer:
    @pytest.mark.parametrize(("asked", "said"), [
        (Trace(dataset="--config"), "no name that AIPerf may be given"), (Trace(dataset="sharegpt\nx"), "no name that AIPerf may be given"),
        (Trace(dataset="nonsense"), "no public dataset that this AIPerf knows: it knows exgentic"), (Trace(format="mooncake", file="t"),
         "no format of a trace that this AIPerf knows")])
    def test_a_name_that_the_load_generator_would_refuse_is_told(self, tmp_path: Path, asked: Trace, said: str) -> None:
        one = bench(tmp_path)
        (tmp_path / "t").write_text("x")
        asked = msgspec.structs.replace(asked, sha256=hashlib.sha256(b"x").hexdigest() if asked.file else "")
        with pytest.raises(Refusal, match=said):
            load.prepare(order(trace=asked), one.machine, one.host, one.place)

    @pytest.mark.parametrize("name", ["sharegpt", "ShareGPT", "spec-bench"])
    def test_a_name_that_it_knows_is_good_as_its_command_line_reads_it(self, tmp_path: Path, name: str) -> None:
        one = bench(tmp_path)
        assert load.prepare(order(trace=Trace(dataset=name)), one.machine, one.host, one.place) is None
