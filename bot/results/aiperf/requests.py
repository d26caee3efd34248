"""One request of an AIPerf export, read strictly: every fault is refused with its line and key.

The tables say what is read of a line at all; `shapes` reads the same of lines like one that was read here.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.errors import BadInput
from bot.results.read import mapping, number, records, text

PHASES = ("warmup", "profiling")
TIMES = ("time_to_first_token", "inter_token_latency", "request_latency")
TOKENS = ("output_sequence_length", "input_sequence_length")
LATEST_NS = 2**62
"""Moments above are no nanoseconds since 1970: they would lie in the year 2116."""
MOST_MS, MOST_TOKENS = 1e10, 1e12
"""A request of more than a hundred days, or of more tokens than were ever written, has another unit than it says."""
_TO_MS = {"ms": 1.0, "sec": 1000.0, "s": 1000.0, "us": 0.001, "ns": 1e-6}
_TO_TOKENS = {"tokens": 1.0}


class Request(NamedTuple):
    """What is read of one line. Times in milliseconds as the tool writes them; moments in nanoseconds since 1970.

    `failed` is the kind of error, None for a request that went well; `dropped` that the client itself ended it.
    """

    id: str | None
    conversation: str
    phase: str
    start: int | None
    end: int | None
    dropped: bool
    failed: str | None
    ttft: float | None
    itl: float | None
    latency: float | None
    osl: float | None
    isl: float | None

    @property
    def backwards(self) -> bool:
        """Whether it ends before it starts."""
        return self.start is not None and self.end is not None and self.end < self.start


def record_of(line: bytes, name: str) -> dict[str, Any] | None:
    """The object on one line, None where it is blank. As all here it raises BadInput that names file and key, not the line."""
    try:
        return next((record for _, record in records(io.BytesIO(line), name)), None)
    except BadInput as error:
        raise BadInput(bare(error), error.hint, file=name, key=error.key) from None


def bare(error: BadInput) -> str:
    """The reason alone, for a fault that is told again with another place."""
    place = ":".join(str(part) for part in (error.file, error.line) if part not in ("", None))
    where = " ".join(part for part in (place and f"{place}:", error.key and f"{error.key}:") if part)
    return error.reason.removeprefix(where).strip()


def request_of(record: Mapping[str, Any], name: str) -> Request:
    """The request of a record. A metric may be absent (a server that does not stream has no first token)."""
    meta = mapping(record.get("metadata"), name, "metadata")
    phase = text(meta.get("benchmark_phase"), name, "metadata.benchmark_phase")
    if phase not in PHASES:
        raise BadInput(f"unknown phase {phase[:40]}", f"expected one of {', '.join(PHASES)}", file=name,
                       key="metadata.benchmark_phase")
    start, end = (_moment(meta, field, name) for field in ("request_start_ns", "request_end_ns"))
    if start is not None and end is not None and end < start:
        raise BadInput("ends before it starts", "the clock is broken", file=name, key="metadata.request_end_ns")
    found = meta.get("x_request_id")
    dropped = meta.get("was_cancelled") is True or meta.get("context_overflow_skip") is True
    return Request(
        found if isinstance(found, str) else None,
        str(meta.get("conversation_id", "")),
        phase, start, end, dropped,
        None if dropped else _error(record, name),
        *(_value(record, metric, _TO_MS, MOST_MS, name) for metric in TIMES),
        *(_value(record, metric, _TO_TOKENS, MOST_TOKENS, name) for metric in TOKENS),
    )


def _moment(meta: Mapping[str, Any], field: str, name: str) -> int | None:
    """Whole nanoseconds; a float would be off by hundreds of them."""
    value = meta.get(field)
    if value is None:
        return None
    number(value, name, f"metadata.{field}", most=LATEST_NS)
    return int(value)


def _value(record: Mapping[str, Any], metric: str, units: Mapping[str, float], most: float, name: str) -> float | None:
    metrics = record.get("metrics")
    told = None if metrics is None else mapping(metrics, name, "metrics").get(metric)
    if told is None:
        return None
    key = f"metrics.{metric}"
    told = mapping(told, name, key)
    value = number(told.get("value"), name, f"{key}.value")
    unit = text(told.get("unit"), name, f"{key}.unit")
    if unit not in units:
        raise BadInput(f"unit {unit[:40]} is not {' or '.join(units)}", "another tool or version wrote this", file=name,
                       key=f"{key}.unit")
    return number(value, name, f"{key}.value", most=most / units[unit]) * units[unit]


def _error(record: Mapping[str, Any], name: str) -> str | None:
    error = record.get("error")
    if error is None:
        return None
    if isinstance(error, str):
        return error[:80] or "error"
    return str(mapping(error, name, "error").get("type") or "error")[:80]
