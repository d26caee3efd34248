"""Which runs are ours, what their jobs measure, and why each began: what a bump may count and may stop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from bot.model.bump import Bump
from bot.model.forge import Job as ForgeJob
from bot.model.forge import Labelling, RunInfo
from bot.model.run import Job, Reason, Run, Stage
from bot.ports import Forge

EVENT = {"smoke": "workflow_dispatch", "sweep": "pull_request"}


def ours(forge: Forge, bump: Bump, labellings: Sequence[Labelling], *, since: datetime, pattern: re.Pattern[str]) -> tuple[Run, ...]:
    """Every run of this bump with the jobs of all its attempts; a run seen terminal before is not asked for again."""
    known = {run.id: run for run in bump.world.runs}
    found: list[tuple[RunInfo, Stage]] = []
    heads = {head.sha for head in bump.memory.heads}
    rules = bump.subject.rules
    for info in forge.runs(rules.smoke.workflow, event="workflow_dispatch", since=since):
        if nonce_of(info.title, bump.id) is not None:
            found.append((info, _stage(info.title)))
    if rules.sweep.start == "label":
        infos = forge.runs(rules.sweep.workflow, event="pull_request", since=since)
        found += [(info, "sweep") for info in infos if info.head in heads]
    elif rules.sweep.workflow != rules.smoke.workflow:
        infos = forge.runs(rules.sweep.workflow, event="workflow_dispatch", since=since)
        found += [(info, "sweep") for info in infos if nonce_of(info.title, bump.id) is not None]
    reasons = _reasons([info for info, _ in found if info.event != "workflow_dispatch"], bump, labellings)
    made = [_run(forge, bump, info, stage, known, reasons, pattern) for info, stage in found]
    return tuple(sorted(made, key=lambda run: (run.created, run.id)))


def nonce_of(title: str, bump: str) -> str | None:
    """Our nonce in a run's display title, if the run was dispatched for this bump."""
    found = re.search(rf"bumpbot-{re.escape(bump)}-(?:smoke|sweep)-[0-9]+-[0-9a-f]{{12}}(?![0-9a-f])", title)
    return found.group(0) if found else None


def _stage(title: str) -> Stage:
    return "sweep" if re.search(r"-sweep-[0-9]+-[0-9a-f]{12}(?![0-9a-f])", title) else "smoke"


def _run(forge: Forge, bump: Bump, info: RunInfo, stage: Stage, known: dict[int, Run], reasons: dict[int, Reason],
         pattern: re.Pattern[str]) -> Run:
    before = known.get(info.id)
    if before is not None and before.terminal and before.attempt == info.attempt and info.status == "completed":
        return before
    nonce = nonce_of(info.title, bump.id)
    jobs = tuple(_job(bump, job, pattern) for job in forge.jobs(info.id))
    return Run(
        id=info.id, attempt=info.attempt, workflow=info.workflow, event=info.event, head=_head(bump, info, nonce),
        stage=stage, reason=reasons.get(info.id, "dispatch"), status=info.status, conclusion=info.conclusion,
        created=info.created, nonce=nonce, jobs=jobs,
    )


def _head(bump: Bump, info: RunInfo, nonce: str | None) -> str:
    """A dispatched run's own head is the default branch's; the one it measures stands in its nonce."""
    if nonce is None:
        return info.head
    prefix = nonce.rsplit("-", 1)[-1]
    return next((head.sha for head in bump.memory.heads if head.sha.startswith(prefix)), info.head)


def _job(bump: Bump, job: ForgeJob, pattern: re.Pattern[str]) -> Job:
    """Role and concurrency stand in the job's name; GPUs are those of the recipe's point."""
    name = " ".join(job.name.split())
    found = pattern.search(name)
    role = "other" if found is None else "eval" if found.group("eval") else "throughput"
    concurrency = int(found.group("concurrency")) if found else None
    return Job(
        id=job.id, name=name, attempt=job.attempt, status=job.status, conclusion=job.conclusion, started=job.started,
        completed=job.completed, gpus=_gpus(bump, concurrency) if found else 0, role=role, concurrency=concurrency,
    )


def _gpus(bump: Bump, concurrency: int | None) -> int:
    points = [point for recipe in bump.subject.family for point in recipe.points]
    exact = [point.gpus for point in points if point.concurrency == concurrency]
    return max(exact or [point.gpus for point in points] or [0])


def _reasons(infos: Sequence[RunInfo], bump: Bump, labellings: Sequence[Labelling]) -> dict[int, Reason]:
    """Why each pull-request run began. The forge does not say, so runs and what can start one are put in the same order.

    Of the seed's two runs for one head the older was the push's and the younger the label's; a push to a head that
    conflicts starts nothing, so a push only counts for a run of its own head.
    """
    labels = {bump.subject.rules.sweep.label, *bump.subject.rules.sweep.labels}
    marks: list[tuple[datetime, int, Reason, str | None]] = [(head.at, 0, "push", head.sha) for head in bump.memory.heads]
    marks += [(said.at, 1, "label" if said.added else "unlabel", None) for said in labellings if said.label in labels]
    marks.sort(key=lambda mark: (mark[0], mark[1]))
    reasons: dict[int, Reason] = {}
    for info in sorted(infos, key=lambda info: (info.created, info.id)):
        fits = [mark for mark in marks if mark[3] in (None, info.head) and mark[0] <= info.created]
        if not fits:
            continue
        nearest = max(mark[0] for mark in fits)
        same = [mark for mark in fits if (nearest - mark[0]).total_seconds() <= 5]
        reasons[info.id] = same[0][2]
        marks.remove(same[0])
    return reasons
