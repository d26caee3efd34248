"""The runs that a story tells or leaves to be measured: each names workflows, pools and artifacts that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import BadInput
from bot.rehearse.declaration import Job, Run, Workflow
from bot.rehearse.measuring import INPUTS
from bot.rehearse.reading import Lines

if TYPE_CHECKING:
    from bot.rehearse.scenario import Scenario

HOSTED = "hosted"
DISPATCH = "workflow_dispatch"


def check(found: Scenario, run: Run, at: tuple[str | int, ...], lines: Lines) -> None:
    """Refuses a run that could not be played, with the line that says so."""
    workflows = {workflow.file: workflow for workflow in found.declared.workflows}
    if run.workflow not in workflows:
        lines.refuse((*at, "workflow"), f"`{run.workflow}` is none of the workflows", "name one of them or add it")
    if run.event not in workflows[run.workflow].triggers:
        lines.refuse((*at, "event"), f"`{run.workflow}` has no trigger `{run.event}`", "add the trigger or name another event")
    _check_played(run, workflows[run.workflow], at, lines)
    for number, attempt in enumerate(run.attempts, 1):
        for index, job in enumerate(attempt.jobs):
            _check_job(found, run, number, job, (*at, "attempts", number - 1, "jobs", index), lines)


def _check_played(run: Run, workflow: Workflow, at: tuple[str | int, ...], lines: Lines) -> None:
    """A run is told, or it is measured; one that is measured is dispatched with what says which points."""
    if run.measure and run.attempts:
        lines.refuse((*at, "measure"), "a run is told by `attempts`, or measured", "keep one")
    if not run.measure and not run.attempts:
        lines.refuse((*at, "attempts"), "the run has no attempt", "tell its jobs, or say `measure: true`")
    if run.measure and (run.event != DISPATCH or (lacking := [name for name in INPUTS if name not in
                                                              workflow.triggers[DISPATCH].inputs])):
        said = f"has no inputs {', '.join(lacking)}" if run.event == DISPATCH else "is not dispatched"
        lines.refuse((*at, "measure"), f"what it measures stands in a dispatch's inputs, and this run {said}",
                     f"measure a {DISPATCH} of a workflow with the inputs {', '.join(INPUTS)}")


def _check_job(found: Scenario, run: Run, attempt: int, job: Job, at: tuple[str | int, ...], lines: Lines) -> None:
    if job.pool not in {HOSTED, *(pool.label for pool in found.declared.pools)}:
        lines.refuse((*at, "pool"), f"`{job.pool}` is none of the pools", f"name one of them, or `{HOSTED}`")
    for index, name in enumerate(job.artifacts):
        if not found.artifact(run.id, attempt, name).is_dir():
            lines.refuse(
                (*at, "artifacts", index),
                f"no folder artifacts/{run.id}/{attempt}/{name}",
                "put the artifact's files there or drop the name",
            )


def owners(found: Scenario) -> None:
    """An artifact that no job uploads is a misspelt name: the story would go on without it and nobody would see why."""
    named = {
        found.artifact(run.id, number, name)
        for told in found.declared.variants.told().values()
        for run in told.runs
        for number, attempt in enumerate(run.attempts, 1)
        for job in attempt.jobs
        for name in job.artifacts
    }
    for folder in sorted((found.folder / "artifacts").glob("*/*/*")):
        if folder not in named:
            raise BadInput("no job uploads this artifact", "name it under a job's artifacts or remove it", file=str(folder))
