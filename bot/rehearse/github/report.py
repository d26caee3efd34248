"""What happened, for a rehearsal's report: comments with their edits, runs with their GPU-hours."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from bot.rehearse.github.state import Job, Run, Store


class CommentMade(Struct, frozen=True, kw_only=True):
    """A comment as it stands; `edits` counts the changes of its text."""

    id: int
    number: int
    author: str
    body: str
    edits: int
    created: datetime
    updated: datetime


class JobMade(Struct, frozen=True, kw_only=True):
    name: str
    attempt: int
    status: str
    conclusion: str | None
    gpus: int
    started: datetime | None
    completed: datetime | None
    gpu_hours: float


class RunMade(Struct, frozen=True, kw_only=True):
    """A run with the jobs of all its attempts; `gpu_hours` is GPUs x (completed - started) over them."""

    id: int
    attempt: int
    workflow: str
    event: str
    action: str | None
    actor: str
    title: str
    head: str
    status: str
    conclusion: str | None
    created: datetime
    jobs: tuple[JobMade, ...]
    gpu_hours: float


def gpu_hours(job: Job, now: datetime) -> float:
    """GPU-hours a job held so far; a job that never started held none."""
    if job.started is None:
        return 0.0
    return job.script.gpus * ((job.completed or now) - job.started).total_seconds() / 3600


def comments_made(store: Store, number: int | None) -> list[CommentMade]:
    """Comments of one pull request, or of all, oldest first."""
    return [CommentMade(id=c.id, number=c.number, author=c.author.login, body=c.body, edits=c.edits, created=c.created,
                        updated=c.updated) for c in store.comments_of(number)]


def runs_made(store: Store, now: datetime) -> list[RunMade]:
    """Every run in order of its creation; jobs still running are counted up to `now`."""
    return [_run(run, now) for run in store.runs.values()]


def _run(run: Run, now: datetime) -> RunMade:
    jobs = tuple(
        JobMade(
            name=job.name,
            attempt=job.attempt,
            status=job.status,
            conclusion=job.conclusion,
            gpus=job.script.gpus,
            started=job.started,
            completed=job.completed,
            gpu_hours=gpu_hours(job, now),
        )
        for job in run.jobs
    )
    return RunMade(
        id=run.id,
        attempt=run.attempt,
        workflow=run.workflow.file,
        event=run.cause.event,
        action=run.cause.action,
        actor=run.cause.actor,
        title=run.title,
        head=run.head,
        status=run.status,
        conclusion=run.conclusion,
        created=run.created,
        jobs=jobs,
        gpu_hours=sum(job.gpu_hours for job in jobs),
    )
