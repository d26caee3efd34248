"""New rows beside the baseline's: which point is which, whose value counts, and how often it was measured.

A point matches by recipe, concurrency, workload and topology; what one side does not tell does not part them. The
fingerprint never decides here: it contains the image, so a candidate's differs by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct, structs

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.metrics import Metrics

Key = tuple[str, str | None]
"""A metric and its statistic."""


class Pair(Struct, frozen=True, kw_only=True):
    """One metric at one point: the baseline's median over `history` runs, the new values, the repeat's, and flags."""

    point: Cell
    base: float
    history: int
    new: tuple[float, ...]
    repeat: tuple[float, ...] = ()
    flags: tuple[str, ...] = ()
    n: int | None = None


def identity(point: Cell) -> Cell:
    """The cell without its fingerprint, which no two images share."""
    return structs.replace(point, fingerprint=None)


def order(point: Cell) -> tuple[str, str, str, int]:
    """A key to sort cells by, concurrency last and as a number."""
    return point.recipe, point.workload or "", point.topology or "", point.concurrency


def canonical(rows: Iterable[Row], metrics: Metrics) -> tuple[Row, ...]:
    """Rows in one spelling and one order, so that the order in which files were given changes nothing."""
    made = [metrics.canonical(row) for row in rows]
    return tuple(
        sorted(
            made,
            key=lambda row: (
                order(row.point),
                row.metric,
                row.task or "",
                row.stat or "",
                row.run or 0,
                row.attempt or 0,
                row.value,
            ),
        )
    )


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
                f"{newest.metric} at concurrency {newest.point.concurrency} stands twice in run {newest.run}",
                "keep one row",
            )
        if len({row.head for row in group if row.head}) > 1:
            raise BadInput(
                f"{newest.metric} at concurrency {newest.point.concurrency} was measured on two heads",
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
    """The one cell that is this point: the identical one, else the only compatible one; two candidates are none."""
    fitting = [cell for cell in among if same(point, cell)]
    if point in fitting:
        return point
    return fitting[0] if len(fitting) == 1 else None


def pairs(key: Key, new: Sequence[Row], baseline: Sequence[Row], repeat: Sequence[Row]) -> tuple[Pair, ...]:
    """Every point at which both sides have this metric with a positive value, in order."""
    mine, theirs, again = (_by_point(rows, key) for rows in (new, baseline, repeat))
    made = []
    for point in sorted(mine, key=order):
        found = counterpart(point, theirs)
        if found is None:
            continue
        old = _values(_one_identity(theirs[found]))
        second = counterpart(point, again)
        values = _values(mine[point])
        if old and values:
            made.append(
                Pair(
                    point=point,
                    base=median(old),
                    history=len(old),
                    new=values,
                    repeat=_values(again[second]) if second else (),
                    flags=tuple(sorted({flag for row in (*mine[point], *theirs[found]) for flag in row.flags})),
                    n=next((row.n for row in mine[point] if row.n is not None), None),
                )
            )
    return tuple(made)


def _by_point(rows: Sequence[Row], key: Key) -> dict[Cell, list[Row]]:
    made: dict[Cell, list[Row]] = {}
    for row in rows:
        if (row.metric, row.stat) == key:
            made.setdefault(identity(row.point), []).append(row)
    return made


def _one_identity(rows: list[Row]) -> list[Row]:
    """Baseline runs of the image and fingerprint that the newest of them has: others were another configuration."""
    newest = max(rows, key=lambda row: (row.run or 0, row.attempt or 0))
    return [row for row in rows if (row.image, row.point.fingerprint) == (newest.image, newest.point.fingerprint)]


def _values(rows: Iterable[Row]) -> tuple[float, ...]:
    return tuple(row.value for row in rows if row.value > 0)
