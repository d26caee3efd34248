"""What a run's artifacts say, judged once: results into rows and scores, logs of failed jobs into their first error.

What was judged is kept in memory; only jobs that ended since are read. An artifact that does not hold is a note on its
job and no more: who uploads rubbish must not stop the wake, and a failed job without a readable log failed all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO, TypeVar

import msgspec

from bot.diagnose.eval_cause import gate_cause
from bot.diagnose.reported import Listener
from bot.diagnose.triage import triage
from bot.diagnose.words import node_of
from bot.errors import BadInput
from bot.model.bump import Bump, JobFailure, Judged, Refused
from bot.model.forge import Artifact
from bot.model.result import Reported, Row, Score
from bot.model.run import Job, Run, Triage
from bot.results import Collected, collect
from bot.verdict.gates import scores
from bot.wake import verdicts
from bot.wake.artifacts import Shelf, fitting, note, points_of
from bot.wake.context import Context
from bot.wake.proofs import proofs

T = TypeVar("T")
Heard = tuple[Reported, ...]
GOOD = ("success", "skipped", "neutral")
SHOWN = 5
"""Of files that are no results at all so many are told: an artifact may hold a whole source tree."""
NO_LOG = "no log of this job can be read"


def judge_all(context: Context, bump: Bump, runs: Sequence[Run], known: Sequence[Judged]) -> tuple[Judged, ...]:
    """The evidence of every run so far; the verdicts come last, since a repeat speaks for a sweep that was read before it."""
    read = [one for run in runs if (one := judge(context, bump, run, known)) is not None]
    by_run = {run.id: run for run in runs}
    found = [msgspec.structs.replace(one, proofs=proofs(context, bump, by_run[one.run], one)) for one in read]
    return tuple(verdicts.settle(context, bump, by_run[one.run], one, found) for one in found)


def judge(context: Context, bump: Bump, run: Run, known: Sequence[Judged]) -> Judged | None:
    """The run's evidence so far without a new verdict, or None while none of its measuring jobs has ended."""
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
    return msgspec.structs.replace(judged, seen=seen, verdict=None)


def _with_job(context: Context, bump: Bump, run: Run, job: Job, judged: Judged, artifacts: Sequence[Artifact]) -> Judged:
    mine, shelf = fitting(context.layout.artifacts, artifacts, run.jobs, job), Shelf(context.forge)
    logs, (found, heard) = _triaged(context, shelf, mine.logs)
    before = len(shelf.notes)
    collected = _collected(context, bump, run, job, shelf, mine.results)
    skipped = [note(skip.name, ": ".join(word for word in (skip.why, skip.detail) if word)) for skip in collected.skipped]
    lost = dict.fromkeys((*mine.lost, *shelf.notes[before:], *(skipped[:SHOWN] if not collected.rows else ())))
    refused = [Refused(why=why, role=job.role, recipe=job.recipe or bump.subject.family[0].key, concurrency=job.concurrency)
               for why in lost]
    baseline = bump.subject.plan.baseline
    gated = scores(collected.rows, _thresholds(bump, job), baseline.rows if baseline else (), samples=collected.samples)
    warnings = {name: judged.warnings.get(name, 0) + found.warnings.get(name, 0) for name in {*judged.warnings, *found.warnings}}
    failures = judged.failures
    if job.conclusion not in GOOD:
        failures = (*failures, _failure(context, job, found, gated, warnings, _nodes(shelf, logs, found.node)))
    judged = _without_stale(run, job, judged)
    notes = (*judged.notes, *mine.notes, *shelf.notes, *skipped)
    return msgspec.structs.replace(
        judged,
        failures=failures,
        rows=_newest(judged.rows, collected.rows),
        accounting=_merge(judged.accounting, collected.accounting),
        samples=_merge(judged.samples, collected.samples),
        reported=(*judged.reported, *_placed(bump, job, collected, heard)),
        scores=_merge(judged.scores, gated),
        warnings=dict(sorted(warnings.items())),
        notes=tuple(dict.fromkeys(notes)),
        refused=tuple(dict.fromkeys((*judged.refused, *refused))),
    )


def _thresholds(bump: Bump, job: Job) -> dict[str, float]:
    """The gates of the recipe that the job measures: recipes of a family may ask the same eval for different scores."""
    owner = job.recipe or bump.subject.family[0].key
    own = {point.eval.task: point.eval.threshold for recipe in bump.subject.family if recipe.key == owner
           for point in recipe.points if point.eval}
    return own or bump.subject.plan.thresholds


def _triaged(context: Context, shelf: Shelf, artifacts: Sequence[Artifact]) -> tuple[list[Artifact], tuple[Triage, Heard]]:
    """The logs that can be read, the first error in them and what their servers say of themselves; of those that cannot, the
    notes."""
    before = len(shelf.notes)

    def read(files: Iterable[tuple[str, BinaryIO]]) -> tuple[Triage, Heard]:
        listener = Listener(context.knowledge.reported)
        return triage(files, context.knowledge.signatures, listener=listener), listener.reported

    logs, whole = _readable(shelf, artifacts, read)
    missing = () if logs else (NO_LOG,)
    found, heard = whole or (Triage(), ())
    return logs, (msgspec.structs.replace(found, notes=(*found.notes, *shelf.notes[before:], *missing)), heard)


