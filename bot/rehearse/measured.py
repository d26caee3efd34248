"""Measured runs among those of a story: planned when they are dispatched, measured before the clock moves on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.rehearse.github.declare import AttemptScript, Cause, JobScript, RunScript, Workflow
from bot.rehearse.measuring import BEFORE_MINUTES, Ask, Planned, Runner, asked, uploads

if TYPE_CHECKING:
    from bot.rehearse import declaration as told
    from bot.rehearse.github import LoopbackGitHub
    from bot.rehearse.github.state import Job, Run


class Measuring:
    """The measured runs of one rehearsal. `pools` are those that the scenario declares."""

    def __init__(self, runner: Runner, pools: frozenset[str]) -> None:
        self._runner, self._pools = runner, pools
        self._asks: dict[int, Ask] = {}
        self._jobs: dict[tuple[int, str], Planned] = {}
        self._done: set[int] = set()

    def script(self, run: told.Run, workflow: Workflow, cause: Cause) -> RunScript:
        """The jobs of a run, none of them measured yet. What cannot be planned fails in its first job, as on GitHub."""
        ask, caller = asked(run.id, cause.inputs), workflow.file.rpartition(".")[0]
        try:
            planned = self._runner.plan(ask)
        except BumpbotError as error:
            job = JobScript(name=f"{caller} / plan", minutes=BEFORE_MINUTES, conclusion="failure", log=str(error))
            return RunScript(id=run.id, attempts=(AttemptScript(jobs=(job,)),))
        self._asks[run.id] = ask
        self._jobs |= {(run.id, f"{caller} / {job.name}"): job for job in planned}
        made = [JobScript(name=f"{caller} / {job.name}", pool=self._pool(job), gpus=job.gpus, starts_after_minutes=BEFORE_MINUTES)
                for job in planned]
        plan = JobScript(name=f"{caller} / plan", minutes=BEFORE_MINUTES)
        return RunScript(id=run.id, attempts=(AttemptScript(jobs=(plan, *made)),))

    def measure(self, hub: LoopbackGitHub) -> None:
        """Runs every job of theirs that was asked for, in the order it was, and writes into its script what came of it."""
        for run in list(hub.store.runs.values()):
            if (ask := self._asks.get(run.id)) is None:
                continue
            for job in run.jobs:
                planned = self._jobs.get((run.id, job.name))
                if planned is not None and job.id not in self._done and not job.completed and not job.cancelled:
                    self._measure(ask, run, job, planned)

    def _measure(self, ask: Ask, run: Run, job: Job, planned: Planned) -> None:
        self._done.add(job.id)
        if _broken(run, job):
            job.script = replace(job.script, minutes=0.0, conclusion="skipped", log="a job before it failed, and fail-fast is set")
            return
        done = self._runner.measure(ask, job.attempt, planned)
        job.script = replace(job.script, minutes=done.minutes, conclusion="success" if done.good else "failure", log=done.log,
                             artifacts=uploads(planned, job.attempt, done))

    def _pool(self, job: Planned) -> str:
        return next((label for label in job.labels if label in self._pools), "hosted")


def _broken(run: Run, job: Job) -> bool:
    """Whether fail-fast stops it: GitHub starts no further job of a matrix once one failed."""
    return run.cause.inputs.get("fail-fast") == "true" and any(
        other.script.conclusion == "failure" for other in run.jobs if other.attempt == job.attempt)

