"""What the lines of a request export say together: counts by phase and end, and the columns that numbers are made of.

A million requests are a few columns of doubles and one set of their ids, not a million objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import gt
from typing import Any

from msgspec import Struct, field

from bot.results.aiperf.requests import Request


class Lines(Struct):
    """What some lines say.

    `ids` are runs of requests on consecutive lines: the first line (from 0) and the ids, joined by line breaks.
    `early` are start (ns) and time to first token (ms) of all requests that started before `first_end`, and of some that did
    not. `last` is the latest end of an answer: its start and its latency, not the end of the connection.
    """

    lines: int = 0
    total: int = 0
    kept: int = 0
    invalid: dict[str, int] = field(default_factory=lambda: {"warmup": 0, "profiling": 0})
    kinds: dict[str, int] = field(default_factory=dict)
    conversations: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    ids: list[tuple[int, str]] = field(default_factory=list)
    ttft: array[float] = field(default_factory=lambda: array("d"))
    itl: array[float] = field(default_factory=lambda: array("d"))
    latency: array[float] = field(default_factory=lambda: array("d"))
    early: list[tuple[int, float]] = field(default_factory=list)
    osl: float | None = None
    isl: float | None = None
    begun: int | None = None
    first_end: int | None = None
    last: int | None = None

    @classmethod
    def of(cls, columns: Sequence[Sequence[Any]], first_end: int | None = None) -> Lines | None:
        """The fields of as many requests, one a line; None where not each is a measured one that went well.

        `first_end` is that of lines before, if it is known.
        """
        ids, talks, phases, starts, ends, dropped, _, ttft, itl, latency, osl, isl = columns
        n = len(phases)
        if None in (starts[0], ends[0], latency[0]) or any(dropped) or phases.count("profiling") < n or any(map(gt, starts, ends)):
            return None
        begun, ended, streamed = min(starts), min(ends), ttft[0] is not None
        limit = ended if first_end is None else min(ended, first_end)
        return cls(
            lines=n, total=n, kept=n, conversations=set(talks),
            ids=[] if ids[0] is None else [(0, "\n".join(ids))],
            ttft=array("d", ttft if streamed else ()), itl=array("d", () if itl[0] is None else itl), latency=array("d", latency),
            early=[pair for pair in zip(starts, ttft, strict=True) if pair[0] < limit] if streamed and begun < limit else [],
            osl=None if osl[0] is None else sum(osl), isl=None if isl[0] is None else sum(isl),
            begun=begun, first_end=ended,
            last=max([start + round(took * 1e6) for start, took in zip(starts, latency, strict=True)]),
        )

    def one(self, request: Request) -> None:
        """Takes the request on the line after those taken. One the client itself ended is neither kept nor invalid."""
        self.total += 1
        if request.id is not None:
            self.ids.append((self.lines, request.id.replace("\n", "\\n")))
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
            self.last = _most(self.last, request.start + round(request.latency * 1e6))

    def join(self, other: Lines) -> None:
        """Takes what the next lines say."""
        self.ids += [(self.lines + at, run) for at, run in other.ids] if self.lines else other.ids
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
        self.last = _most(self.last, other.last)


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
