"""What was asked of a load against what its requests say: gates at their limits, and windows that were smaller."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bot.bench.integrity import Tally, tally
from bot.bench.integrity.raw import Metadata, Packet, Payload, Record, Response
from bot.bench.load import windows
from bot.bench.load.exports import Info, Summary
from bot.bench.load.repeat import Ran
from bot.model.bench import Counts, Gate, Setting
from tests.bench.load.room import order

SECOND = 1_000_000_000


def requests(count: int, *, at_once: int = 2, prompt: int = 24, phase: str = "profiling", first: int = 0) -> list[Record | None]:
    """So many good requests of a second each, in waves."""
    said = ('{"choices": [{"delta": {"content": "a"}, "finish_reason": "length"}], "usage": {"completion_tokens": 8, '
            f'"prompt_tokens": {prompt}}}}}')
    return [Record(metadata=Metadata(benchmark_phase=phase, request_start_ns=(first + at // at_once) * SECOND,
                                     request_end_ns=(first + at // at_once + 1) * SECOND), status=200,
                   payload=Payload(stream=True), responses=tuple(
                       Response(packets=(Packet(name="data", value=value),)) for value in (said, "[DONE]")))
            for at in range(count)]


def ran(*records: Record | None, number: int = 1, code: int | None = 0, **summary: Any) -> Ran:
    made: Tally = tally(records, None)
    return Ran(number=number, tally=made, code=code, summary=Summary(aiperf_version="0.13.0", is_complete=True, run_info=Info(
        random_seed=41 + number), **summary))


def gate(name: str, counts: Counts = Counts(), *repeats: Ran, failed: float = 0.1, conc: int = 2, **load: Any) -> Gate | None:
    asked = order(conc, failed=failed, **load)
    assert asked.load is not None
    return next((one for one in windows.gates(asked, asked.load, repeats, counts) if one.name == name), None)


def setting(name: str, *repeats: Ran, conc: int = 2, **load: Any) -> Setting | None:
    asked = order(conc, **load)
    assert asked.load is not None
    return next((one for one in windows.settings(asked, asked.load, repeats) if one.name == name), None)


class TestTheShareOfFailedRequests:
    @pytest.mark.parametrize(("failed", "invalid", "good", "limit", "passed"), [
        (1, 0, 9, 0.1, True), (2, 0, 9, 0.1, False), (0, 1, 9, 0.1, True), (1, 1, 8, 0.1, False), (29, 0, 71, 0.29, True),
        (7, 0, 93, 0.07, True), (57, 0, 943, 0.057, True), (58, 0, 942, 0.057, False), (0, 0, 5, 0, True), (1, 0, 5, 0, False),
        (10, 0, 0, 1, True), (0, 0, 0, 1, False)])
    def test_holds_at_exactly_its_limit(self, failed: int, invalid: int, good: int, limit: float, passed: bool) -> None:
        told = gate("failed-requests", Counts(failed=failed, invalid=invalid, profiled=good), failed=limit)
        assert told is not None and told.passed is passed

    def test_leaves_out_what_the_client_ended(self) -> None:
        told = gate("failed-requests", Counts(failed=1, profiled=9, cancelled=50))
        assert told is not None and told.passed


class TestStreamAndLengths:
    def test_one_broken_answer_is_too_many(self) -> None:
        told = gate("stream", Counts(profiled=999, invalid=1, kinds={"no-usage": 1}), failed=0.5)
        assert told == Gate(name="stream", passed=False, said="1 of 1000 answers are not whole: no-usage 1")

    def test_an_answer_of_another_length_is_none_of_the_stream(self) -> None:
        told = gate("stream", Counts(profiled=9, invalid=1, kinds={"wrong-length": 1}))
        assert told is not None and told.passed

    def test_no_answer_tells_nothing(self) -> None:
        for name in ("stream", "lengths"):
            told = gate(name, Counts(failed=3))
            assert told is not None and told.passed is None

    def test_lengths_are_no_gate_where_none_is_fixed(self) -> None:
        assert gate("lengths", Counts(profiled=3), output=None) is None


class TestWindows:
    def test_as_large_as_asked_pass(self) -> None:
        told = gate("windows", Counts(), ran(*requests(12)))
        assert told is not None and told.passed

    @pytest.mark.parametrize(("repeats", "load", "why"), [
        ((ran(*requests(11)),), {}, "repeat 1 has 11 of 12 requests"),
        ((ran(*requests(12)),), {"repeats": 2}, "1 of 2 repeats were begun"),
        ((ran(*requests(12), was_cancelled=True),), {}, "repeat 1 was ended early"),
        ((ran(*requests(12), code=1),), {}, "repeat 1 was ended early"),
        ((ran(*requests(12, at_once=1)),), {}, "repeat 1 had 1 requests in flight at most, never 2"),
        ((ran(*requests(12)), ran(*requests(12, at_once=1), number=2)), {"repeats": 2}, "repeat 2 had 1 requests in flight"),
        ((ran(),), {}, "repeat 1 has 0 of 12 requests"),
    ])
    def test_smaller_ones_say_which(self, repeats: tuple[Ran, ...], load: dict[str, Any], why: str) -> None:
        told = gate("windows", Counts(), *repeats, **load)
        assert told is not None and told.passed is False and told.said.startswith(why)

    def test_of_few_requests_need_all_of_them_at_once(self) -> None:
        few = requests(3, at_once=3)
        told, less = (gate("windows", Counts(), ran(*made), conc=8, requests=3) for made in (few, requests(3)))
        assert told is not None and told.passed
        assert less is not None and less.said == "repeat 1 had 2 requests in flight at most, never 3"

    def test_of_one_user_are_filled_by_one(self) -> None:
        told = gate("windows", Counts(), ran(*requests(8, at_once=1)), conc=1, requests=8)
        assert told is not None and told.passed


class TestSettings:
    def test_tell_a_warm_up_that_was_not_done(self) -> None:
        warm = requests(1, phase="warmup")
        told = setting("warmup", ran(*warm, *requests(12, first=2)))
        assert told is not None and (told.asked, told.effective, told.state) == (2, 1, "lowered")

    @pytest.mark.parametrize(("prompt", "state"), [(1000, "same"), (880, "lowered"), (1150, "same"), (1300, "changed")])
    def test_tell_prompts_of_another_length(self, prompt: int, state: str) -> None:
        told = setting("input-tokens", ran(*requests(12, prompt=prompt)), input=1000)
        assert told is not None and (told.asked, told.effective, told.state) == (1000, prompt, state)

    def test_tell_the_length_that_is_used_where_none_is_named(self) -> None:
        told = setting("input", ran(*requests(12)), input=None)
        assert told is not None and (told.asked, told.effective) == (None, 1024)
        assert setting("input", ran(*requests(12))) is None

    def test_tell_how_full_the_windows_were(self) -> None:
        told = setting("concurrency-mean", ran(*requests(12)))
        assert told is not None and (told.effective, told.state) == (2.0, "same")
        assert setting("concurrency-mean", ran(*requests(3)), requests=3) is None

    def test_tell_the_seed_that_the_tool_says_it_used(self) -> None:
        told = setting("seed", msgspec.structs.replace(ran(*requests(12)), summary=Summary(run_info=Info(random_seed=7))))
        assert told is not None and (told.asked, told.effective, told.state) == ("42", "7", "changed")
