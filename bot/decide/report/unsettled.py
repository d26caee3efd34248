"""Why something stays open, and what would settle it: a baseline that is not there, points worth another run."""

from __future__ import annotations

from math import fsum

from bot.decide.progress import named
from bot.decide.runs import repeats
from bot.model.bump import Bump, Judged
from bot.model.lines import AgainLine, LackLine
from bot.model.result import Rerun
from bot.verdict.words import CLEARED

# A reason for which there is no baseline -> what would mend it; for others it is points that match.
MENDS = {"baseline-unreachable": "source", "source-refused": "source", "answer-unreadable": "source", "no-source": "layout",
         "model-unknown": "layout", "points-unknown": "points"}


def lacking(bump: Bump) -> tuple[LackLine, ...]:
    """Why there is no baseline, of all or of some recipes of the family: what is open for that reason alone must say so."""
    baseline = bump.subject.plan.baseline
    if baseline is None:
        return (_lack("", bump.subject.plan.missing_baseline or "not-published"),)
    having = {row.point.recipe for row in baseline.rows if row.metric != "eval"}
    why = {one.point.recipe: one.why for one in reversed(baseline.absent)}
    return tuple(_lack(recipe.key, why[recipe.key]) for recipe in bump.subject.family if recipe.key in why.keys() - having)


def _lack(recipe: str, why: str) -> LackLine:
    return LackLine(recipe=recipe, why=why, mend=MENDS.get(why.partition(":")[0], "published"))


def reasons(bump: Bump, judged: Judged | None) -> tuple[str, ...]:
    """The verdict's reasons, and that there is none where results that cannot be compared gave none. A suspicion that was
    cleared is told with its points and the repeat that cleared it."""
    if judged is None or judged.verdict is not None:
        return tuple(_cleared(bump, judged, reason) for reason in judged.verdict.reasons) if judged and judged.verdict else ()
    return ("no-verdict",) if bump.subject.plan.baseline is not None and judged.rows else ()


def _cleared(bump: Bump, judged: Judged, reason: str) -> str:
    """`not-confirmed:cleared:30:c64`: run, points; the bare reason where none of both is known, as of a smoke's second look."""
    if reason != CLEARED or judged.verdict is None:
        return reason
    second = [one for run in repeats(bump) if (one := bump.judged(run.id))]
    points = {(one.point.recipe, one.point.concurrency) for one in judged.verdict.findings if one.point and CLEARED in one.reasons}
    seen = {(row.point.recipe, row.point.concurrency): one.run for one in reversed(second) for row in one.rows
            if row.metric != "eval"}
    told = sorted(points & seen.keys())
    if not told or len(told) < len(points):
        return reason
    runs = sorted({seen[point] for point in told})
    names = ", ".join(named(bump, recipe, "throughput", concurrency) for recipe, concurrency in told)
    return f"{reason}:{', '.join(map(str, runs))}:{names}"


def again(bump: Bump, judged: Judged | None) -> tuple[AgainLine, ...]:
    """What would settle an open verdict, in its own order: the points to run again, how often, at what cost."""
    verdict = judged.verdict if judged else None
    groups: dict[tuple[str, tuple[str, ...], int | None, int | None], list[Rerun]] = {}
    for one in verdict.rerun if verdict and verdict.verdict == "inconclusive" else ():
        for part in one.why.split(";"):
            why, _, metrics = part.partition(":")
            groups.setdefault((why, tuple(metrics.split(",")) if metrics else (), one.runs, one.history), []).append(one)
    return tuple(
        AgainLine(
            points=tuple(named(bump, one.point.recipe, "throughput", one.point.concurrency) for one in found), why=why,
            metrics=metrics, runs=runs, history=history,
            gpu_hours=None if any(one.gpu_hours is None for one in found) else fsum(one.gpu_hours or 0.0 for one in found))
        for (why, metrics, runs, history), found in groups.items()
    )
