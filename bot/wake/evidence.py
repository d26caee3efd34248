"""What a run's artifacts say, judged once: results into rows and scores, logs of failed jobs into their first error.

An artifact counts for a job only if its name fits the job's kind and concurrency and it was uploaded in the job's time
(SECURITY.md rule 5). What was judged is kept in memory; only jobs that ended since are read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from fnmatch import fnmatch
from typing import BinaryIO

import msgspec

from bot.diagnose.eval_cause import gate_cause
from bot.diagnose.logs import Opened
from bot.diagnose.triage import triage
from bot.diagnose.words import node_of
from bot.model.bump import Bump, JobFailure, Judged
from bot.model.forge import Artifact
from bot.model.result import Row, Score
from bot.model.run import Job, Run, Triage
from bot.results import Collected, collect
from bot.verdict.compare import compare
from bot.verdict.gates import scores
from bot.wake.context import Context

ARTIFACT_LIMIT = 512 << 20
_CONCURRENCY = re.compile(r"_conc([0-9]+(?:x[0-9]+)*)(?:_|$)")
_LATE = timedelta(minutes=10)


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
    artifacts = [artifact for artifact in context.forge.artifacts(run.id) if not artifact.expired]
    held: dict[int, bytes] = {}
    judged = before or Judged(run=run.id, head=run.head, seen=())
    for job in fresh:
        judged = _with_job(context, bump, run, job, judged, _of_job(context, artifacts, job), held)
    return _with_verdict(context, bump, run, msgspec.structs.replace(judged, seen=seen))


def _with_job(context: Context, bump: Bump, run: Run, job: Job, judged: Judged, artifacts: Sequence[Artifact],
              held: dict[int, bytes]) -> Judged:
    logs, results = _split(context, artifacts)
    collected = collect(_files(context, results, held), recipe=bump.subject.family[0].key, run=run.id, attempt=job.attempt,
                        head=run.head)
    baseline = bump.subject.plan.baseline
    published = baseline.rows if baseline else ()
    gated = scores(collected.rows, bump.subject.plan.thresholds, published, samples=collected.samples)
    warnings = dict(judged.warnings)
    failures = judged.failures
    found = triage(_files(context, logs, held), context.knowledge.signatures)
    for signature, count in found.warnings.items():
        warnings[signature] = warnings.get(signature, 0) + count
    if job.conclusion not in ("success", "skipped", "neutral"):
        failures = (*failures, _failure(context, job, found, gated, warnings, logs, held))
    return msgspec.structs.replace(
        judged,
        failures=failures,
        rows=_newest(judged.rows, collected),
        accounting=_merge(judged.accounting, collected.accounting),
        samples=_merge(judged.samples, collected.samples),
        scores=_merge(judged.scores, gated),
        warnings=warnings,
        notes=tuple(dict.fromkeys((*judged.notes, *(f"{skip.name}: {skip.why}" for skip in collected.skipped)))),
    )


def _failure(context: Context, job: Job, found: Triage, gated: Sequence[Score], warnings: dict[str, int],
             logs: Sequence[Artifact], held: dict[int, bytes]) -> JobFailure:
    """A failed job: cancelled by its group, broken by a gate that its scores show, or by the first error of its logs."""
    if job.conclusion == "cancelled":
        found = Triage(class_="cancelled-by-concurrency", confidence="likely")
    elif any(score.passed is False for score in gated):
        found = gate_cause(gated, warnings, context.knowledge.signatures)
    minutes = (job.completed - job.started).total_seconds() / 60 if job.started and job.completed else 0.0
    return JobFailure(
        job=job.name, attempt=job.attempt, role=job.role, concurrency=job.concurrency, minutes=minutes, triage=found,
        nodes=_nodes(_files(context, logs, held), found.node),
    )


def _with_verdict(context: Context, bump: Bump, run: Run, judged: Judged) -> Judged:
    """The sweep's verdict so far; smoke points of the same tested head are repeats of its points."""
    baseline = bump.subject.plan.baseline
    if run.stage != "sweep" or not judged.rows or baseline is None:
        return judged
    repeats: list[Row] = []
    for other in bump.world.runs:
        earlier = next((one for one in bump.memory.judged if one.run == other.id), None)
        if other.stage == "smoke" and other.head == bump.tested_head and earlier:
            repeats += [row for row in earlier.rows if row.metric != "eval"]
    changed = any(wanted.serving_path_changed for wanted in bump.memory.applied)
    reasons = (*baseline.notes, *(("serving-path-changed",) if changed else ()))
    verdict = compare(
        judged.rows, baseline.rows, repeat=repeats, metrics=context.knowledge.metrics, scores=judged.scores,
        accounting=judged.accounting, baseline_accounting=baseline.accounting, reasons=reasons,
    )
    return msgspec.structs.replace(judged, verdict=verdict)


def _of_job(context: Context, artifacts: Iterable[Artifact], job: Job) -> list[Artifact]:
    """The artifacts that this job may have uploaded: its time, its concurrency, its kind."""
    if job.started is None or job.completed is None:
        return []
    evals = context.layout.artifacts.evals
    mine = []
    for artifact in artifacts:
        named = _CONCURRENCY.search(artifact.name)
        points = {int(text) for text in named.group(1).split("x")} if named else {job.concurrency}
        of_eval = any(fnmatch(artifact.name, glob) for glob in evals)
        in_time = job.started <= artifact.created <= job.completed + _LATE
        if in_time and job.concurrency in points and of_eval == (job.role == "eval"):
            mine.append(artifact)
    return mine


def _split(context: Context, artifacts: Iterable[Artifact]) -> tuple[list[Artifact], list[Artifact]]:
    """Logs first, results second; what the layout names neither is not read."""
    logs = [one for one in artifacts if any(fnmatch(one.name, glob) for glob in context.layout.artifacts.logs)]
    results = [one for one in artifacts if one not in logs
               and any(fnmatch(one.name, glob) for glob in context.layout.artifacts.results)]
    return logs, results


def _files(context: Context, artifacts: Iterable[Artifact], held: dict[int, bytes]) -> Iterator[tuple[str, BinaryIO]]:
    """Every file of the artifacts, as `<artifact>/<path in it>`; each artifact is fetched once a look."""
    for artifact in artifacts:
        if artifact.id not in held:
            into = io.BytesIO()
            context.forge.download(artifact.id, into, ARTIFACT_LIMIT)
            held[artifact.id] = into.getvalue()
        for name, stream in Opened([(f"{artifact.name}.zip", io.BytesIO(held[artifact.id]))], everything=True):
            yield f"{artifact.name}/{name.partition('.zip/')[2]}", stream


def _nodes(files: Iterable[tuple[str, BinaryIO]], node: str | None) -> tuple[str, ...]:
    """The nodes that wrote logs, for `node 2 of 4`."""
    if node is None:
        return ()
    return tuple(sorted({found for name, _ in files if (found := node_of(name))} | {node}))


def _newest(before: Sequence[Row], collected: Collected) -> tuple[Row, ...]:
    """Rows of a later attempt replace those of an earlier one at the same point: aggregates of a rerun go stale."""
    fresh = {(row.metric, row.task, row.stat, row.point) for row in collected.rows}
    return (*(row for row in before if (row.metric, row.task, row.stat, row.point) not in fresh), *collected.rows)


def _merge(before: Sequence, fresh: Sequence) -> tuple:
    key = lambda one: (one.concurrency, getattr(one, "task", ""), getattr(one, "metric", ""))  # noqa: E731
    new = {key(one) for one in fresh}
    return tuple(sorted((*(one for one in before if key(one) not in new), *fresh), key=key))
