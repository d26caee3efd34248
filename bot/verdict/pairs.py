"""New rows beside the baseline's: which point is which, whose value counts, and how often it was measured.

A point matches by recipe, concurrency, workload and topology; what one side does not tell does not part them. The
fingerprint never decides here: it contains the image, so a candidate's differs by construction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import median

from msgspec import Struct, structs

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.metrics import Metrics
from bot.verdict.words import BLOCKING, word

Key = tuple[str, str | None]
"""A metric and its statistic."""
Index = Mapping[Key, Mapping[Cell, Sequence[Row]]]
"""Rows by metric, statistic and point."""


class Pair(Struct, frozen=True, kw_only=True):
    """One metric at one point: the baseline's median over `history` runs, the new values, the repeat's, and flags.

    A measurement with a flag that questions it (a cold run, an image that is not proven) is left out where there is
    another; where there is none it stands here with its flag.
    """

    point: Cell
    base: float
    history: int
    new: tuple[float, ...]
    repeat: tuple[float, ...] = ()
    flags: tuple[str, ...] = ()
    n: int | None = None
    doubt: tuple[str, ...] = ()
    """What questions the first run, where a repeat stands in for it."""

    @property
    def blocked(self) -> bool:
        return any(word(flag) in BLOCKING for flag in self.flags)


@lru_cache(maxsize=4096)
def identity(point: Cell) -> Cell:
    """The cell without its fingerprint, which no two images share."""
    return structs.replace(point, fingerprint=None)


def order(point: Cell) -> tuple[str, str, str, int]:
    """A key to sort cells by, concurrency last and as a number."""
    return point.recipe, point.workload or "", point.topology or "", point.concurrency


def named(point: Cell) -> str:
    """A point in words, for a message: what it has of recipe, topology, workload, and its concurrency."""
    return " ".join(part for part in (point.recipe, point.topology, point.workload, f"concurrency {point.concurrency}") if part)


def canonical(rows: Iterable[Row], metrics: Metrics) -> tuple[Row, ...]:
    """Rows in one spelling and one order, so that the order in which files were given changes nothing. A value that is no
    number is no measurement, and left out.

    Raises BadInput for a unit that is not the metric's.
    """
    known: dict[tuple[str, str | None, str], Row] = {}
    return tuple(sorted((_spelled(row, metrics, known) for row in rows if math.isfinite(row.value)), key=_rank))


def _spelled(row: Row, metrics: Metrics, known: dict[tuple[str, str | None, str], Row]) -> Row:
    if row.metric == "eval":
        return row
    key = row.metric, row.stat, row.unit
    told = known.get(key)
    if told is None:
        told = known[key] = metrics.canonical(structs.replace(row, value=1.0))
    if (told.metric, told.stat, told.unit, told.value) == (*key, 1.0):
        return row
    return structs.replace(row, metric=told.metric, stat=told.stat, unit=told.unit, value=row.value * told.value)


def _rank(row: Row) -> tuple[object, ...]:
    return (*order(row.point), row.metric, row.task or "", row.stat or "", row.run or 0, row.attempt or 0, row.value,
            row.point.fingerprint or "", row.image or "", row.n or 0, row.flags)  # fmt: skip


def index(rows: Iterable[Row]) -> Index:
    """Rows by metric and statistic, then by point, in the order given."""
    made: dict[Key, dict[Cell, list[Row]]] = {}
    for row in rows:
        made.setdefault((row.metric, row.stat), {}).setdefault(identity(row.point), []).append(row)
    return made


def split(rows: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The newest run of each point, and earlier runs of the same head, which are repeats of it.

    Values without a run are repetitions of one measurement, as are those of one run that its load generator numbered.
    Another head is another change, never a repeat.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((identity(row.point), row.metric, row.stat, row.task), []).append(row)
    latest: list[Row] = []
    earlier: list[Row] = []
    for group in groups.values():
        newest = max(group, key=lambda row: (row.run or 0, row.attempt or 0))
        last = [row for row in group if (row.run, row.attempt) == (newest.run, newest.attempt)]
        if len({row.repeat for row in last}) < len(last) and newest.run is not None:
            raise BadInput(
                f"{_what(newest)} stands twice in run {newest.run}",
                "keep one row",
            )
        if len({row.head for row in group if row.head}) > 1:
            raise BadInput(
                f"{_what(newest)} was measured on two heads",
                "compare one head; give an earlier one of the same image as a repeat",
            )
        latest += last
        earlier += [row for row in group if (row.run, row.attempt) != (newest.run, newest.attempt)]
    return tuple(latest), tuple(earlier)


def same(one: Cell, other: Cell) -> bool:
    """Whether two cells can be the same point: what is told on both sides is equal."""
    told = ((one.recipe, other.recipe), (one.workload, other.workload), (one.topology, other.topology))
    return one.concurrency == other.concurrency and all(not a or not b or a == b for a, b in told)


def counterpart(point: Cell, among: Iterable[Cell]) -> Cell | None:
    """The one cell that is this point: the identical one, else the only compatible one; two candidates are none.

    `among` in which it can be looked up (a mapping, a set) answers at once for the identical one.
    """
    if isinstance(among, (Mapping, set, frozenset)) and point in among:
        return point
    fitting = [cell for cell in among if same(point, cell)]
    if point in fitting:
        return point
    return fitting[0] if len(fitting) == 1 else None


def once(rows: Sequence[Row], whose: str, besides: Sequence[Row] = ()) -> tuple[Row, ...]:
    """Rows in which no run counts twice: a row that stands twice with one value is one, and one that stands in `besides`
    is not here. A sweep given as its own repeat would confirm itself.

    Raises BadInput when one run has two values for one point: which of them was measured nobody can tell.
    """
    made = {_place(row): row for row in besides if row.run is not None}
    kept = []
    for row in rows:
        place = _place(row)
        told = made.get(place) if row.run is not None else None
        if told is None:
            made[place] = row
            kept.append(row)
        elif told.value != row.value:
            raise BadInput(
                f"{whose} has {_what(row)} twice in run {row.run}: {told.value:g} and {row.value:g}", "keep one row"
            )
    return tuple(kept)


def _place(row: Row) -> tuple[object, ...]:
    return row.point, row.metric, row.stat, row.task, row.run, row.attempt, row.repeat, row.image


def _what(row: Row) -> str:
    return f"{row.task or row.metric} at {named(row.point)}"


def pairs(key: Key, new: Index, baseline: Index, repeat: Index) -> tuple[Pair, ...]:
    """Every point at which both sides have this metric with a positive value, in order."""
    mine, theirs, again = (side.get(key, {}) for side in (new, baseline, repeat))
    made = []
    for point in sorted(mine, key=order) if theirs else ():
        found = counterpart(point, theirs)
        if found is None:
            continue
        old = _sound(_one_identity(theirs[found]))
        second = counterpart(point, again)
        main, others = _sound(mine[point]), _sound(again[second]) if second is not None else []
        if others and _questioned(others[0]):
            others = []  # a second look through the same doubt is none
        doubt: tuple[str, ...] = ()
        if main and others and _questioned(main[0]):
            doubt = tuple(sorted({flag for row in main for flag in row.flags if word(flag) in BLOCKING}))
            main, others = others[:1], others[1:]
        if old and main:
            made.append(
                Pair(
                    point=point,
                    base=median(row.value for row in old),
                    history=len(_starts(old)),
                    new=tuple(_starts(main)),
                    repeat=tuple(_starts(others)),
                    flags=_flags(main, old),
                    n=next((row.n for row in main if row.n is not None), None),
                    doubt=doubt,
                )
            )
    return tuple(made)


def _starts(rows: Sequence[Row]) -> list[float]:
    """One value for each time a server was started for a point: the median of what its load generator repeated there.

    Such repetitions share the shift of their sweep (STATS 1: a repeat is a new server, not more requests). Where rows name
    no run, a repetition's number that comes again is another start.
    """
    started: dict[tuple[object, ...], list[float]] = {}
    seen: Counter[int | None] = Counter()
    for row in rows:
        seen.update([row.repeat] if row.run is None else [])
        started.setdefault((row.run, row.attempt, seen[row.repeat] if row.run is None else 0), []).append(row.value)
    return [median(values) for values in started.values()]


def _flags(new: Sequence[Row], old: Sequence[Row]) -> tuple[str, ...]:
    """The flags of both sides; a doubt about the baseline says so, because running the candidate again would not mend it."""
    theirs = {flag if word(flag) not in BLOCKING or ":" in flag else f"{flag}:baseline" for row in old for flag in row.flags}
    return tuple(sorted({flag for row in new for flag in row.flags} | theirs))


def _one_identity(rows: Sequence[Row]) -> list[Row]:
    """Baseline runs of the image and fingerprint that the newest of them has: others were another configuration."""
    newest = max(rows, key=lambda row: (row.run or 0, row.attempt or 0))
    return [row for row in rows if (row.image, row.point.fingerprint) == (newest.image, newest.point.fingerprint)]


def _sound(rows: Iterable[Row]) -> list[Row]:
    """Rows with a value that has a logarithm: those without a questioning flag, or all where each has one."""
    held = [row for row in rows if 0 < row.value < math.inf]
    return [row for row in held if not _questioned(row)] or held


def _questioned(row: Row) -> bool:
    return any(word(flag) in BLOCKING for flag in row.flags)
