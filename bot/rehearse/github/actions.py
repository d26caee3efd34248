"""The workflow engine: runs queue for runners, hold GPUs, upload, conclude and cancel each other; it moves no clock.

`settle(now)` plays everything due up to `now`, in order of time; nothing happens between two calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from bot.rehearse.github.archive import Shelf, Taken
from bot.rehearse.github.declare import Account, AttemptScript, Cause, JobScript, RunScript, Script, Workflow
from bot.rehearse.github.state import Job, Run, Store
from bot.rehearse.github.triggers import group_of, runs_jobs, title_of

FAILED = ("failure", "timed_out", "cancelled")


class NotPossible(Exception):
    """What the state of a run forbids; the text is GitHub's message."""


class Engine:
    """Every run of the repository: who waits for which runner, who ends when. `told` hears requested and completed."""

    def __init__(self, store: Store, shelf: Shelf, *, script: Script, pools: Mapping[str, int], cancel_seconds: float,
                 told: Callable[[Run, str], None]) -> None:
        self.store, self.shelf, self.script, self.pools = store, shelf, script, dict(pools)
        self.cancel_after, self.told = timedelta(seconds=cancel_seconds), told
        self._free = {pool: list(range(count)) for pool, count in self.pools.items()}
        self._slots: dict[int, int] = {}
        self._line: list[tuple[Run, Job]] = []
        self._busy: list[tuple[Run, Job]] = []

    # -- runs come and go ---------------------------------------------------------------------------------------

    def start(self, workflow: Workflow, cause: Cause, *, head: str, branch: str, actor: Account, now: datetime) -> Run:
        """A new run; in its concurrency group it may cancel, or wait for, the others."""
        plays = self.script(workflow, cause, head) if workflow.unconditional or runs_jobs(workflow, cause) else None
        number = plays.id if plays and plays.id is not None else self.store.next_run()
        if number in self.store.runs:
            raise ValueError(f"the script gives run id {number} twice")
        if plays:
            _check(plays)
        count = sum(run.workflow.file == workflow.file for run in self.store.runs.values()) + 1
        run = Run(
            id=number,
            number=count,
            workflow=workflow,
            cause=cause,
            head=head,
            branch=branch,
            actor=actor,
            script=plays,
            title=title_of(workflow, cause, head=head, run=number),
            created=now,
            begun=now,
            updated=now,
            group=group_of(workflow, cause, head=head, run=number),
        )
        self.store.runs[number] = run
        self._enter(run, now)
        return run

    def _enter(self, run: Run, now: datetime, names: frozenset[str] | None = None) -> None:
        """Into the group: the newest takes the one pending place, then those in progress are cancelled or awaited."""
        self.told(run, "requested")
        rivals = [
            r
            for r in self.store.runs.values()
            if run.group and r.group == run.group and r is not run and r.status != "completed"
        ]
        run.jobs += self._jobs(run, now, names)
        run.status = "pending"
        swift = run.workflow.concurrency is not None and run.workflow.concurrency.cancel_in_progress
        for rival in sorted(rivals, key=lambda rival: rival.status != "pending"):
            if rival.status == "pending" or swift:
                self.cancel(rival, now)
        if all(rival.status == "completed" for rival in rivals) and run.status == "pending":
            self._begin(run, now)

    def _jobs(self, run: Run, now: datetime, names: frozenset[str] | None) -> list[Job]:
        scripts = [script for script in self._scripts(run) if names is None or script.name in names]
        return [
            Job(id=self.store.next("job"), name=script.name, attempt=run.attempt, script=script, queued=now, ready=now)
            for script in scripts
        ]

    def _scripts(self, run: Run) -> list[JobScript]:
        """The jobs of this attempt: those scripted for it, and for names it leaves out what they played last."""
        played: dict[str, JobScript] = {}
        attempts: tuple[AttemptScript, ...] = run.script.attempts[: run.attempt] if run.script else ()
        for attempt in attempts:
            played |= {script.name: script for script in attempt.jobs}
        return list(played.values())

    def _begin(self, run: Run, now: datetime) -> None:
        run.status, run.begun, run.updated = "queued", now, now
        for job in run.jobs:
            if not job.completed:
                job.ready = now + timedelta(minutes=job.script.starts_after_minutes)
                self._line.append((run, job))
        self._conclude(run, now)
        self._seat(now)

    def cancel(self, run: Run, now: datetime) -> None:
        """Waiting jobs end at once; running ones after the runner has let go (`cancel_seconds`)."""
        if run.status == "completed":
            raise NotPossible("Cannot cancel a workflow run that is completed.")
        if run.cancelled:
            return
        run.cancelled, run.updated = True, now
        for job in run.jobs:
            if job.completed:
                continue
            job.cancelled = True
            if job.started is None:
                self._end(run, job, now)
            else:
                job.ends = min(job.ends or now, now + self.cancel_after)
        self._conclude(run, now)

    def rerun(self, run: Run, actor: Account, now: datetime, *, failed_only: bool) -> None:
        """One attempt more, of the failed jobs or of all."""
        if run.status != "completed":
            raise NotPossible("The workflow run containing this job is already running")
        names = frozenset(job.name for job in run.latest() if job.conclusion in FAILED) if failed_only else None
        if names is not None and not names:
            raise NotPossible("This workflow run cannot be retried: it has no failed jobs")
        run.kept[run.attempt] = {"run_attempt": run.attempt, "status": run.status, "conclusion": run.conclusion,
                                 "run_started_at": run.begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                 "updated_at": run.updated.strftime("%Y-%m-%dT%H:%M:%SZ")}
        run.attempt, run.conclusion, run.cancelled, run.rerunner = run.attempt + 1, None, False, actor
        run.begun = run.updated = now
        self._enter(run, now, names)

    # -- time ---------------------------------------------------------------------------------------------------

    def next_change(self) -> datetime | None:
        """When something happens next if nobody acts; None when all is quiet."""
        ends = [job.ends for _, job in self._busy if job.ends]
        waits = [job.ready for _, job in self._line if self._room(job)]
        return min([*ends, *waits], default=None)

    def settle(self, now: datetime) -> None:
        while (due := self.next_change()) is not None and due <= now:
            ending = [(run, job) for run, job in self._busy if job.ends == due]
            for run, job in ending:
                self._end(run, job, due)
                self._conclude(run, due)
            self._seat(due)

    def _room(self, job: Job) -> bool:
        return job.script.pool not in self.pools or bool(self._free[job.script.pool])

    def _seat(self, now: datetime) -> None:
        """Every job that is ready and finds a runner starts, in declared order."""
        for run, job in [pair for pair in self._line if pair[1].ready <= now]:
            if job.completed or job.started or not self._room(job):
                continue
            self._line.remove((run, job))
            self._busy.append((run, job))
            pool = job.script.pool
            if pool in self.pools:
                self._slots[job.id] = self._free[pool].pop(0)
            slot = self._slots.get(job.id, 0)
            job.started, job.ends = now, now + timedelta(minutes=job.script.minutes)
            job.runner = job.script.runner or f"{pool}-{slot:02d}"
            run.status, run.updated = "in_progress", now

    def _end(self, run: Run, job: Job, now: datetime) -> None:
        for places in (self._line, self._busy):
            places[:] = [pair for pair in places if pair[1] is not job]
        if (slot := self._slots.pop(job.id, None)) is not None:
            self._free[job.script.pool] = sorted([*self._free[job.script.pool], slot])
        job.completed, run.updated = now, now
        job.conclusion = "cancelled" if job.cancelled else job.script.conclusion
        for upload in () if job.cancelled else job.script.artifacts:
            try:
                self.shelf.put(run, job.attempt, upload, now)
            except Taken as taken:
                job.conclusion, job.note = "failure", str(taken)

    def _conclude(self, run: Run, now: datetime) -> None:
        if run.status == "completed" or any(not job.completed for job in run.jobs):
            return
        if run.status == "pending" and not run.cancelled:
            return
        run.status, run.conclusion, run.updated = "completed", _conclusion(run), now
        self.told(run, "completed")
        self._promote(run.group, now)

    def _promote(self, group: str | None, now: datetime) -> None:
        mates = [r for r in self.store.runs.values() if group and r.group == group and r.status != "completed"]
        if mates and all(run.status == "pending" for run in mates):
            self._begin(mates[-1], now)


def _check(script: RunScript) -> None:
    """A script that cannot be played is the caller's mistake, told before anything starts."""
    for attempt in script.attempts:
        names = [job.name for job in attempt.jobs]
        if len(set(names)) < len(names):
            raise ValueError(f"two jobs of one attempt share a name: {sorted(names)}")
        for job in attempt.jobs:
            for upload in job.artifacts:
                if not upload.folder.is_dir():
                    raise ValueError(f"artifact {upload.name} of job {job.name}: no such folder: {upload.folder}")


def _conclusion(run: Run) -> str:
    """A run that was cancelled is `cancelled`, whatever failed before; else the worst of its jobs."""
    ended = {job.conclusion for job in run.latest()}
    if run.cancelled:
        return "cancelled"
    if ended & {"failure", "timed_out"}:
        return "failure"
    if "cancelled" in ended:
        return "cancelled"
    return "skipped" if ended <= {"skipped"} else "success"
