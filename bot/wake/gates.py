"""Gates beside the jobs' own: what a run's evidence shows to be broken although every job of it may have passed."""

from __future__ import annotations

from collections.abc import Iterator

from bot.model.bump import Bump, Judged
from bot.model.result import Baseline, Proof, Row, Samples
from bot.model.run import Run
from bot.verdict.canary import canary
from bot.verdict.evals import QUESTIONS, counts, nearest, normal
from bot.verdict.gates import STRICT_LIMIT, coverage, failed_requests


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[str, ...]:
    """Gates that do not hold, each with its point behind a colon: too many failed requests; points that a finished sweep lacks;
    in a smoke, before the sweep is paid for, points at which another image ran, and samples of an eval that fell further below
    the baseline than chance allows; and in a control arm points of which it is not proven that the old image ran there."""
    wanted = [(point.recipe, point.concurrency) for recipe in bump.subject.family for point in recipe.points
              if point.kind == "throughput"]
    lacking = coverage(judged.rows, wanted) if run.stage in ("sweep", "control") and run.terminal else ()
    limits = {recipe.key: recipe.failed_requests for recipe in bump.subject.family if recipe.failed_requests is not None}
    requests = [gate for one in judged.accounting for gate in failed_requests([one], limit=limits.get(one.recipe, STRICT_LIMIT))]
    failed = [(gate.recipe, gate.concurrency) for gate in requests if not gate.passed]
    smoke, arm = run.stage == "smoke", run.stage == "control"
    wrong = [one for one in judged.proofs if (smoke or arm) and one.contradicted]
    return (
        *(f"image:{'eval ' * (one.role == 'eval')}{_told(bump, *_at(one))}" for one in wrong),
        *(f"unproven:{_told(bump, *_at(one))}" for one in judged.proofs if arm and not (one.holds or one.contradicted)),
        *(f"canary:eval {_told(bump, *point)}" for point in (_fallen(bump.subject.plan.baseline, judged) if smoke else ())),
        *(f"failed-requests:{_told(bump, *point)}" for point in failed),
        *(f"coverage:{_told(bump, *point)}" for point in lacking),
    )


def _at(proof: Proof) -> tuple[str, int]:
    return proof.recipe, proof.concurrency


def _told(bump: Bump, recipe: str, concurrency: int) -> str:
    return f"{recipe} c{concurrency}" if len(bump.subject.family) > 1 and recipe else f"c{concurrency}"


def _fallen(baseline: Baseline | None, judged: Judged) -> Iterator[tuple[str, int]]:
    """The points at which an eval's sample raises the canary's alarm. Its gate is another question: 0.90 at 1319 questions
    passes a fall from 0.97. One filter is asked, the strict one where there is one, or two would double the false alarms."""
    if baseline is None:
        return
    theirs = [normal(row) for row in baseline.rows if row.metric == "eval"]
    asked: dict[tuple[str, int, str], Row] = {}
    for row in map(normal, (row for row in judged.rows if row.metric == "eval")):
        key = row.point.recipe, row.point.concurrency, row.task or ""
        if key not in asked or row.stat == "strict":
            asked[key] = row
    yield from dict.fromkeys(key[:2] for key, row in asked.items() if _alarm(row, nearest(row, theirs), judged, baseline))


def _alarm(row: Row, old: Row | None, judged: Judged, baseline: Baseline) -> bool:
    mine, before = counts(row), counts(old) if old else None
    if old is None or mine is None or before is None or min(mine[1], before[1]) < QUESTIONS:
        return False
    told = canary(mine, before, samples=_answers(row, judged.samples), baseline_samples=_answers(old, baseline.samples))
    return told.decision == "stop"


def _answers(row: Row, samples: tuple[Samples, ...]) -> Samples | None:
    return next((one for one in samples if (one.task, one.concurrency) == (row.task, row.point.concurrency)
                 and one.recipe in ("", row.point.recipe)), None)
