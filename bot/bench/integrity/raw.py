"""AIPerf's raw export: one line a request, with all that was sent and all that came back. Read as a stream.

A line holds a whole answer in chunks, so a file of a thousand long ones has gigabytes; no more than one line is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

NAME = "profile_export_raw.jsonl"
LONGEST = 64_000_000
"""Bytes of one line; a prompt of a million tokens and its answer have a sixth."""


class Metadata(Struct, frozen=True, gc=False):
    """Of one request: its phase, moments in nanoseconds, and whether the client itself ended it or did not send it."""

    benchmark_phase: str
    request_start_ns: int | None = None
    request_end_ns: int | None = None
    was_cancelled: bool = False
    context_overflow_skip: bool = False


class Packet(Struct, frozen=True, gc=False):
    """One field of a server-sent event: `data` mostly, else `event`, `comment`, `id`."""

    name: str
    value: str | None = None


class Response(Struct, frozen=True, gc=False):
    """One event of a stream (`packets`), or the whole body of an answer that is none (`text`)."""

    packets: tuple[Packet, ...] | None = None
    text: str | None = None


class Payload(Struct, frozen=True, gc=False):
    """What the request asked of the server, as far as it decides how long the answer must be."""

    stream: bool | None = None
    ignore_eos: bool | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None

    @property
    def exact(self) -> int | None:
        """How many tokens the answer has to have; None where the model may end it."""
        most = self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens
        return most if self.ignore_eos else None


class Record(Struct, frozen=True, gc=False):
    """One request with its answer. A request that met no server has no status, one that failed an error."""

    metadata: Metadata
    status: int | None = None
    responses: tuple[Response, ...] = ()
    error: Any = None
    payload: Payload | None = None


_decode = msgspec.json.Decoder(Record).decode


def records(stream: BinaryIO) -> Iterator[Record | None]:
    """The requests of an export. None for a line that is no such record: cut off when its writer was killed, or too long."""
    while line := stream.readline(LONGEST + 1):
        if len(line) > LONGEST:
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST)
            yield None
        elif line.strip():
            yield _record(line)


def _record(line: bytes) -> Record | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
