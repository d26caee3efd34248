"""What the evidence of a run comes to: its gates, and a sweep's verdict with everything that was measured twice."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.errors import BadInput
from bot.images.reference import parse, same
from bot.model.bump import Bump, Judged
from bot.model.result import Row
from bot.model.run import Run
from bot.verdict.compare import compare
from bot.verdict.gates import STRICT_LIMIT, coverage, failed_requests
from bot.wake.artifacts import note
from bot.wake.context import Context


def settle(context: Context, bump: Bump, run: Run, judged: Judged, others: Sequence[Judged]) -> Judged:
    """The run's evidence with its gates, and for a sweep with its verdict so far. Smoke points of the same tested head and
    repeats of the same head are second measurements. Rows that cannot be compared give none, which nobody takes for a good
    one; a verdict is made again only when something it rests on is new."""
    beside = [other for other in others if run.stage == "sweep" and _repeats(bump, run, other)]
    seen = tuple(sorted(job for other in beside for job in other.seen))
    judged = msgspec.structs.replace(judged, gates=_gates(bump, run, judged))
    baseline = bump.subject.plan.baseline
    if run.stage != "sweep" or not judged.rows or baseline is None or (judged.verdict and judged.beside == seen):
        return judged
    repeats = [row for other in beside for row in other.rows if row.metric != "eval"]
    try:
        verdict = compare(
            judged.rows, baseline.rows, repeat=repeats, metrics=context.knowledge.metrics, scores=judged.scores,
            accounting=judged.accounting, baseline_accounting=baseline.accounting,
            reasons=(*baseline.notes, *_outside(bump, (*judged.rows, *repeats))),
        )
    except BadInput as error:
        notes = (*judged.notes, note(f"run {run.id}", f"no verdict: {error}"))
        return msgspec.structs.replace(judged, verdict=None, notes=tuple(dict.fromkeys(notes)))
    return msgspec.structs.replace(judged, verdict=verdict, beside=seen)


def _repeats(bump: Bump, run: Run, other: Judged) -> bool:
    """Whether that evidence is a second measurement of this sweep's points."""
    found = next((one for one in bump.world.runs if one.id == other.run), None)
    heads = {"smoke": bump.tested_head, "repeat": run.head}
    return found is not None and found.head == heads.get(found.stage)


def _gates(bump: Bump, run: Run, judged: Judged) -> tuple[str, ...]:
    """Gates beside evals that do not hold: too many failed requests at a point, and points that a finished sweep lacks."""
    wanted = [(point.recipe, point.concurrency) for recipe in bump.subject.family for point in recipe.points
              if point.kind == "throughput"]
    lacking = coverage(judged.rows, wanted) if run.stage == "sweep" and run.terminal else ()
    limits = {recipe.key: recipe.failed_requests for recipe in bump.subject.family if recipe.failed_requests is not None}
    gates = [gate for one in judged.accounting for gate in failed_requests([one], limit=limits.get(one.recipe, STRICT_LIMIT))]
    broken = [(gate.recipe, gate.concurrency) for gate in gates if not gate.passed]
    named = len(bump.subject.family) > 1

    def told(point: tuple[str, int]) -> str:
        return f"{point[0]} c{point[1]}" if named and point[0] else f"c{point[1]}"

    return (*(f"failed-requests:{told(point)}" for point in broken), *(f"coverage:{told(point)}" for point in lacking))


def _outside(bump: Bump, rows: Sequence[Row]) -> tuple[str, ...]:
    """Reasons that rows alone do not give: a repair that moved the serving path, results that do not name the candidate."""
    changed = any(wanted.serving_path_changed for wanted in bump.memory.applied)
    wanted = bump.subject.candidate.text
    # lm-eval does not know what image answers it; where it is told, that counts too.
    named = [row for row in rows if row.image or row.metric != "eval"]
    proven = bool(named) and all(_same(row.image or "", wanted) for row in named)
    return (*(("serving-path-changed",) if changed else ()), *(() if proven else ("image-not-proven",)))


def _same(one: str, other: str) -> bool:
    try:
        return same(parse(one), parse(other))
    except BadInput:
        return False
