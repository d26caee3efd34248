"""A request export in blocks of whole lines, each read quickly where its lines are like one that was read strictly.

Whatever gives a doubt goes to the strict reading, line by line, which alone refuses and says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

from bot.errors import BadInput
from bot.results.aiperf.exported import Lines
from bot.results.aiperf.requests import bare, record_of, request_of
from bot.results.aiperf.shapes import Shape, shape_of
from bot.results.read import MAX_LINE

SIZE = 1 << 16
_SHAPES = 8
"""Shapes kept of one file. AIPerf writes one, and another where a request had no second token."""
_FEW = 1 << 12
"""Bytes that are not cut again in search of the lines that have another shape."""


def blocks(stream: BinaryIO, size: int = SIZE) -> Iterator[bytes]:
    """The bytes of a stream cut at ends of lines; the last block may lack one. Needs no seeking."""
    rest: list[bytes | memoryview] = []
    length = 0
    while block := stream.read(size):
        end = block.rfind(b"\n") + 1
        if not end and length <= MAX_LINE:
            rest.append(block)
            length += len(block)
            continue
        end = end or len(block)  # longer than any line may be; it is refused as it is
        yield b"".join((*rest, memoryview(block)[:end]))
        rest, length = [block[end:]], len(block) - end
    if length:
        yield b"".join(rest)


Fault = tuple[str, str, int, str]


class Told(Struct, frozen=True):
    """What some lines say, up to the first that does not hold: its reason, hint, line (from 1 among these) and key."""

    said: Lines
    fault: Fault | None = None


def read(stream: BinaryIO, name: str, *, quick: bool = True, size: int = SIZE) -> Told:
    """All that a stream says up to its first fault; `quick=False` reads each line strictly, with the same answer."""
    reader = _Reader(name, quick)
    fault = next(filter(None, map(reader.take, blocks(stream, size))), None)
    all(part.distinct for _, part in reader.said.ids)
    return Told(reader.said, fault)


def joined(parts: Iterable[Told]) -> Told:
    """Parts of one file in their order, as one; it becomes of the first."""
    first, *others = parts
    said, fault = first.said, first.fault
    for part in others:
        if fault:
            break
        if part.fault:
            reason, hint, line, key = part.fault
            fault = reason, hint, said.lines + line, key
        said.join(part.said)
    return Told(said, fault)


class _Reader:
    """Takes what blocks of one file say. It learns shapes as it reads; what is said does not depend on them."""

    def __init__(self, name: str, quick: bool) -> None:
        self.said = Lines()
        self._name = name
        self._most = _SHAPES if quick else 0
        self._shapes: list[Shape] = []

    def take(self, block: bytes) -> Fault | None:
        odd: int | None = None
        for index, shape in enumerate(self._shapes):
            columns = shape.columns(block)
            if columns and self.said.take(shape.phase, columns):
                if index:
                    self._shapes.insert(0, self._shapes.pop(index))
                return None
            odd = shape.odd
            if odd != 0:
                break
        if self._shapes and len(block) > _FEW and (cuts := _cuts(block, odd)):
            pieces = (block[low:high] for low, high in zip((0, *cuts), (*cuts, len(block)), strict=True) if low < high)
            return next(filter(None, map(self.take, pieces)), None)
        return self._strictly(block)

    def _strictly(self, block: bytes) -> Fault | None:
        for line in block.removesuffix(b"\n").split(b"\n"):
            try:
                self._line(line)
            except BadInput as error:
                return bare(error), error.hint, self.said.lines + 1, error.key
        return None

    def _line(self, line: bytes) -> None:
        for shape in self._shapes:
            columns = shape.columns(line)
            if columns and self.said.take(shape.phase, columns):
                return
        record = record_of(line, self._name)
        if record is None:
            self.said.lines += 1
            return
        self.said.one(request_of(record, self._name))
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
