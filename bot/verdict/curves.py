"""The primaries of one recipe: which metric speaks for each, at which points, and what one side does not have.

A bad figure that is taken away must never leave a better verdict than it would have given: a throughput of nothing at all
was passed over, and the sweep was called neutral.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct, structs

from bot.model.result import Cell, Row
from bot.results.metrics import Metric, Metrics
from bot.verdict.judge import Judged, Noise, judge
from bot.verdict.pairs import Index, Key, Pair, counterpart, identity, index, pairs, same

SATURATED = 5.0
"""A point whose baseline TTFT is this many times the lowest of its curve waits in a queue, not in the engine."""


class Curves(Struct, frozen=True, kw_only=True):
    """What is known of one recipe. `reasons` tell what one side lacks; `open` says that some of it keeps the verdict open,
    `unseen` that nothing at all could be judged. `lost` are points to measure and the metrics that lack there."""

    judged: tuple[Judged, ...] = ()
    reasons: tuple[str, ...] = ()
    unseen: bool = False
    open: bool = False
    lost: tuple[tuple[Cell, str], ...] = ()


def performance(
    new: Sequence[Row],
    old: Sequence[Row],
    again: Sequence[Row],
    metrics: Metrics,
    noise: Mapping[str, Noise],
    reasons: Sequence[str],
) -> Curves:
    """The primaries that both sides have, judged. What the baseline has of one and the new run has not, or not as a value that
    can be compared (nothing, another statistic), keeps the verdict open; what only the new run has is a reason."""
    saturated = saturation(old, metrics)
    sides = index(new), index(old), index(again)
    judged: list[Judged] = []
    covered: set[Cell] = set()
    halved: list[str] = []
    ran = {structs.replace(identity(row.point), concurrency=0) for row in new if row.metric != "eval"}
    open_, parts, lost = False, set[Cell](), list[tuple[Cell, str]]()
    for primary in metrics.primaries:
        group = metrics.group(primary)
        metric, stat, found, stand_in = choose(group, *sides)
        mine, theirs = (_held(side, group) for side in sides[:2])
        paired = {pair.point for pair in found}
        gone = [cell for cell in _lacking(theirs, paired, sides, group) if cell not in saturated and _runs(cell, ran)]
        open_ = open_ or bool(gone)
        here = {cell for cell, sound in mine.items() if sound}
        lost += [(cell, (metric or group[0]).id) for cell in gone if counterpart(cell, here) is None]
        if metric is None:
            halved += [f"partial-sweep:{primary}"] if mine or theirs else []
            continue
        parts |= set(gone)
        stands = {counterpart(pair.point, saturated) for pair in found} - {None}
        points = frozenset(pair.point for pair in found if counterpart(pair.point, saturated) in stands)
        covered |= paired
        judged.append(judge(metric, stat, found, points, noise.get(metric.id), (*reasons, *([stand_in] if stand_in else []))))
    missing = _missing(new, old, covered, metrics, blind=not judged)
    if not judged:
        given = any(row.metric != "eval" and (row.metric not in metrics or metrics[row.metric].sign) for row in (*new, *old))
        return Curves(reasons=tuple(missing), unseen=given, lost=tuple(lost))
    half = {cell.concurrency for cell in parts if counterpart(cell, covered) is not None}
    told = [f"partial-sweep:c{conc}" for conc in sorted(half)]
    return Curves(judged=tuple(judged), reasons=(*halved, *missing, *told), open=open_, lost=tuple(lost))


def _lacking(theirs: Iterable[Cell], paired: set[Cell], sides: Sequence[Index], group: Sequence[Metric]) -> list[Cell]:
    nothing = _nothing(*sides[:2], group)
    return [cell for cell in theirs if counterpart(cell, paired) is None or cell in nothing]


def _nothing(new: Index, old: Index, group: Sequence[Metric]) -> set[Cell]:
    """Baseline points of which the new run has a value of nothing where the baseline has one, of the same metric: another
    metric of the group stands in for one that is not told, and for none that says that nothing came."""
    made: set[Cell] = set()
    for key, points in new.items():
        theirs = old.get(key, {}) if any(metric.id == key[0] for metric in group) else {}
        for point, rows in points.items():
            found = counterpart(point, theirs) if all(row.value == 0 for row in rows) else None
            made |= {found} if found is not None and any(row.value > 0 for row in theirs[found]) else set()
    return made


def _runs(cell: Cell, ran: Iterable[Cell]) -> bool:
    """Whether a point lies on a curve that the new run has: a baseline may hold other recipes, workloads and topologies."""
    return any(same(structs.replace(cell, concurrency=one.concurrency), one) for one in ran)


def _held(side: Index, group: Sequence[Metric]) -> dict[Cell, bool]:
    """The points at which one side tells any metric of a group, and whether a value there can be compared at all."""
    names, made = {metric.id for metric in group}, dict[Cell, bool]()
    for (metric, _), points in side.items():
        for cell, rows in points.items() if metric in names else ():
            made[cell] = made.get(cell, False) or any(0 < row.value < math.inf for row in rows)
    return made


def choose(
    group: Sequence[Metric], new: Index, old: Index, again: Index
) -> tuple[Metric | None, str | None, tuple[Pair, ...], str | None]:
    """The metric and statistic that speak for a primary: of those with the most points the first choice.

    The last value is the reason when it is not the very first choice: `stand-in:ttft-mean`.
    """
    keys: list[tuple[Metric, Key]] = [
        (metric, (metric.id, stat)) for metric in group for stat in ((metric.stat, "mean") if metric.stat else (None,))
    ]
    best: tuple[Metric | None, str | None, tuple[Pair, ...], str | None] = (None, None, (), None)
    for place, (metric, key) in enumerate(keys):
        if len(new.get(key, ())) <= len(best[2]):
            continue
        found = pairs(key, new, old, again)
        if len(found) > len(best[2]):
            name = f"{metric.id}-{key[1]}" if key[1] and key[1] != metric.stat else metric.id
            best = metric, key[1], found, f"stand-in:{name}" if place else None
    return best


def saturation(old: Sequence[Row], metrics: Metrics) -> frozenset[Cell]:
    """Baseline points whose TTFT is at least five times the lowest of their curve (same recipe, workload, topology)."""
    held = index(old)
    for metric in metrics.group("first-token"):
        for stat in (metric.stat, "mean"):
            curves: dict[tuple[object, ...], dict[Cell, float]] = {}
            for point, rows in held.get((metric.id, stat), {}).items():
                values = [row.value for row in rows if 0 < row.value < math.inf]
                if values:
                    curves.setdefault((point.recipe, point.workload, point.topology), {})[point] = median(values)
            if curves:
                return frozenset(
                    point for curve in curves.values() for point, value in curve.items() if value >= SATURATED * min(curve.values())
                )
    return frozenset()


def _missing(new: Sequence[Row], old: Sequence[Row], covered: set[Cell], metrics: Metrics, *, blind: bool) -> list[str]:
    """Points that one side has and the other lacks. With no match at all the topologies differ."""
    primary = {metric.id for metric in metrics.values() if metric.primary}
    mine, theirs = ({identity(row.point) for row in rows if row.metric in primary} for rows in (new, old))
    if blind and mine and {cell.concurrency for cell in mine} & {cell.concurrency for cell in theirs}:
        return ["workload-mismatch"]
    lacking = [cell for cell in theirs if counterpart(cell, covered) is None] + [cell for cell in mine - covered]
    return [f"partial-sweep:c{conc}" for conc in sorted({cell.concurrency for cell in lacking})]
