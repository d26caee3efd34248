"""AIPerf's request export (`profile_export.jsonl`): one line a request, with its phase and its error.

It is the only file that tells warm-up errors from profiling ones. A real run lost 10 of 11 warm-up requests and 1 of
233 measured ones; counted together that reads as an error rate of 4.5 % and would be wrong by a factor of ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Accounting
from bot.results.parsed import UNKNOWN, Context, Parsed, has
from bot.results.read import mapping, number, optional, records, text

FORMAT = "aiperf-records"
PHASES = ("warmup", "profiling")
_TIMES = ("time_to_first_token", "request_latency", "inter_token_latency")


def sniff(head: bytes, name: str) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first[:1] == b"{" and has(first, "metadata", "benchmark_phase")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Requests by phase and end. `total` is every line; one the client itself cancelled is neither kept nor invalid."""
    total = profiled = 0
    invalid = dict.fromkeys(PHASES, 0)
    kinds: dict[str, int] = {}
    conversations: dict[str, bool] = {}
    seen: set[str] = set()
    for line, record in records(stream, name):
        meta = mapping(record.get("metadata"), name, "metadata", line=line)
        phase = _phase(meta, name, line)
        _once(meta, seen, name, line)
        _times(record, meta, name, line)
        total += 1
        failed = _error(record, meta, name, line)
        if failed:
            invalid[phase] += 1
        elif phase == "profiling" and not _dropped(meta):
            profiled += 1
        if phase == "profiling":
            kinds.update({failed: kinds.get(failed, 0) + 1} if failed else {})
            talk = str(meta.get("conversation_id", ""))
            conversations[talk] = conversations.get(talk, False) or bool(failed)
    if not total:
        raise BadInput("no requests", "the load generator wrote nothing", file=name)
    return Parsed(
        accounting=(
            Accounting(
                concurrency=UNKNOWN,
                total=total,
                profiled=profiled,
                warmup_invalid=invalid["warmup"],
                profiling_invalid=invalid["profiling"],
                conversations=len(conversations),
                conversations_invalid=sum(conversations.values()),
                kinds=dict(sorted(kinds.items())),
            ),
        )
    )


def _phase(meta: Mapping[str, Any], name: str, line: int) -> str:
    phase = text(meta.get("benchmark_phase"), name, "metadata.benchmark_phase", line=line)
    if phase not in PHASES:
        raise BadInput(
            f"unknown phase {phase[:40]}",
            f"expected one of {', '.join(PHASES)}",
            file=name,
            line=line,
            key="metadata.benchmark_phase",
        )
    return phase


def _once(meta: Mapping[str, Any], seen: set[str], name: str, line: int) -> None:
    request = meta.get("x_request_id")
    if isinstance(request, str) and request in seen:
        raise BadInput("this request stands twice", "two exports were joined", file=name, line=line, key="metadata.x_request_id")
    seen.update([request] if isinstance(request, str) else [])


def _times(record: Mapping[str, Any], meta: Mapping[str, Any], name: str, line: int) -> None:
    for metric in _TIMES:
        value = optional(record, "metrics", metric, "value")
        if value is not None:
            number(value, name, f"metrics.{metric}.value", line=line)
    start, end = meta.get("request_start_ns"), meta.get("request_end_ns")
    if start is not None and end is not None:
        begun = number(start, name, "metadata.request_start_ns", line=line)
        if number(end, name, "metadata.request_end_ns", line=line) < begun:
            raise BadInput("ends before it starts", "the clock is broken", file=name, line=line, key="metadata.request_end_ns")


def _error(record: Mapping[str, Any], meta: Mapping[str, Any], name: str, line: int) -> str | None:
    """The error's type; None for a request that went well or that the client ended because its time was up."""
    error = record.get("error")
    if error is None or _dropped(meta):
        return None
    if isinstance(error, str):
        return error[:80] or "error"
    return str(mapping(error, name, "error", line=line).get("type") or "error")[:80]


def _dropped(meta: Mapping[str, Any]) -> bool:
    return meta.get("was_cancelled") is True or meta.get("context_overflow_skip") is True
