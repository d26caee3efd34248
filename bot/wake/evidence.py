"""What a run's artifacts say, judged once: results into rows and scores, logs of failed jobs into their first error.

What was judged is kept in memory; only jobs that ended since are read. An artifact that does not hold is a note on its
job and no more: who uploads rubbish must not stop the wake, and a failed job without a readable log failed all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO, TypeVar

import msgspec

from bot.diagnose.eval_cause import gate_cause
from bot.diagnose.triage import triage
from bot.diagnose.words import node_of
from bot.errors import BadInput
from bot.images.reference import parse, same
from bot.model.bump import Bump, JobFailure, Judged
from bot.model.forge import Artifact
from bot.model.result import Row, Score
from bot.model.run import Job, Run, Triage
from bot.results import Collected, collect
from bot.verdict.compare import compare
from bot.verdict.gates import coverage, failed_requests, scores
from bot.wake.artifacts import Shelf, fitting, note, points_of
from bot.wake.context import Context

T = TypeVar("T")
GOOD = ("success", "skipped", "neutral")
NO_LOG = "no log of this job can be read"


def judge(context: Context, bump: Bump, run: Run, known: Sequence[Judged]) -> Judged | None:
    """The run's evidence so far, or None while none of its measuring jobs has ended."""
    before = next((judged for judged in known if judged.run == run.id), None)
    ended = [job for job in run.jobs if job.role != "other" and job.status == "completed"]
    seen = tuple(sorted(job.id for job in ended))
    if before is not None and before.seen == seen:
        return before
    if not ended:
        return None
    fresh = [job for job in ended if before is None or job.id not in before.seen]
    artifacts = context.forge.artifacts(run.id)
    judged = before or Judged(run=run.id, head=run.head, seen=())
    for job in sorted(fresh, key=lambda job: (job.attempt, job.id)):
        judged = _with_job(context, bump, run, job, judged, artifacts)
    return _with_verdict(context, bump, run, msgspec.structs.replace(judged, seen=seen))


def _with_job(context: Context, bump: Bump, run: Run, job: Job, judged: Judged, artifacts: Sequence[Artifact]) -> Judged:
    mine, shelf = fitting(context.layout.artifacts, artifacts, run.jobs, job), Shelf(context.forge)
    logs, found = _triaged(context, shelf, mine.logs)
    collected = _collected(bump, run, job, shelf, mine.results)
    baseline = bump.subject.plan.baseline
    gated = scores(collected.rows, bump.subject.plan.thresholds, baseline.rows if baseline else (), samples=collected.samples)
    warnings = {name: judged.warnings.get(name, 0) + found.warnings.get(name, 0) for name in {*judged.warnings, *found.warnings}}
    failures = judged.failures
    if job.conclusion not in GOOD:
        failures = (*failures, _failure(context, job, found, gated, warnings, _nodes(shelf, logs, found.node)))
    judged = _without_stale(run, job, judged)
    notes = (*judged.notes, *mine.notes, *shelf.notes, *(note(skip.name, skip.why) for skip in collected.skipped))
    return msgspec.structs.replace(
        judged,
        failures=failures,
        rows=_newest(judged.rows, collected.rows),
        accounting=_merge(judged.accounting, collected.accounting),
        samples=_merge(judged.samples, collected.samples),
        scores=_merge(judged.scores, gated),
        warnings=dict(sorted(warnings.items())),
        notes=tuple(dict.fromkeys(notes)),
    )


def _triaged(context: Context, shelf: Shelf, artifacts: Sequence[Artifact]) -> tuple[list[Artifact], Triage]:
    """The logs that can be read, and the first error in them; of those that cannot, the notes."""
    before = len(shelf.notes)
    logs, found = _readable(shelf, artifacts, lambda files: triage(files, context.knowledge.signatures))
    missing = () if logs else (NO_LOG,)
    found = found or Triage()
    return logs, msgspec.structs.replace(found, notes=(*found.notes, *shelf.notes[before:], *missing))


def _collected(bump: Bump, run: Run, job: Job, shelf: Shelf, artifacts: Sequence[Artifact]) -> Collected:
    """The results that hold and are of the job's own points. Two artifacts that contradict each other both count not."""

    def read(files: Iterable[tuple[str, BinaryIO]]) -> Collected:
        found = collect(files, recipe=bump.subject.family[0].key, run=run.id, attempt=job.attempt, head=run.head)
        try:
            msgspec.json.encode(found)
        except (UnicodeError, OverflowError) as error:
            raise BadInput(f"a value that cannot be kept: {error}", "correct the result file") from None
        return found

    good, found = _readable(shelf, artifacts, read)
    points = frozenset().union(*(points_of(one.name) for one in good))
    allowed = points or ({job.concurrency} if job.concurrency is not None else None)
    if found is None or allowed is None:
        return found or Collected()
    told = {row.point.concurrency for row in found.rows} | {one.concurrency for one in (*found.accounting, *found.samples)}
    for other in sorted(told - allowed):
        shelf.notes.append(note(job.name, f"a result says concurrency {other}, which is not this job's"))
    return msgspec.structs.replace(
        found,
        rows=tuple(row for row in found.rows if row.point.concurrency in allowed),
        accounting=tuple(one for one in found.accounting if one.concurrency in allowed),
        samples=tuple(one for one in found.samples if one.concurrency in allowed),
    )


