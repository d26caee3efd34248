"""Lines like one that was read strictly, read quickly: a decoder that names the keys that are read.

A quick decoder takes the last of two equal keys and says nothing. So lines count as read only if together they have as many
quotation marks as that line has times their number (a key told twice adds two at least), every key of its metadata and of
the metrics that are read, and each of these metrics once. A fault alone is always seen so; keys told twice would have to
weigh, in one block, exactly as much as a metric that nobody reads and that another line lacks. What is skipped is checked
as JSON except for what changes no number: in a value that nobody reads, a number that no double holds, one of more than
300 digits, and nesting beyond 60 levels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from bot.results.aiperf.requests import LATEST_NS, MOST_MS, MOST_TOKENS, TIMES, TOKENS

_Moment = Annotated[int, Meta(ge=0, le=LATEST_NS)]
_made: list[Any] = []
"""The metrics that the decoder made of the lines at hand; a second one of the same key replaces the first, but is here."""


class _Time(Struct, gc=False, forbid_unknown_fields=True):
    value: Annotated[float, Meta(ge=0, le=MOST_MS)]
    unit: Literal["ms"]
    __post_init__ = _made.append


class _Tokens(Struct, gc=False, forbid_unknown_fields=True):
    value: Annotated[int, Meta(ge=0, le=int(MOST_TOKENS))]
    unit: Literal["tokens"]
    __post_init__ = _made.append


class _Never(Struct, gc=False, forbid_unknown_fields=True):
    """What no line has."""

    never: Literal["never"]


class _Absent(Struct, gc=False, frozen=True):
    value: None = None


_META: dict[str, Any] = {
    "x_request_id": str, "conversation_id": str, "benchmark_phase": Literal["warmup", "profiling"],
    "request_start_ns": _Moment, "request_end_ns": _Moment, "was_cancelled": bool, "context_overflow_skip": bool,
}
_METRICS: dict[str, Any] = {**dict.fromkeys(TIMES, _Time), **dict.fromkeys(TOKENS, _Tokens)}
_ODD = re.compile(r"`\$\[(?P<index>\d+)\]")
_OPEN, _CLOSE = b"{}"
_KINDS: dict[type, Any] = {str: str, bool: bool, int: int, float: float, type(None): None}
_NO_META: dict[str, Any] = {"x_request_id": None, "conversation_id": "", "request_start_ns": None, "request_end_ns": None,
                            "was_cancelled": False, "context_overflow_skip": False}
_NO_METRICS = dict.fromkeys(_METRICS, _Absent())


class Shape:
    """The keys of one line as a decoder of others."""

    def __init__(self, record: Mapping[str, Any], line: bytes) -> None:
        metadata, metrics = record["metadata"], record.get("metrics")
        if not isinstance(metrics, dict):
            raise _Strange
        others = {key: _kind(value) for key, value in record.items() if key not in ("metadata", "metrics")}
        read = {key: kind for key, kind in _METRICS.items() if key in metrics}
        self.odd: int | None = None
        self._quotes, self._metrics = line.count(b'"'), len(read)
        self._decode = msgspec.json.Decoder(_struct("Record", {
            "metadata": _struct("Metadata", {key: _META.get(key) or _kind(value) for key, value in metadata.items()}, _NO_META),
            "metrics": _struct("Metrics", read, _NO_METRICS, closed=False),
            **others,
        }, {})).decode_lines

    def columns(self, data: bytes) -> list[tuple[Any, ...]] | None:
        """The fields of `Request`, each over all these whole lines; None where not every line is surely like the first.

        Then `odd` is the index of the first object of another kind, where that is what was in the way.
        """
        _made.clear()
        self.odd = None
        try:
            read: list[Any] = self._decode(data)
            if not data.isascii():
                data.decode("utf-8")
        except msgspec.ValidationError as error:
            found = _ODD.search(str(error))
            self.odd = int(found["index"]) if found else None
            return None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        n = len(read)
        if len(_made) != n * self._metrics or data.count(b'"') != n * self._quotes or b"\\" in data or not _one_a_line(data, n):
            return None
        return list(zip(*[
            (m.x_request_id, m.conversation_id, m.benchmark_phase, m.request_start_ns, m.request_end_ns,
             m.was_cancelled or m.context_overflow_skip, None, x.time_to_first_token.value, x.inter_token_latency.value,
             x.request_latency.value, x.output_sequence_length.value, x.input_sequence_length.value)
            for one in read for m in (one.metadata,) for x in (one.metrics,)
        ], strict=True))


def shape_of(record: Mapping[str, Any], line: bytes) -> Shape | None:
    """The shape of a line that was read strictly; None for one that only the strict reading understands.

    Such are errors, whose texts hold anything; lines with escaped letters, whose quotation marks cannot be counted; values
    of a kind that AIPerf does not write there.
    """
    try:
        shape = None if record.get("error") is not None or b"\\" in line else Shape(record, line)
    except _Strange:
        return None
    return shape if shape and shape.columns(line) else None


class _Strange(Exception):
    """A key or a value that no shape describes."""


def _kind(value: Any) -> Any:
    if type(value) not in _KINDS:
        raise _Strange
    return _KINDS[type(value)]


def _struct(name: str, required: Mapping[str, Any], absent: Mapping[str, Any], *, closed: bool = True) -> Any:
    """A record of these keys, and of no other if `closed`. A field of `absent` that is none of them has its value there."""
    if not all(key.isidentifier() and key.isascii() and key[0] != "_" for key in required):
        raise _Strange
    fields: list[Any] = [*required.items(), *((key, _Never, value) for key, value in absent.items() if key not in required)]
    return msgspec.defstruct(name, fields, gc=False, kw_only=True, forbid_unknown_fields=closed)


def _one_a_line(data: bytes, count: int) -> bool:
    """Whether `count` objects stand on as many lines. In JSON only the end of one object and the begin of the next can
    stand around a line break as `}` and `{` do."""
    at = -1
    for _ in range(count - 1):
        at = data.find(b"\n", at + 1)
        if at < 0 or at + 1 == len(data) or data[at + 1] != _OPEN or data[at - 1] != _CLOSE and data[at - 2 : at] != b"}\r":
            return False
    return data.find(b"\n", at + 1) in (-1, len(data) - 1)
