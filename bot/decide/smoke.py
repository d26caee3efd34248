"""The targeted smoke: dispatched for one exact head, judged by job, retried for the weather, repaired for its own faults."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, report
from bot.decide.classes import INFRASTRUCTURE, response
from bot.decide.phase import failed_jobs, labelled_by, sweep_labels
from bot.decide.progress import progress
from bot.decide.say import say
from bot.model.action import Action, Cancel, Dispatch, Label, Push, Remember, Rerun, Unlabel
from bot.model.bump import Approval, Bump, JobFailure, Judged, Wanted
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run


def due(bump: Bump, head: str) -> tuple[Action, ...]:
    """Dispatches the smoke, unless it cannot be paid; runs on an older head are stopped first."""
    early = early_label(bump)
    price = budget.price_smoke(bump)
    if not budget.affords(bump, price):
        return (*early, *ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price))
    return (*strays(bump), *early, dispatch(bump, head))


def running(bump: Bump, run: Run) -> tuple[Action, ...]:
    """While it runs: its comment, and nothing else."""
    return (*strays(bump), *early_label(bump), *say(bump, slot(bump), report.attempt(bump, run, next_="smoke-running"), waiting=True))


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A finished smoke with failed jobs."""
    return (*early_label(bump), *respond(bump, run, judged))


def respond(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """What a failed run calls for: retry the weather, repair the known, stop for the rest; told before it is done."""
    newest = {(job.name, job.attempt) for job in failed_jobs(run)}
    failures = [failure for failure in judged.failures if (failure.job, failure.attempt) in newest]
    own = [failure for failure in failures if failure.triage.class_ not in INFRASTRUCTURE]
    if failures and not own:
        return retry(bump, run)
    called, outcome = response(own[0].triage.class_ if own else None)
    cause = _first(own)
    if called == "stop":
        return _stop(bump, run, outcome, Cause.NONE, cause)
    if bump.world.wanted is None or bump.world.wanted.run != run.id:
        return _stop(bump, run, outcome, _failure_cause(run, Cause.UNREPAIRABLE), cause)
    return repair(bump, run, bump.world.wanted, cause)


def retry(bump: Bump, run: Run) -> tuple[Action, ...]:
    """The failed jobs again in the same run: no repair is spent on a node's package fetch."""
    if run.attempt > bump.subject.limits.infrastructure_retries:
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.RETRIES_EXHAUSTED, None)
    if not run.terminal:
        return ()
    return (*_tell(bump, run, "retry"), Rerun(run=run.id, attempt=run.attempt))


def repair(bump: Bump, run: Run, wanted: Wanted, failure: JobFailure | None) -> tuple[Action, ...]:
    """One known repair, if it stands in scope, within the repair budget, and what follows can be paid."""
    if not wanted.available:
        return _stop(bump, run, Outcome.FAILED, _failure_cause(run, Cause.UNREPAIRABLE), failure, wanted=wanted)
    if budget.repairs_left(bump) <= 0:
        return _stop(bump, run, Outcome.FAILED, Cause.REPAIRS_EXHAUSTED, failure, wanted=wanted)
    price = budget.price_repair(bump)
    if not budget.affords(bump, price):
        # A sweep's gate judged the candidate as it stands; a smoke only priced the next step. So the first is a
        # failure whose repair could not be paid, the second a budget that ran out.
        outcome, cause = (Outcome.FAILED, Cause.GATE) if run.stage == "sweep" else (Outcome.BUDGET_EXHAUSTED, Cause.BUDGET)
        return _stop(bump, run, outcome, cause, failure, wanted=wanted, forecast=price)
    stop = () if run.terminal else (Cancel(run=run.id),)
    off = tuple(Unlabel(name=name) for name in sweep_labels(bump))
    return (*_tell(bump, run, "repair"), *stop, *off, Push(why="repair", expected=bump.head, repair=wanted))


def strays(bump: Bump) -> tuple[Action, ...]:
    """Runs of ours that still hold GPUs for a head that is not under test any more."""
    current = {bump.head, bump.tested_head}
    return tuple(Cancel(run=run.id) for run in bump.world.runs if not run.terminal and run.head not in current)


def early_label(bump: Bump) -> tuple[Action, ...]:
    """A sweep label put on before the smoke passed: kept in mind, taken off where it would start a sweep by itself."""
    if bump.subject.rules.sweep.start != "label":
        return ()
    actions: list[Action] = []
    for name in sweep_labels(bump):
        by = labelled_by(bump, name)
        if by is not None and by != bump.world.me and not bump.memory.approvals:
            actions.append(Remember(fact=Approval(by=by, at=bump.now)))
            actions += say(bump, "status", report.status(bump, about="label-waits", by=by))
        actions.append(Unlabel(name=name))
    return tuple(actions)


def dispatch(bump: Bump, head: str) -> Dispatch:
    """The same facts give the same nonce, so a dispatch that timed out after it took effect is found again."""
    smoke, recipe = bump.subject.rules.smoke, bump.subject.family[0]
    nonce = f"bumpbot-{bump.id}-smoke-{bump.memory.repairs_used}-{head[:12]}"
    keys = " ".join(recipe.key for recipe in bump.subject.family)
    words = {"key": keys, "file": recipe.file, "head": head, "nonce": nonce}
    inputs = {name: fill(value, words) for name, value in smoke.inputs.items()}
    return Dispatch(workflow=smoke.workflow, ref=smoke.ref, inputs=inputs, nonce=nonce, head=head)


def fill(template: str, words: dict[str, str]) -> str:
    """Replaces {name} by its word and leaves every other brace alone."""
    for name, word in words.items():
        template = template.replace("{" + name + "}", word)
    return template


def slot(bump: Bump) -> str:
    """Where the comment of the present attempt stands."""
    return f"attempt-{bump.memory.repairs_used}"


def relabel(bump: Bump, head: str) -> tuple[Action, ...]:
    """The sweep label, taken off first where it is already on: only putting it on starts anything."""
    on = sweep_labels(bump)
    name = on[0] if on else bump.subject.rules.sweep.label
    return (*(Unlabel(name=other) for other in on), Label(name=name, head=head))


def _tell(bump: Bump, run: Run, next_: str) -> tuple[Action, ...]:
    if run.stage == "sweep":
        update = progress(bump, run)
        return say(bump, f"sweep-{bump.memory.repairs_used}", report.sweep(bump, run, passed=False, update=update), update=update)
    return say(bump, slot(bump), report.attempt(bump, run, next_=next_))


def _stop(bump: Bump, run: Run, outcome: Outcome, cause: Cause, failure: JobFailure | None, *,
          wanted: Wanted | None = None, forecast: float | None = None) -> tuple[Action, ...]:
    why = failure.triage.cause if failure else None
    ends = ending.end(bump, outcome, cause, why=why, run=run.id, wanted=wanted, forecast=forecast)
    return (*_tell(bump, run, "stop"), *ends)


def _failure_cause(run: Run, otherwise: Cause) -> Cause:
    return Cause.GATE if run.stage == "sweep" else otherwise


def _first(failures: list[JobFailure]) -> JobFailure | None:
    return failures[0] if failures else None
