"""The ids of a file's requests: whether one stands twice, and where.

By the ids themselves: hashes that are equal by chance would refuse a good file. Each process looks at those of its own part
and hands on their text alone; between parts only what they share is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any


class Ids:
    """Those of one part of a file, as runs of requests on consecutive lines: the first line (from 0) and the ids, joined by
    line breaks."""

    def __init__(self, runs: list[tuple[int, str]], *, distinct: bool | None = None) -> None:
        self.runs = runs
        self._told = distinct
        self._seen: set[str] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """As it goes to another process: without the set, which is several times as large."""
        return _received, (self.runs, self.distinct)

    def add(self, line: int, ids: Sequence[str]) -> None:
        """Takes those that stand on as many lines from this one on."""
        self.runs.append((line, "\n".join(ids)))

    @property
    def seen(self) -> set[str]:
        """Each once."""
        if self._seen is None:
            self._seen = set(self.each())
        return self._seen

    def each(self) -> Iterator[str]:
        return chain.from_iterable(run.split("\n") for _, run in self.runs)

    @property
    def distinct(self) -> bool:
        """Whether each stands once. Asked where a part was read, so that parts answer at once."""
        if self._told is None:
            self._told = len(self.seen) == sum(run.count("\n") + 1 for _, run in self.runs)
        return self._told


def _received(runs: list[tuple[int, str]], distinct: bool) -> Ids:
    return Ids(runs, distinct=distinct)


def repeated(parts: Sequence[tuple[int, Ids]]) -> int | None:
    """The first line (from 0) whose id an earlier one has; None where each stands once. Parts with the line they begin on."""
    if all(part.distinct for _, part in parts) and _apart([part for _, part in parts]):
        return None
    seen = set[str]()
    places = ((begin + line + offset, one) for begin, part in parts for line, run in part.runs
              for offset, one in enumerate(run.split("\n")))
    return next(line for line, one in places if one in seen or seen.add(one))


def _apart(parts: Sequence[Ids]) -> bool:
    """Whether none of one part stands in another."""
    seen = parts[0].seen if len(parts) > 1 else set[str]()
    for at, part in enumerate(parts[1:], 2):
        if not seen.isdisjoint(part.each()):
            return False
        if at < len(parts):
            seen.update(part.each())
    return True
