"""A request export in blocks of whole lines, each read quickly where its lines are like one that was read strictly.

Whatever gives a doubt goes to the strict reading, line by line, which alone refuses and says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

from bot.errors import BadInput
from bot.results.aiperf.exported import Lines
from bot.results.aiperf.requests import Request, bare, record_of, request_of
from bot.results.aiperf.shapes import Shape, shape_of
from bot.results.read import MAX_LINE

SIZE = 1 << 17
_SHAPES = 8
"""Shapes kept of one file. AIPerf writes one, and another where a request had no second token."""
_FEW = 1 << 12
"""Bytes that are not cut again in search of the lines that have another shape."""


def blocks(stream: BinaryIO, size: int = SIZE) -> Iterator[bytes]:
    """The bytes of a stream cut at ends of lines; the last block may lack one. Needs no seeking."""
    while block := stream.read(size):
        yield block if block.endswith(b"\n") else block + stream.readline(MAX_LINE + 1)


class Told(Struct, frozen=True):
    """What some lines say, up to the first that does not hold: its reason, hint, line (from 1 among these) and key."""

    said: Lines
    fault: tuple[str, str, int, str] | None = None


def read(stream: BinaryIO, name: str) -> Told:
    """All that a stream says, or its first fault."""
    return joined(map(Reader(name), blocks(stream)))


def joined(parts: Iterable[Told]) -> Told:
    """Parts of one file in their order, as one."""
    said = Lines()
    for part in parts:
        before = said.lines
        said.join(part.said)
        if part.fault:
            reason, hint, line, key = part.fault
            return Told(said, (reason, hint, before + line, key))
    return Told(said)


class Reader:
    """Blocks of one file into what they say. It learns shapes as it reads; what it says does not depend on them."""

    def __init__(self, name: str, *, quick: bool = True) -> None:
        self._name = name
        self._most = _SHAPES if quick else 0
        self._shapes: list[Shape] = []
        self._first_end: int | None = None

    def __call__(self, block: bytes) -> Told:
        odd: int | None = None
        for index, shape in enumerate(self._shapes):
            columns = shape.columns(block)
            whole = Lines.of(columns, self._first_end) if columns else None
            if whole is not None:
                self._shapes.insert(0, self._shapes.pop(index))
                self._first_end = whole.first_end if self._first_end is None else min(self._first_end, whole.first_end)
                return Told(whole)
            odd = shape.odd
            if odd != 0:
                break
        if self._shapes and len(block) > _FEW and (cuts := _cuts(block, odd)):
            return joined(self(block[low:high]) for low, high in zip((0, *cuts), (*cuts, len(block)), strict=True) if low < high)
        return self._lines(block)

    def _lines(self, block: bytes) -> Told:
        said = Lines()
        for line in block.removesuffix(b"\n").split(b"\n"):
            try:
                self._line(line, said)
            except BadInput as error:
                return Told(said, (bare(error), error.hint, said.lines + 1, error.key))
        return Told(said)

    def _line(self, line: bytes, said: Lines) -> None:
        for shape in self._shapes:
            columns = shape.columns(line)
            request = Request(*next(zip(*columns, strict=True))) if columns else None
            if request is not None and not request.backwards:
                said.one(request)
                return
        record = record_of(line, self._name)
        if record is None:
            said.lines += 1
            return
        said.one(request_of(record, self._name))
        if len(self._shapes) < self._most and (shape := shape_of(record, line)):
            self._shapes.append(shape)


def _cuts(block: bytes, odd: int | None) -> tuple[int, ...]:
    """Where to cut a block so that a line of another kind stands alone: around it if it is known, else in the middle."""
    if odd is None:
        half = block.find(b"\n", len(block) // 2) + 1
        return (half,) if 0 < half < len(block) else ()
    start = 0
    for _ in range(odd):
        start = block.find(b"\n", start) + 1
    end = block.find(b"\n", start) + 1
    return (start, end) if 0 < end and (start > 0 or end < len(block)) else ()
