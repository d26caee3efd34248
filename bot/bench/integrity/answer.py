"""Whether one answer is whole: a status of 200 says only that it began.

Of a campaign's requests some ended with status 200 and no finish reason when their server was killed, and were counted as
good. So every answer must have its finish reason and its usage, a stream its `[DONE]`, and where the workload fixes the length
exactly that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from bot.bench.integrity.raw import Payload, Record

DONE = "[DONE]"
GIVEN_UP = frozenset({"abort", "aborted", "cancelled", "error"})
"""Finish reasons of engines for an answer that they gave up."""
LENGTHS = ("wrong-length", "ended-early")
_WORD = re.compile(r"[^A-Za-z0-9_.-]+")
_TIMEOUTS = frozenset({"TimeoutError", "SocketTimeoutError", "ServerTimeoutError", "ConnectionTimeoutError"})


class _Choice(Struct, frozen=True, gc=False):
    finish_reason: str | None = None
    delta: dict[str, Any] | None = None
    message: dict[str, Any] | None = None
    text: str | None = None


class _Usage(Struct, frozen=True, gc=False):
    completion_tokens: int | None = None
    prompt_tokens: int | None = None


class _Part(Struct, frozen=True, gc=False):
    choices: tuple[_Choice, ...] | None = None
    usage: _Usage | None = None
    error: Any = None
    object: Any = None


class Judged(NamedTuple):
    """One request: `state` failed (no answer or an error), invalid (200 and not whole), cancelled (by the client) or good;
    `kind` a word for what was wrong first, `length` whether it had another length than the workload fixes."""

    state: str
    kind: str = ""
    length: bool = False
    prompt: int | None = None
    made: int | None = None


class _Seen(Struct):
    finish: str | None = None
    usage: _Usage | None = None
    content: bool = False
    error: bool = False
    broken: bool = False
    odd: str = ""
    done: bool = False


_decode = msgspec.json.Decoder(_Part).decode


def judged(record: Record, output: int | None) -> Judged:
    """One request and its answer. `output` is the exact length that the workload fixes, None where it fixes none; what the
    request itself fixed (a trace has lengths of its own) goes before it."""
    if record.metadata.was_cancelled or record.metadata.context_overflow_skip:
        return Judged("cancelled", "cancelled" if record.metadata.was_cancelled else "context-overflow")
    if record.error is not None or record.status is None or not 200 <= record.status < 300:
        return Judged("failed", failure(record.error, record.status))
    payload = record.payload or Payload()
    seen = _seen(record)
    exact = output if payload.exact is None else payload.exact
    usage = seen.usage or _Usage()
    length = _length(seen, usage, exact)
    kind = next((word for word, holds in _faults(seen, usage, payload) if holds), "") or length
    return Judged("invalid" if kind else "good", kind, bool(length), usage.prompt_tokens, usage.completion_tokens)


def failure(error: Any, status: int | None) -> str:
    """A short word for an error as AIPerf records it: `status-500`, `timeout`, else the name of its type."""
    told: Mapping[str, Any] = error if isinstance(error, dict) else {}
    code = told.get("code")
    if isinstance(code, int) and not isinstance(code, bool) and code:
        return f"status-{code}"
    if status is not None and not 200 <= status < 300:
        return f"status-{status}"
    kind = told.get("type") if isinstance(told.get("type"), str) else error if isinstance(error, str) else ""
    return "timeout" if kind in _TIMEOUTS else _WORD.sub("-", str(kind))[:80].strip("-") or "no-answer"


def _faults(seen: _Seen, usage: _Usage, payload: Payload) -> tuple[tuple[str, bool], ...]:
    """What may be wrong with an answer of status 200, the cause before what follows from it."""
    return (
        ("error-in-answer", seen.error),
        ("not-json", seen.broken),
        (seen.odd, bool(seen.odd)),
        (f"finish-{seen.finish}", seen.finish in GIVEN_UP),
        ("no-finish-reason", not seen.finish),
        ("no-done", not seen.done and payload.stream is not False),
        ("no-usage", usage.completion_tokens is None),
        ("no-content", not seen.content and usage.completion_tokens != 0),
    )


def _length(seen: _Seen, usage: _Usage, exact: int | None) -> str:
    """Which rule of an exact length is broken; what an answer does not tell at all is told by its other faults."""
    if exact is None:
        return ""
    if usage.completion_tokens is not None and usage.completion_tokens != exact:
        return "wrong-length"
    return "ended-early" if seen.finish and seen.finish not in GIVEN_UP and seen.finish != "length" else ""


def _seen(record: Record) -> _Seen:
    seen = _Seen()
    for text, event in _texts(record):
        if text == DONE:
            seen.done = True
            continue
        seen.error = seen.error or event == "error"
        try:
            part = _decode(text)
        except msgspec.ValidationError as error:  # JSON, and not as it has to be
            seen.odd = "odd-usage" if "$.usage" in str(error) else "odd-answer"
            continue
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            seen.broken = True
            continue
        seen.error = seen.error or part.error is not None or part.object == "error"
        seen.usage = part.usage or seen.usage
        for choice in part.choices or ():
            seen.finish = choice.finish_reason or seen.finish
            seen.content = seen.content or bool(choice.text) or _says(choice.delta) or _says(choice.message)
    if record.payload is None or record.payload.stream is None:  # what was asked is not recorded: what came tells
        seen.done = seen.done or not any(response.packets for response in record.responses)
    return seen


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    """The body or each event's data, with the event's name."""
    for response in record.responses:
        if response.text is not None:
            yield response.text, ""
        event = next((packet.value or "" for packet in response.packets or () if packet.name == "event"), "")
        data = [packet.value or "" for packet in response.packets or () if packet.name == "data"]
        if data:
            yield "\n".join(data).strip(), event
        elif event:
            yield "{}", event


def _says(message: Mapping[str, Any] | None) -> bool:
    """Whether something was said: what a model thinks is made of tokens as what it answers, and a tool call too."""
    told = message or {}
    return any(told.get(key) for key in ("content", "reasoning_content", "reasoning", "tool_calls", "function_call", "refusal"))