def _readable(shelf: Shelf, artifacts: Sequence[Artifact],
              read: Callable[[Iterable[tuple[str, BinaryIO]]], T]) -> tuple[list[Artifact], T | None]:
    """What `read` makes of all artifacts together, or of those alone that it can read one by one; None of none."""
    here = shelf.fetched(artifacts)
    if not here:
        return [], None
    try:
        return here, read(shelf.files(here))
    except BadInput as error:
        whole = error
    good = []
    for one in here:
        try:
            read(shelf.files([one]))
            good.append(one)
        except BadInput as error:
            shelf.left_out(one.name, error)
    if not good:
        return [], None
    try:
        return good, read(shelf.files(good))
    except BadInput:
        shelf.left_out(" and ".join(one.name for one in good), whole)
        return [], None


def _failure(context: Context, job: Job, found: Triage, gated: Sequence[Score], warnings: dict[str, int],
             nodes: tuple[str, ...]) -> JobFailure:
    """A failed job: cancelled by its group, broken by a gate that its scores show, or by the first error of its logs."""
    if job.conclusion == "cancelled":
        found = Triage(class_="cancelled-by-concurrency", confidence="likely")
    elif any(score.passed is False for score in gated):
        found = gate_cause(gated, warnings, context.knowledge.signatures)
    minutes = (job.completed - job.started).total_seconds() / 60 if job.started and job.completed else 0.0
    return JobFailure(job=job.name, attempt=job.attempt, role=job.role, concurrency=job.concurrency, minutes=minutes,
                      triage=found, nodes=nodes if found.node else ())


def _with_verdict(context: Context, bump: Bump, run: Run, judged: Judged) -> Judged:
    """The sweep's verdict so far; smoke points of the same tested head are repeats of its points. Rows that cannot be
    compared give none, which nobody takes for a good one."""
    baseline = bump.subject.plan.baseline
    judged = msgspec.structs.replace(judged, gates=_gates(bump, run, judged))
    if run.stage != "sweep" or not judged.rows or baseline is None:
        return judged
    repeats: list[Row] = []
    for other in bump.world.runs:
        earlier = next((one for one in bump.memory.judged if one.run == other.id), None)
        if other.stage == "smoke" and other.head == bump.tested_head and earlier:
            repeats += [row for row in earlier.rows if row.metric != "eval"]
    reasons = (*baseline.notes, *_outside(bump, judged))
    try:
        verdict = compare(
            judged.rows, baseline.rows, repeat=repeats, metrics=context.knowledge.metrics, scores=judged.scores,
            accounting=judged.accounting, baseline_accounting=baseline.accounting, reasons=reasons,
        )
    except BadInput as error:
        notes = (*judged.notes, note(f"run {run.id}", f"no verdict: {error}"))
        return msgspec.structs.replace(judged, verdict=None, notes=tuple(dict.fromkeys(notes)))
    return msgspec.structs.replace(judged, verdict=verdict)


def _gates(bump: Bump, run: Run, judged: Judged) -> tuple[str, ...]:
    """Gates beside evals that do not hold: too many failed requests at a point, and points that a finished sweep lacks."""
    wanted = [point.concurrency for recipe in bump.subject.family for point in recipe.points if point.kind == "throughput"]
    lacking = coverage(judged.rows, wanted) if run.stage == "sweep" and run.terminal else ()
    broken = [gate.concurrency for gate in failed_requests(judged.accounting) if not gate.passed]
    return (*(f"failed-requests:c{point}" for point in broken), *(f"coverage:c{point}" for point in lacking))


def _outside(bump: Bump, judged: Judged) -> tuple[str, ...]:
    """Reasons that rows alone do not give: a repair that moved the serving path, results that do not name the candidate."""
    changed = any(wanted.serving_path_changed for wanted in bump.memory.applied)
    wanted = bump.subject.candidate.text
    proven = all(_same(row.image or "", wanted) for row in judged.rows)
    return (*(("serving-path-changed",) if changed else ()), *(() if proven else ("image-not-proven",)))


def _same(one: str, other: str) -> bool:
    try:
        return same(parse(one), parse(other))
    except BadInput:
        return False


def _nodes(shelf: Shelf, logs: Sequence[Artifact], node: str | None) -> tuple[str, ...]:
    """The nodes that wrote logs, for `node 2 of 4`."""
    if node is None:
        return ()
    return tuple(sorted({found for name, _ in shelf.files(logs) if (found := node_of(name))} | {node}))


def _without_stale(run: Run, job: Job, judged: Judged) -> Judged:
    """Nothing of an earlier attempt at the job's point: one that failed this time must not live on what it did before.

    Where several jobs share kind and concurrency (recipes of a family, workloads) it is not known whose the rows are;
    then only what is measured again is replaced.
    """
    shared = any(other.name != job.name and (other.role, other.concurrency) == (job.role, job.concurrency) for other in run.jobs)
    if job.attempt == 1 or job.concurrency is None or shared:
        return judged
    of_eval = job.role == "eval"
    rows = tuple(row for row in judged.rows if row.point.concurrency != job.concurrency or (row.metric == "eval") != of_eval)
    names = ("samples", "scores") if of_eval else ("accounting",)
    others: dict[str, Any] = {name: tuple(one for one in getattr(judged, name) if one.concurrency != job.concurrency)
                              for name in names}
    return msgspec.structs.replace(judged, rows=rows, **others)


def _newest(before: Sequence[Row], fresh: Sequence[Row]) -> tuple[Row, ...]:
    """Rows of a later attempt replace those of an earlier one at the same point: aggregates of a rerun go stale."""
    again = {(row.metric, row.task, row.stat, row.point) for row in fresh}
    return (*(row for row in before if (row.metric, row.task, row.stat, row.point) not in again), *fresh)


def _merge(before: Sequence, fresh: Sequence) -> tuple:
    def key(one: Any) -> tuple:
        return one.concurrency, getattr(one, "task", ""), getattr(one, "metric", "")

    new = {key(one) for one in fresh}
    return tuple(sorted((*(one for one in before if key(one) not in new), *fresh), key=key))
