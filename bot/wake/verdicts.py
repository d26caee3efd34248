"""What the evidence of a run comes to: its gates, and a sweep's verdict with everything that was measured twice."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.errors import BadInput
from bot.model.bump import Bump, Judged
from bot.model.result import Proof
from bot.model.run import Run
from bot.verdict.compare import compare
from bot.verdict.gates import STRICT_LIMIT, coverage, failed_requests
from bot.wake import proofs
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
    rows, unproven = proofs.told(judged, judged.proofs)
    repeats = [row for other in beside for row in proofs.second(other)]
    void = {(one.recipe, one.concurrency) for one in judged.proofs if one.role == "eval" and one.contradicted}
    try:
        verdict = compare(
            rows, baseline.rows, repeat=repeats, metrics=context.knowledge.metrics,
            scores=[score for score in judged.scores if (score.recipe, score.concurrency) not in void],
            accounting=judged.accounting, baseline_accounting=baseline.accounting,
            reasons=(*baseline.notes, *_outside(bump), *unproven),
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
    """Gates beside evals that do not hold: too many failed requests at a point, points that a finished sweep lacks, and in a
    smoke points at which another image ran, since a sweep would measure that one too."""
    wanted = [(point.recipe, point.concurrency) for recipe in bump.subject.family for point in recipe.points
              if point.kind == "throughput"]
    lacking = coverage(judged.rows, wanted) if run.stage == "sweep" and run.terminal else ()
    limits = {recipe.key: recipe.failed_requests for recipe in bump.subject.family if recipe.failed_requests is not None}
    gates = [gate for one in judged.accounting for gate in failed_requests([one], limit=limits.get(one.recipe, STRICT_LIMIT))]
    broken = [(gate.recipe, gate.concurrency) for gate in gates if not gate.passed]
    named = len(bump.subject.family) > 1

    def told(point: tuple[str, int]) -> str:
        return f"{point[0]} c{point[1]}" if named and point[0] else f"c{point[1]}"

    wrong = [_named(one) for one in judged.proofs if one.contradicted] if run.stage == "smoke" else []
    return (*(f"image:{kind}{told(point)}" for kind, point in wrong), *(f"failed-requests:{told(point)}" for point in broken),
            *(f"coverage:{told(point)}" for point in lacking))


def _named(proof: Proof) -> tuple[str, tuple[str, int]]:
    return "eval " if proof.role == "eval" else "", (proof.recipe, proof.concurrency)


def _outside(bump: Bump) -> tuple[str, ...]:
    """Reasons that rows alone do not give: a repair that moved the serving path."""
    changed = any(wanted.serving_path_changed for wanted in bump.memory.applied)
    return ("serving-path-changed",) if changed else ()
