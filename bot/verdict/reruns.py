"""What to measure again, in which order, and how often: GPU-hours go first where they decide most.

Suspects come first and alone: one re-run of them clears most alarms at a few percent of a sweep, and what is still too
wide is asked for when they have been seen. Where no run of the candidate can narrow an interval enough, because a single
baseline run is all it is compared with, that is said instead (`history:...`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bot.model.result import Cell, Rerun
from bot.verdict.judge import Judged
from bot.verdict.pairs import counterpart, order
from bot.verdict.rule import MEASUREMENTS
from bot.verdict.statistics import Z_FAMILY, Z_ONE_SIDED, curve_se, side
from bot.verdict.words import BLOCKING, word

Costs = Mapping[Cell | int, float] | Mapping[int, float] | Mapping[Cell, float]
MOST = 20
"""More runs of one point than this are no plan."""


def reruns(
    judged: Sequence[Judged], outside: Sequence[str], gpu_hours: Costs, lost: Sequence[tuple[Cell, str]] = ()
) -> tuple[Rerun, ...]:
    """Points worth measuring again, most questions answered per GPU-hour first; each with why and how many runs. Those of
    the baseline that were not measured (`lost`, with the metric) come before more runs of those that were.

    Nothing is asked for where no second run mends the doubt: an image that is nowhere proven, another workload.
    """
    if any(word(reason) in BLOCKING - {"cold-run"} for reason in outside):
        return ()
    wanted = [*_doubted(judged), *_suspects(judged)]
    if any(word(reason) == "cold-run" for reason in outside):
        wanted += [(pair.point, "cold-run", each.metric.id, 1, None) for each in judged for pair in each.pairs]
    wanted += [(point, "partial-sweep", metric, 1, None) for point, metric in lost]
    return _ranked(wanted or _open(judged), gpu_hours)


Wanted = tuple[Cell, str, str, int | None, int | None]
"""A point, why, the metric that asks, how many runs of the candidate, and how many behind the baseline."""


def _doubted(judged: Sequence[Judged]) -> list[Wanted]:
    """Cold points, and those of an image not proven while others are: a node with a stale cache is not every node."""
    return [
        (pair.point, flag, each.metric.id, 1, None)
        for each in judged for pair in each.doubted for flag in pair.flags
        if flag == "cold-run" or flag == "image-not-proven" and each.pairs
    ]  # fmt: skip


def _suspects(judged: Sequence[Judged]) -> list[Wanted]:
    return [
        (each.pairs[place].point, "cold-run" if "cold-run" in each.ruling.reasons else "suspect", each.metric.id, 1, None)
        for each in judged if each.ruling for place in sorted(each.ruling.suspects)
    ]  # fmt: skip


def _open(judged: Sequence[Judged]) -> list[Wanted]:
    """Whole curves whose interval is too wide or whose points are too few."""
    made: list[Wanted] = []
    for each in judged:
        if each.ruling is None or not {"wide-interval", "too-few-points"} & set(each.ruling.reasons):
            continue
        why = next(reason for reason in each.ruling.reasons if reason in ("wide-interval", "too-few-points"))
        more, behind = runs_needed(each), None
        if more is None:
            why, (behind, more) = "history", history_needed(each) or (None, None)
        made += [(pair.point, why, each.metric.id, more, behind) for pair in each.pairs]
    return made


def runs_needed(each: Judged) -> int | None:
    """How many more runs of every point of the candidate would decide if they came out as those so far; None when none
    would, since what the baseline's own history leaves open stays."""
    history = sum(side(point.history) for point in each.points) / max(len(each.points), 1)
    return next((more for more in range(1, MOST + 1) if _decides(each, more, history)), None)


def history_needed(each: Judged) -> tuple[int, int] | None:
    """(runs behind every point of the baseline, more runs of the candidate) that would decide together, the fewest in all;
    None when there is no such plan. Published history costs no GPU, so of two plans the one with fewer new runs is taken."""
    plans = (
        (history + more, more, history)
        for history in range(2, MOST + 1) for more in range(MOST + 1) if _decides(each, more, side(history))
    )  # fmt: skip
    found = min(plans, default=None)
    return None if found is None else (found[2], found[1])


def _decides(each: Judged, more: int, history: float) -> bool:
    if each.ruling is None or each.noise is None or each.metric.margin is None:
        return False
    if sum(point.measured + more for point in each.points) < MEASUREMENTS:
        return False
    sides = sum(1 / (point.measured + more) for point in each.points) / len(each.points) + history
    se = curve_se(sigma=each.noise.sigma, tau=each.noise.tau, points=len(each.points), sides=sides)
    pool, margin = each.ruling.pool, each.metric.margin
    return pool - Z_ONE_SIDED * se > -margin or (pool <= -margin and pool + Z_FAMILY * se < 0)


def _ranked(wanted: Sequence[Wanted], gpu_hours: Costs) -> tuple[Rerun, ...]:
    points: dict[Cell, dict[str, list[str]]] = {}
    runs: dict[Cell, list[int | None]] = {}
    history: dict[Cell, list[int]] = {}
    for point, why, metric, more, behind in wanted:
        held = points.setdefault(point, {}).setdefault(why, [])
        held += [] if metric in held else [metric]
        runs.setdefault(point, []).append(more)
        history.setdefault(point, []).extend([behind] if behind else [])
    # Where the baseline's history is what one metric lacks, runs for another still serve that one.
    made = [
        Rerun(point=point, why=";".join(f"{why}:{','.join(metrics)}" for why, metrics in asked.items()),
              gpu_hours=_cost(point, gpu_hours), runs=_most(runs[point]),
              history=max(history[point], default=None))
        for point, asked in points.items()
    ]  # fmt: skip

    def worth(again: Rerun) -> tuple[float, tuple[str, str, str, int]]:
        questions = sum(map(len, points[again.point].values()))
        price = (again.gpu_hours if again.gpu_hours is not None else math.nan) * (again.runs or MOST)
        return (-questions / price if price > 0 else -float(questions)), order(again.point)

    known = all(again.gpu_hours is not None for again in made)
    return tuple(sorted(made, key=worth if known else lambda again: (0.0, order(again.point))))


def _most(runs: Sequence[int | None]) -> int | None:
    return max((more for more in runs if more), default=None)


def _cost(point: Cell, gpu_hours: Costs) -> float | None:
    """What one run of the point costs: told for the point itself, or for the one cell it can be, else by concurrency."""
    held: Mapping = gpu_hours
    found = counterpart(point, {cell for cell in held if isinstance(cell, Cell)})
    return held.get(point.concurrency) if found is None else held[found]
