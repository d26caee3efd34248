"""What the lines of a request export say together: counts by phase and end, and the columns that numbers are made of.

A million requests are a few columns of doubles and one set of their ids, not a million objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import gt
from typing import Any

from msgspec import Struct, field

from bot.results.aiperf.ids import Ids
from bot.results.aiperf.requests import Request

Columns = Sequence[Sequence[Any]]
"""The fields of `Request` but its phase and its error, each over the same lines; absent fields are all None."""
_PENDING = 32


class Late(Struct):
    """The latest end of an answer among many. Only blocks that may hold it are looked at, once a few are together."""

    known: int = 0
    pending: list[tuple[int, Sequence[int], Sequence[float]]] = field(default_factory=list)
    """Each with a moment after all its ends."""

    def take(self, starts: Sequence[int], latencies: Sequence[float]) -> None:
        latest = max(starts)
        self.known = max(self.known, latest)
        self.pending.append((latest + int(max(latencies) * 1e6) + 1, starts, latencies))
        if len(self.pending) > _PENDING:
            self.known = self.end

    @property
    def end(self) -> int:
        """Nanoseconds since 1970; 0 for none."""
        for bound, starts, latencies in reversed(self.pending):
            if bound >= self.known:
                self.known = max(self.known, *(start + round(took * 1e6) for start, took in zip(starts, latencies, strict=True)))
        self.pending = []
        return self.known

    def join(self, other: Late) -> None:
        self.known = max(self.known, other.end)


class Lines(Struct):
    """What some lines say.

    `ids` are those of each part of the file, with the line (from 0) on which the part begins.
    `early` are start (ns) and time to first token (ms) of all requests that started before `first_end`, and of some that did
    not. `late` knows the latest end of an answer: its start and its latency, not the end of the connection.
    """

    lines: int = 0
    total: int = 0
    kept: int = 0
    invalid: dict[str, int] = field(default_factory=lambda: {"warmup": 0, "profiling": 0})
    kinds: dict[str, int] = field(default_factory=dict)
    conversations: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    ids: list[tuple[int, Ids]] = field(default_factory=lambda: [(0, Ids([]))])
    ttft: array[float] = field(default_factory=lambda: array("d"))
    itl: array[float] = field(default_factory=lambda: array("d"))
    latency: array[float] = field(default_factory=lambda: array("d"))
    early: list[tuple[int, float]] = field(default_factory=list)
    osl: float | None = None
    isl: float | None = None
    begun: int | None = None
    first_end: int | None = None
    late: Late = field(default_factory=Late)

    def take(self, phase: str, columns: Columns) -> bool:
        """Takes the next lines, all of one phase. False where not each went well: then it took none of them."""
        ids, talks, starts, ends, dropped, ttft, itl, latency, osl, isl = columns
        if None in (starts[0], ends[0], latency[0]) or any(dropped) or any(map(gt, starts, ends)):
            return False
        if ids[0] is not None:
            self.ids[-1][1].add(self.lines, ids)
        self.lines += len(starts)
        self.total += len(starts)
        if phase != "profiling":
            return True
        self.kept += len(starts)
        self.conversations.update(talks)
        self.first_end = _least(self.first_end, min(ends))
        begun = min(starts)
        self.begun = _least(self.begun, begun)
        if ttft[0] is not None:
            self.ttft.extend(ttft)
            if begun < self.first_end:
                self.early += [pair for pair in zip(starts, ttft, strict=True) if pair[0] < self.first_end]
        if itl[0] is not None:
            self.itl.extend(itl)
        self.latency.extend(latency)
        if osl[0] is not None:
            self.osl = _sum(self.osl, sum(osl))
        if isl[0] is not None:
            self.isl = _sum(self.isl, sum(isl))
        self.late.take(starts, latency)
        return True

    def one(self, request: Request) -> None:
        """Takes the request on the line after those taken. One the client itself ended is neither kept nor invalid."""
        self.total += 1
        if request.id is not None:
            self.ids[-1][1].add(self.lines, (request.id.replace("\n", "\\n"),))
        self.lines += 1
        if request.failed:
            self.invalid[request.phase] += 1
        if request.phase != "profiling":
            return
        self.conversations.add(request.conversation)
        if request.failed:
            self.kinds[request.failed] = self.kinds.get(request.failed, 0) + 1
            self.broken.add(request.conversation)
        elif not request.dropped:
            self._keep(request)

    def _keep(self, request: Request) -> None:
        self.kept += 1
        for column, value in ((self.ttft, request.ttft), (self.itl, request.itl), (self.latency, request.latency)):
            if value is not None:
                column.append(value)
        if request.ttft is not None and request.start is not None:
            self.early.append((request.start, request.ttft))
        self.osl, self.isl = _sum(self.osl, request.osl), _sum(self.isl, request.isl)
        self.begun, self.first_end = _least(self.begun, request.start), _least(self.first_end, request.end)
        if request.start is not None and request.latency is not None:
            self.late.take((request.start,), (request.latency,))

    def join(self, other: Lines) -> None:
        """Takes what the next lines say."""
        self.ids += [(self.lines + at, ids) for at, ids in other.ids]
        self.lines += other.lines
        self.total += other.total
        self.kept += other.kept
        for phase, count in other.invalid.items():
            self.invalid[phase] += count
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.conversations |= other.conversations
        self.broken |= other.broken
        self.early += other.early
        self.ttft.extend(other.ttft)
        self.itl.extend(other.itl)
        self.latency.extend(other.latency)
        self.osl, self.isl = _sum(self.osl, other.osl), _sum(self.isl, other.isl)
        self.begun, self.first_end = _least(self.begun, other.begun), _least(self.first_end, other.first_end)
        self.late.join(other.late)


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
