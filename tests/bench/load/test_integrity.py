"""Whether an answer is whole, request by request, as AIPerf's raw export has them; and how many ran at once."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any, BinaryIO, cast

import pytest

from bot.bench.integrity import Tally, failure, flight, records, tally
from bot.model.bench import Counts
from tests.bench.load.room import recorded

SECOND = 1_000_000_000
USAGE = {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


WORDS = [chunk(content="a"), chunk(content=" b"), chunk(content=" c"), chunk("length", content=" d")]
WHOLE: list[Any] = [*WORDS, {"choices": [], "usage": USAGE}, "[DONE]"]


def line(events: list[Any] | None = None, *, text: str | None = None, status: int | None = 200, error: Any = None, start: float = 0,
         end: float = 1, phase: str = "profiling", payload: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    responses: list[dict[str, Any]] = [
        {"perf_ns": at, "packets": [{"name": "data", "value": one if isinstance(one, str) else json.dumps(one)}]}
        for at, one in enumerate(events or ())]
    if text is not None:
        responses = [{"perf_ns": 0, "text": text, "content_type": "application/json"}]
    made: dict[str, Any] = {
        "metadata": {"benchmark_phase": phase, "request_start_ns": int(start * SECOND), "request_end_ns": int(end * SECOND),
                     "was_cancelled": False} | meta,
        "start_perf_ns": 1, "responses": responses,
        "payload": {"stream": text is None, "max_completion_tokens": 4, "ignore_eos": True} if payload is None else payload}
    return made | ({"status": status} if status is not None else {}) | ({"error": error} if error is not None else {})


def counted(*lines: dict[str, Any], output: int | None = 4) -> Tally:
    return tally(records(io.BytesIO(b"".join(json.dumps(one).encode() + b"\n" for one in lines))), output)


def kinds(*lines: dict[str, Any], output: int | None = 4) -> dict[str, int]:
    return counted(*lines, output=output).counts.kinds


class TestAnAnswer:
    def test_with_words_a_reason_usage_and_an_end_is_good(self) -> None:
        assert counted(line(WHOLE)).counts == Counts(profiled=1)

    @pytest.mark.parametrize(("events", "kind"), [
        ([*WORDS[:3], {"choices": [], "usage": USAGE}, "[DONE]"], "no-finish-reason"),
        ([*WORDS, "[DONE]"], "no-usage"),
        ([*WORDS, {"choices": [], "usage": None}, "[DONE]"], "no-usage"),
        (WHOLE[:-1], "no-done"),
        (WORDS[:2], "no-finish-reason"),
        ([], "no-finish-reason"),
        ([WORDS[0], {"error": {"message": "the engine died", "code": 500}}, "[DONE]"], "error-in-answer"),
        ([WORDS[0], {"object": "error", "message": "too long"}, *WHOLE[1:]], "error-in-answer"),
        ([*WORDS[:3], chunk("abort"), {"choices": [], "usage": USAGE}, "[DONE]"], "finish-abort"),
        ([WORDS[0], '{"choices": [{"delta": {"cont', *WHOLE[1:]], "not-json"),
        ([*WORDS, {"choices": [], "usage": USAGE | {"completion_tokens": 8.5}}, "[DONE]"], "odd-usage"),
        ([*WORDS, {"choices": [], "usage": USAGE | {"prompt_tokens": "20"}}, "[DONE]"], "odd-usage"),
        ([WORDS[0], {"choices": "none"}, *WHOLE[1:]], "odd-answer"),
        ([WORDS[0], "[1]", *WHOLE[1:]], "odd-answer"),
        ([chunk("length"), {"choices": [], "usage": USAGE}, "[DONE]"], "no-content"),
        ([*WORDS, {"choices": [], "usage": USAGE | {"completion_tokens": 3}}, "[DONE]"], "wrong-length"),
        ([*WORDS[:3], chunk("stop", content=" d"), {"choices": [], "usage": USAGE}, "[DONE]"], "ended-early"),
    ])
    def test_of_status_200_that_lacks_something_is_invalid(self, events: list[Any], kind: str) -> None:
        made = counted(line(events))
        assert made.counts == Counts(invalid=1, kinds={kind: 1})
        assert made.lengths == (kind in ("wrong-length", "ended-early"))

    @pytest.mark.parametrize("delta", [{"content": "x"}, {"reasoning_content": "x"}, {"reasoning": "x"}, {"tool_calls": [{"index": 0}]}])
    def test_says_something_by_thinking_or_by_calling_a_tool_too(self, delta: dict[str, Any]) -> None:
        assert kinds(line([chunk(**delta), chunk("length"), {"choices": [], "usage": USAGE}, "[DONE]"])) == {}

    def test_may_end_as_the_model_likes_where_no_length_is_fixed(self) -> None:
        events = [*WORDS[:3], chunk("stop"), {"choices": [], "usage": USAGE | {"completion_tokens": 3}}, "[DONE]"]
        assert kinds(line(events, payload={"stream": True}), output=None) == {}
        assert kinds(line(events, payload={"stream": True, "max_completion_tokens": 900}), output=None) == {}

    def test_has_the_length_that_its_own_request_fixed(self) -> None:
        asked = {"stream": True, "max_completion_tokens": 5, "ignore_eos": True}
        assert kinds(line(WHOLE, payload=asked)) == {"wrong-length": 1}
        assert kinds(line(WHOLE, payload=asked | {"max_completion_tokens": 4}), output=900) == {}

    def test_in_one_piece_is_looked_at_in_the_same_way(self) -> None:
        whole: dict[str, Any] = {"choices": [{"index": 0, "finish_reason": "length", "message": {"content": "a b c d"}}], "usage": USAGE}
        cut = {**whole, "choices": [{**whole["choices"][0], "finish_reason": None}]}
        assert [kinds(line(text=json.dumps(one))) for one in (whole, cut, {**whole, "usage": None}, {"error": "x"})] == [
            {}, {"no-finish-reason": 1}, {"no-usage": 1}, {"error-in-answer": 1}]
        assert kinds(line(text="<html>")) == {"not-json": 1}

    def test_of_an_event_named_error_is_an_error(self) -> None:
        one = line(WHOLE)
        one["responses"].insert(1, {"perf_ns": 1, "packets": [{"name": "event", "value": "error"}, {"name": "data", "value": "{}"}]})
        assert kinds(one) == {"error-in-answer": 1}


class TestARequest:
    @pytest.mark.parametrize(("error", "status", "kind"), [
        ({"code": 503, "type": "Service Unavailable", "message": "m"}, 503, "status-503"),
        ({"type": "TimeoutError", "message": "TimeoutError()"}, None, "timeout"),
        ({"type": "ClientConnectorError"}, None, "ClientConnectorError"),
        ({"type": "ClientPayloadError"}, 200, "ClientPayloadError"),
        (None, 404, "status-404"),
        (None, None, "no-answer"),
        ({"type": "Bad @everyone | \u202e word"}, None, "Bad-everyone-word"),
    ])
    def test_that_failed_is_told_by_a_plain_word(self, error: Any, status: int | None, kind: str) -> None:
        assert failure(error, status) == kind
        assert counted(line(error=error, status=status)).counts == Counts(failed=1, kinds={kind: 1})

    def test_of_the_warm_up_is_no_measured_one(self) -> None:
        made = counted(line(WHOLE, phase="warmup"), line([], phase="warmup"), line(WHOLE))
        assert made.counts == Counts(warmup=2, profiled=1)
        assert made.warmup == {"good": 1, "invalid": 1}

    def test_that_the_client_ended_is_neither_good_nor_failed(self) -> None:
        made = counted(line([], was_cancelled=True, error={"type": "CancelledError"}), line(WHOLE, context_overflow_skip=True))
        assert made.counts == Counts(cancelled=2) and made.measured == 0

    def test_whose_line_was_cut_off_cannot_be_called_good(self) -> None:
        whole = json.dumps(line(WHOLE)).encode()
        made = tally(records(io.BytesIO(whole + b"\n\n" + whole[:90])), 4)
        assert made.counts == Counts(profiled=1, invalid=1, kinds={"unreadable": 1})


class TestManyRequests:
    def test_are_read_one_at_a_time(self) -> None:
        one = json.dumps(line([*WORDS * 50, *WHOLE])).encode() + b"\n"

        class Endless:
            def __init__(self) -> None:
                self.left = 60

            def readline(self, limit: int) -> bytes:
                self.left -= 1
                return one if self.left >= 0 else b""

        tracemalloc.start()
        made = tally(records(cast(BinaryIO, Endless())), 4)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert made.counts.profiled == 60
        assert peak < 20 * len(one) < 60 * len(one)

    def test_in_flight_are_counted_from_their_moments(self) -> None:
        made = flight(counted(line(WHOLE, start=0, end=2), line(WHOLE, start=0, end=4), line(WHOLE, start=2, end=5), line(
            WHOLE, start=4, end=6)))
        assert (made.peak, made.mean, made.seconds) == (2, 2.0, 6.0)

    def test_one_after_the_other_are_one_at_once(self) -> None:
        made = flight(counted(*(line(WHOLE, start=at, end=at + 0.5) for at in range(8))))
        assert (made.peak, made.mean) == (1, 0.5)

    def test_none_are_none(self) -> None:
        assert flight(counted()).peak == 0


class TestRecordedExports:
    """What the real AIPerf wrote beside the test server with planted faults."""

    def test_of_a_good_run_are_whole(self) -> None:
        made = recorded("whole")
        assert made.counts == Counts(warmup=2, profiled=6) and flight(made).peak == 2

    def test_show_each_planted_fault(self) -> None:
        made = recorded("faults").counts
        assert made.kinds == {"no-finish-reason": 2, "no-usage": 3, "status-500": 2}
        assert (made.failed, made.invalid, made.profiled) == (2, 5, 5)

    def test_of_answers_in_one_piece_show_theirs(self) -> None:
        assert recorded("plain").counts.kinds == {"status-500": 1, "wrong-length": 2}

    def test_of_a_run_that_was_stopped_are_what_had_ended(self) -> None:
        made = recorded("stopped").counts
        assert made.profiled == 4 and made.failed == made.invalid == 0