def _placed(bump: Bump, job: Job, collected: Collected, heard: Heard) -> Heard:
    """What logs and results of a job say of its servers, for each point that the job measured."""
    owner = job.recipe or bump.subject.family[0].key
    measured = {row.point.concurrency for row in collected.rows} | {one.concurrency for one in collected.samples}
    points = measured | ({job.concurrency} if job.concurrency is not None else set()) or {0}
    own = [msgspec.structs.replace(one, role=job.role, recipe=owner) for one in (*heard, *collected.reported)]
    return tuple(msgspec.structs.replace(one, concurrency=one.concurrency or point) for point in sorted(points) for one in own
                 if one.concurrency in (0, point))


def _collected(context: Context, bump: Bump, run: Run, job: Job, shelf: Shelf, artifacts: Sequence[Artifact]) -> Collected:
    """The results that hold and are of the job's own points. Two artifacts that contradict each other both count not."""

    owner = job.recipe or bump.subject.family[0].key

    def read(files: Iterable[tuple[str, BinaryIO]]) -> Collected:
        found = collect(files, recipe=owner, run=run.id, attempt=job.attempt, head=run.head,
                        metrics=context.knowledge.metrics)
        try:
            msgspec.json.encode(found)
        except (UnicodeError, OverflowError) as error:
            raise BadInput(f"a value that cannot be kept: {error}", "correct the result file") from None
        return found

    good, found = _readable(shelf, artifacts, read)
    points = frozenset().union(*(points_of(one.name) for one in good))
    allowed = points or ({job.concurrency} if job.concurrency is not None else None)
    found = _owned(found or Collected(), job, owner, shelf)
    if allowed is None:
        return found
    told = {row.point.concurrency for row in found.rows} | {one.concurrency for one in (*found.accounting, *found.samples)}
    for other in sorted(told - allowed):
        shelf.notes.append(note(job.name, f"a result says concurrency {other}, which is not this job's"))
    return msgspec.structs.replace(
        found,
        rows=tuple(row for row in found.rows if row.point.concurrency in allowed),
        accounting=tuple(one for one in found.accounting if one.concurrency in allowed),
        samples=tuple(one for one in found.samples if one.concurrency in allowed),
    )


def _owned(found: Collected, job: Job, owner: str, shelf: Shelf) -> Collected:
    """The results under their recipe's name; rows of another recipe are not this job's, where its name says whose it is."""
    others = sorted({row.point.recipe for row in found.rows} - {owner}) if job.recipe else []
    for other in others:
        shelf.notes.append(note(job.name, f"a result says recipe {other}, which is not this job's"))
    replace = msgspec.structs.replace
    return replace(
        found, rows=tuple(row for row in found.rows if row.point.recipe not in others),
        accounting=tuple(replace(one, recipe=owner) for one in found.accounting),
        samples=tuple(replace(one, recipe=owner) for one in found.samples),
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
                      triage=found, nodes=nodes if found.node else (), recipe=job.recipe)


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
    mine = (job.role, job.concurrency, job.recipe)
    shared = any(other.name != job.name and (other.role, other.concurrency, other.recipe) == mine for other in run.jobs)
    if job.attempt == 1 or job.concurrency is None or shared:
        return judged
    of_eval = job.role == "eval"

    def stale(concurrency: int, recipe: str) -> bool:
        return concurrency == job.concurrency and job.recipe in ("", recipe)

    rows = tuple(row for row in judged.rows
                 if (row.metric == "eval") != of_eval or not stale(row.point.concurrency, row.point.recipe))
    names = ("samples", "scores") if of_eval else ("accounting",)
    others: dict[str, Any] = {name: tuple(one for one in getattr(judged, name) if not stale(one.concurrency, one.recipe))
                              for name in names}
    others["refused"] = tuple(one for one in judged.refused if (one.role, one.concurrency) != (job.role, job.concurrency)
                              or not stale(job.concurrency, one.recipe))
    others["reported"] = tuple(one for one in judged.reported
                               if one.role != job.role or not stale(one.concurrency, one.recipe))
    return msgspec.structs.replace(judged, rows=rows, **others)


def _newest(before: Sequence[Row], fresh: Sequence[Row]) -> tuple[Row, ...]:
    """Rows of a later attempt replace those of an earlier one at the same point: aggregates of a rerun go stale."""
    again = {(row.metric, row.task, row.stat, row.point) for row in fresh}
    return (*(row for row in before if (row.metric, row.task, row.stat, row.point) not in again), *fresh)


def _merge(before: Sequence, fresh: Sequence) -> tuple:
    def key(one: Any) -> tuple:
        return one.recipe, one.concurrency, getattr(one, "task", ""), getattr(one, "metric", "")

    new = {key(one) for one in fresh}
    return tuple(sorted((*(one for one in before if key(one) not in new), *fresh), key=key))
