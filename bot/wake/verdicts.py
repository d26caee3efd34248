"""What the evidence of a run comes to: its gates, and a sweep's verdict with everything that was measured twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from bot import budget
from bot.baseline import same_day
from bot.decide import image
from bot.decide.control import controls
from bot.decide.runs import passed
from bot.errors import BadInput
from bot.model.bump import Bump, Judged
from bot.model.result import Cell, Row, Verdict
from bot.model.run import Run
from bot.verdict.compare import compare
from bot.verdict.pairs import identity
from bot.verdict.words import known
from bot.wake import gates, noises, proofs
from bot.wake.artifacts import note
from bot.wake.context import Context


def settle(context: Context, bump: Bump, run: Run, judged: Judged, others: Sequence[Judged]) -> Judged:
    """The run's evidence with its gates, and for a sweep with its verdict so far. Smoke points of the same tested head and
    repeats of the same head are second measurements, a whole control arm is the baseline. Rows that cannot be compared give
    none, which nobody takes for a good one; a verdict is made again only when something it rests on is new."""
    judged = msgspec.structs.replace(judged, gates=gates.broken(bump, run, judged))
    if run.stage != "sweep":
        return judged
    arm, beside = _control(bump, run, others), [other for other in others if _repeats(bump, run, other)]
    seen = tuple(sorted(job for other in (*beside, *([arm] if arm else [])) for job in other.seen))
    published = bump.subject.plan.baseline
    baseline = same_day(published, arm, image=bump.subject.family[0].image, date=_day(bump, arm)) if arm else published
    if not judged.rows or baseline is None:
        return msgspec.structs.replace(judged, verdict=None, control=None, beside=())
    if judged.verdict and judged.beside == seen:
        return judged
    rows = proofs.told(judged, judged.proofs)
    repeats = [row for other in beside for row in proofs.second(other)]
    void = {(one.recipe, one.concurrency) for one in judged.proofs if one.role == "eval" and one.contradicted}
    try:
        verdict = compare(
            rows, _planned(bump, baseline.rows), repeat=repeats, metrics=context.knowledge.metrics,
            noise=noises.known(context, bump, rows),
            scores=[score for score in judged.scores if (score.recipe, score.concurrency) not in void],
            accounting=judged.accounting, baseline_accounting=baseline.accounting,
            samples=[one for one in judged.samples if (one.recipe, one.concurrency) not in void], baseline_samples=baseline.samples,
            gpu_hours=costs(bump, rows), reasons=(*baseline.notes, *_outside(bump)),
        )
    except BadInput as error:
        notes = (*judged.notes, note(f"run {run.id}", f"no verdict: {error}"))
        return msgspec.structs.replace(judged, verdict=None, control=None, notes=tuple(dict.fromkeys(notes)))
    return msgspec.structs.replace(judged, verdict=_gated(verdict, judged, beside, bump), beside=seen,
                                   control=arm.run if arm else None)


def _gated(verdict: Verdict, judged: Judged, beside: Sequence[Judged], bump: Bump) -> Verdict:
    """The verdict with the image's gate: one that some point did not hold is open whatever the other points say. A loss that a
    repeat confirmed stands: its own points are proven, or it would have been none."""
    repeats = {run.id for run in bump.world.runs if run.stage == "repeat"}
    found = image.unproven(judged.proofs, [proof for one in beside if one.run in repeats for proof in one.proofs])
    if not found:
        return verdict
    reasons = known((*verdict.reasons, *map(proofs.because, found)))
    if verdict.verdict in ("regressed", "inconclusive"):
        return msgspec.structs.replace(verdict, reasons=reasons)
    again = tuple(one for one in verdict.rerun if proofs.REASON in one.why)
    return msgspec.structs.replace(verdict, verdict="inconclusive", reasons=reasons, rerun=again)


def _control(bump: Bump, sweep: Run, others: Sequence[Judged]) -> Judged | None:
    """The evidence of the run of the old image beside this sweep, where it is whole and of the old image."""
    newest = next(iter(controls(bump, sweep)), None)
    found = next((other for other in others if newest and other.run == newest.id), None)
    return found if newest and found and passed(newest) and not gates.broken(bump, newest, found) else None


def _day(bump: Bump, arm: Judged) -> str:
    return next(run.created for run in bump.world.runs if run.id == arm.run).date().isoformat()


def _repeats(bump: Bump, run: Run, other: Judged) -> bool:
    """Whether that evidence is a second measurement of this sweep's points."""
    found = next((one for one in bump.world.runs if one.id == other.run), None)
    heads = {"smoke": bump.tested_head, "repeat": run.head}
    return found is not None and found.head == heads.get(found.stage)


def _planned(bump: Bump, rows: Sequence[Row]) -> list[Row]:
    """The baseline's rows at the points that the recipes still run: what a recipe dropped is no gap in its sweep."""
    points = {(point.recipe, point.concurrency) for point in budget.points(bump) if point.kind == "throughput"}
    return [row for row in rows if row.metric == "eval" or not points or (row.point.recipe, row.point.concurrency) in points
            or not row.point.recipe]


def costs(bump: Bump, rows: Sequence[Row]) -> Mapping[Cell, float]:
    """GPU-hours that one more run of each point would hold: what its job held, else what it is forecast to."""
    held: dict[tuple[str, int | None], float] = {}
    for run in sorted(bump.world.runs, key=lambda run: (run.created, run.id)):
        for job in run.jobs:
            if job.role == "throughput" and job.conclusion == "success" and job.started and job.completed:
                held[job.recipe, job.concurrency] = job.gpu_hours(bump.now)
    points = {(point.recipe, point.concurrency): point for point in budget.points(bump) if point.kind == "throughput"}
    made = {}
    for cell in {identity(row.point) for row in rows if row.metric != "eval"}:
        own = held.get((cell.recipe, cell.concurrency), held.get(("", cell.concurrency)))
        point = points.get((cell.recipe, cell.concurrency))
        cost = own if own is not None else budget.price(bump, [point]) if point else None
        made |= {cell: cost} if cost is not None else {}
    return made


def _outside(bump: Bump) -> tuple[str, ...]:
    """Reasons that rows alone do not give: a repair that moved the serving path."""
    changed = any(wanted.serving_path_changed for wanted in bump.memory.applied)
    return ("serving-path-changed",) if changed else ()
