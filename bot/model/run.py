"""Nouns for runs on the forge, and for what a failed job turned out to be."""

from __future__ import annotations

from datetime import datetime
from math import fsum
from typing import Literal

from msgspec import Struct

from bot.model.text import Text

Stage = Literal["smoke", "sweep", "repeat", "control"]
Reason = Literal["dispatch", "label", "push", "unlabel", "ready"]
TERMINAL = "completed"


class Triage(Struct, frozen=True, kw_only=True):
    """What a log says first went wrong on the server's side (CONTRACTS `triage`). `line` counts from 1.

    `signature` and `class_` are None when no known pattern fits; `excerpt` is the signature's own wording filled
    with its captures, the only form of log text that may appear on the forge.
    """

    signature: str | None = None
    class_: str | None = None
    first_error: str | None = None
    excerpt: str | None = None
    file: str | None = None
    line: int | None = None
    node: str | None = None
    confidence: Literal["sure", "likely", "unknown"] = "unknown"
    others: tuple[str, ...] = ()
    warnings: dict[str, int] = {}
    cause: Text | None = None
    repair: str | None = None
    notes: tuple[str, ...] = ()


class Job(Struct, frozen=True, kw_only=True):
    """One job of one attempt. `gpus` is what it holds while it runs; `role` says which point or eval it is, if any, and
    `recipe` whose, where its name tells: recipes of a family share concurrencies."""

    id: int
    name: str
    attempt: int
    status: Literal["queued", "in_progress", "completed"]
    conclusion: str | None = None
    started: datetime | None = None
    completed: datetime | None = None
    gpus: int = 0
    role: Literal["throughput", "eval", "other"] = "other"
    concurrency: int | None = None
    recipe: str = ""

    def gpu_hours(self, now: datetime) -> float:
        """GPUs x (completed - started), cancelled jobs too; a job still running counts up to `now`."""
        if self.started is None:
            return 0.0
        return self.gpus * ((self.completed or now) - self.started).total_seconds() / 3600


class Run(Struct, frozen=True, kw_only=True):
    """One workflow run that is ours, all its attempts' jobs, and why it exists. `step` is the stage of a smoke it ran."""

    id: int
    attempt: int
    workflow: str
    event: str
    head: str
    stage: Stage
    reason: Reason
    status: Literal["queued", "in_progress", "completed"]
    conclusion: str | None = None
    created: datetime
    nonce: str | None = None
    step: int = 1
    jobs: tuple[Job, ...] = ()

    @property
    def terminal(self) -> bool:
        return self.status == TERMINAL

    @property
    def ended(self) -> datetime | None:
        """When its last job was over; None while it is not, and for a run without jobs its beginning."""
        if not self.terminal:
            return None
        return max((job.completed for job in self.jobs if job.completed), default=self.created)

    @property
    def latest_jobs(self) -> tuple[Job, ...]:
        """The newest attempt of each job: a rerun of the failed ones keeps the others as they were."""
        newest = {job.name: job for job in sorted(self.jobs, key=lambda job: job.attempt)}
        return tuple(newest.values())

    def gpu_hours(self, now: datetime) -> float:
        return fsum(job.gpu_hours(now) for job in self.jobs)
