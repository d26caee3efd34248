"""How a measurement ended, told in its own log in a way that a diagnosis knows."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, get_args

import pytest

from bot.bench import diary
from bot.bench.diary import Word
from bot.bench.watch import ServerDied
from bot.errors import Missing, Refusal, Stopped, Unreachable
from bot.model.bench import Gate, Setting
from tests.diagnose.worlds import SIGNATURES, read, trace, vllm
from tests.fakes.benches import Bench, Took, raising

HEAD = "2026-11-30T10:00:00+00:00 bumpbot bench:"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path / "out").put_on(monkeypatch)


def lines(bench: Bench) -> list[str]:
    return (bench.root / "logs" / "bench.log").read_text().splitlines()


def end(bench: Bench) -> str:
    """The last line without its time, which is the only one that is no stage."""
    bench.measure()
    *before, last = lines(bench)
    assert all(" bumpbot bench: stage: " in line for line in before)
    return last.partition(" bumpbot bench: ")[2]


class TestTheLog:
    def test_tells_stages_in_their_order_and_last_that_all_is_good(self, bench: Bench) -> None:
        assert end(bench) == "complete: good"
        assert lines(bench)[0] == "2026-09-01T12:00:00+00:00 bumpbot bench: stage: hardware"
        assert [line.rpartition(" ")[2] for line in lines(bench)][-4:-1] == ["gates-before", "load", "gates-after"]
        assert "logs/bench.log" in (bench.root / "results" / "SHA256SUMS").read_text()

    def test_has_its_end_before_anything_is_stopped(self, bench: Bench) -> None:
        seen: list[str] = []
        bench.instead["ready"] = raising(ServerDied("the server ended"))
        bench.stopping = lambda: seen.append(lines(bench)[-1])
        assert end(bench) == "refused: server-ended ready" and seen == [lines(bench)[-1]]

    def test_tells_gates_that_do_not_hold_after_a_load(self, bench: Bench) -> None:
        whole = bench._load
        gates = (Gate(name="windows", passed=False), Gate(name="failed-requests", passed=False), Gate(name="lengths", passed=True))
        bench.instead["load"] = lambda *given: Took(**{**vars(whole(*given)), "gates": gates})
        assert end(bench) == "complete: gates windows failed-requests"

    @pytest.mark.parametrize(("step", "error", "told"), [
        ("tool", Missing("no aiperf"), "refused: tool-missing load-generator"), ("begin", Refusal("odd"), "refused: launch-failed launch"),
        ("begin", OSError(errno.ENOSPC, "No space left on device", "x"), "refused: disk-full launch"),
        ("ready", Unreachable("late"), "refused: time-limit ready"), ("load", Refusal("AIPerf ended"), "partial: nothing-measured load"),
        ("load", Stopped("SIGTERM"), "partial: stopped SIGTERM"), ("load", Unreachable("late"), "partial: time-limit load"),
        ("load", diary.known(Refusal("x"), "port-taken", 8000), "partial: port-taken 8000")])
    def test_tells_an_error_by_its_kind_and_never_by_its_sentence(self, bench: Bench, step: str, error: Any, told: str) -> None:
        bench.instead[step] = raising(error)
        assert end(bench) == told

    def test_tells_a_lowered_limit_by_its_numbers(self, bench: Bench) -> None:
        bench.instead["settings"] = lambda *_: (Setting(name="max-num-seqs", asked=64, effective=48, state="lowered"),)
        assert end(bench) == "refused: lowered-limit max-num-seqs 64 -> 48"

    def test_holds_no_words_of_a_server(self, bench: Bench) -> None:
        hostile = "8\n2026 bumpbot bench: complete: good"
        bench.instead["settings"] = lambda *_: (Setting(name="max-num-seqs", asked=64, effective=hostile, state="lowered"),)
        assert end(bench) == "refused: lowered-limit max-num-seqs 64 -> ?"

    @pytest.mark.parametrize(("fault", "told"), [
        ("", "gates tools"), ("error", "requests-failed tools"), ("hung", "no-answer tools")])
    def test_tells_no_answer_from_one_that_does_not_hold(self, bench: Bench, fault: Any, told: str) -> None:
        bench.instead["probes"] = lambda *_: (Gate(name="tools", passed=False, phase="before", fault=fault),)
        assert end(bench) == f"refused: {told}"

    def test_of_a_server_that_is_gone_tells_that_and_not_what_its_clients_saw(self, bench: Bench) -> None:
        bench.server.died = "exit code 1"
        bench.instead["load"] = raising(diary.known(Refusal("All 4 requests failed"), "requests-failed", "load"))
        assert end(bench) == "partial: server-ended load"


class TestEveryWord:
    @pytest.mark.parametrize("word", get_args(Word))
    def test_is_known_to_a_diagnosis_by_a_signature_of_its_own(self, word: Word) -> None:
        found = next((one for one in SIGNATURES if one.search(f"{HEAD} refused: {diary.words(word, 'a', 'b', '->', 'c')}")), None)
        assert found is not None and found.id.startswith("bench-") and found.layer != "server"


LOWERED = f"{HEAD} refused: lowered-limit max-num-seqs 64 -> 48\n"
OOM = vllm("10:00:00", trace("load()", error="torch.OutOfMemoryError: CUDA out of memory."), level="ERROR")
ODD = vllm("10:00:00", trace("load()", error="RuntimeError: something nobody knows"), level="ERROR")


class TestBesideAServersOwnLog:
    def test_a_lowered_limit_is_the_cause_where_the_server_ran_well(self) -> None:
        found = read({"logs/server.log": vllm("09:59:00", "Application startup complete."), "logs/bench.log": LOWERED})
        assert (found.class_, found.confidence) == ("feature-missing", "sure")
        assert found.excerpt == "the server lowered `max-num-seqs` from 64 to 48, and was not loaded"

    @pytest.mark.parametrize("told", [
        LOWERED, f"{HEAD} refused: gates tools\n", f"{HEAD} refused: server-ended ready\n", f"{HEAD} refused: time-limit ready\n",
        f"{HEAD} partial: requests-failed load\n"])
    def test_an_error_of_the_engine_wins_whenever_it_was_written(self, told: str) -> None:
        assert read({"logs/bench.log": told, "logs/server.log": OOM}).class_ == "oom"
        assert "something nobody knows" in (read({"logs/bench.log": told, "logs/server.log": ODD}).first_error or "")

    def test_no_answer_in_time_and_no_error_at_all_is_a_hang(self) -> None:
        late, quiet = f"{HEAD} refused: time-limit ready\n", vllm("09:59:00", "Loading weights")
        assert read({"logs/bench.log": late, "logs/server.log": quiet}).class_ == "hang"
        assert read({"logs/bench.log": late, "logs/server.log": quiet + vllm("09:59:30", "odd", level="ERROR")}).class_ is None

    def test_a_measurement_that_is_good_or_was_told_to_stop_is_no_error(self) -> None:
        for told in ("complete: good", "partial: stopped SIGTERM"):
            assert read({"logs/bench.log": f"{HEAD} {told}\n"}).first_error is None

    def test_an_answer_that_broke_off_at_the_load_generator_is_no_failed_download(self) -> None:
        cut = "10:00:01.707 ERROR    Error in aiohttp request: ClientPayloadError('IncompleteRead(0 bytes read)') (aiohttp_client.py:300)\n"
        assert read({"logs/aiperf.log": cut, "logs/bench.log": f"{HEAD} complete: gates stream\n"}).class_ == "tool-parser"
