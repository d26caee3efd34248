"""The runners of the simulated forge: runs begin, their jobs end, and a run is over once all its jobs are."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from bot.model.bump import Subject
from bot.model.run import Job, Run
from tests.fakes.facts import START

BAD = ("failure", "cancelled")
MINUTES = {"throughput": 100, "eval": 30, "other": 1}


class Runners:
    """Runs by id. `late`: they are listed only after a while, and hidden until then; `dying` were told to stop."""

    def __init__(self, subject: Subject, *, late: bool) -> None:
        self.subject, self.late, self.now = subject, late, START
        self.runs: dict[int, Run] = {}
        self.hidden: set[int] = set()
        self.dying: set[int] = set()
        self.measuring: dict[int, bool] = {}
        self.classes: dict[int, str | None] = {}
        self._ids = 100

    def _new(self, stage: str, head: str, reason: str, event: str, nonce: str | None = None, step: int = 1) -> Run:
        self._ids += 1
        run = Run(id=self._ids, attempt=1, workflow=f"{stage}.yml", event=event, head=head, stage=stage, reason=reason,
                  status="queued", created=self.now, nonce=nonce, step=step)
        self.runs[run.id], self.measuring[run.id] = run, True
        if self.late:
            self.hidden.add(run.id)
        return run

    def _job(self, role: str, concurrency: int | None, attempt: int) -> Job:
        self._ids += 1
        return Job(id=self._ids, name=f"{role} c{concurrency}", attempt=attempt, status="queued", role=role,
                   concurrency=concurrency, gpus=0 if role == "other" else 16)

    def alive(self) -> list[Run]:
        """Runs that are not over, oldest first."""
        return [run for run in self.runs.values() if not run.terminal]

    def begin(self, run: Run) -> None:
        """The run's jobs come into being; without anything to measure it is over, every job skipped."""
        if run.jobs or run.terminal:
            return
        if not self.measuring[run.id]:
            skipped = replace(self._job("other", None, 1), status="completed", conclusion="skipped")
            self.runs[run.id] = replace(run, status="completed", conclusion="skipped", jobs=(skipped,))
            return
        whole = [*(("throughput", c) for c in (1, 2, 4)), ("eval", 4)]
        trimmed = [(point.kind, point.concurrency) for point in self.subject.plan.smoke if point.stage == run.step]
        cells = {"smoke": trimmed, "repeat": [("throughput", 2)], "control": whole[:-1]}.get(run.stage, whole)
        jobs = tuple(self._job(role, concurrency, 1) for role, concurrency in (*cells, ("other", None)))
        self.runs[run.id] = replace(run, status="in_progress", jobs=jobs)

    def end_job(self, run: Run, job: Job, conclusion: str, class_: str | None = None, *, minutes: float | None = None) -> None:
        """A job ran this long and ended so; the run is over once all its jobs are."""
        took = timedelta(minutes=MINUTES[job.role] if minutes is None else minutes)
        self.classes[job.id] = "cancelled-by-concurrency" if conclusion == "cancelled" else class_
        ended = replace(job, status="completed", conclusion=conclusion, started=self.now - took, completed=self.now)
        self._over(run, tuple(ended if other.id == job.id else other for other in run.jobs))

    def _over(self, run: Run, jobs: tuple[Job, ...]) -> None:
        run = replace(run, status="in_progress", jobs=jobs)
        if all(job.status == "completed" for job in jobs):
            found = {job.conclusion for job in run.latest_jobs}
            last = next((bad for bad in BAD if bad in found), "success")
            run = replace(run, status="completed", conclusion=last)
            self.dying.discard(run.id)
        self.runs[run.id] = run

    def stop_run(self, run: Run, conclusion: str = "cancelled") -> None:
        """The run ends at once: cancelled, or failed before it had a job that measures."""
        jobs = run.jobs if conclusion == "cancelled" else (replace(self._job("other", None, 1), status="queued"),)
        for job in jobs:
            if job.status != "completed":
                self.classes[job.id] = "cancelled-by-concurrency"
        ended = tuple(job if job.status == "completed" else replace(job, status="completed", conclusion=conclusion) for job in jobs)
        self.runs[run.id] = replace(run, status="completed", conclusion=conclusion, jobs=ended)
        self.dying.discard(run.id)
