"""The targeted smoke: dispatched for one exact head, judged by job, retried for the weather, repaired for its own faults."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, report
from bot.decide.classes import response, weather
from bot.decide.phase import failed_jobs, held, labelled_by, measures, rerunnable, sweep_labels
from bot.decide.progress import news, sweep_slot
from bot.decide.say import say
from bot.model.action import Action, Cancel, Dispatch, Label, Push, Remember, Rerun, Unlabel
from bot.model.bump import Approval, Bump, JobFailure, Judged, Wanted
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run, Stage
from bot.model.text import Text

NOTHING_MEASURED = Text("The run ended without measuring anything.", "该运行结束时没有产生任何测量结果。")


def due(bump: Bump, head: str) -> tuple[Action, ...]:
    """Dispatches the smoke, unless it cannot be paid; runs on an older head are stopped first."""
    before, price = (*strays(bump), *early_label(bump)), budget.price_smoke(bump)
    if not budget.affords(bump, price):
        return (*before, *ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price))
    return (*before, dispatch(bump, head))


def running(bump: Bump, run: Run) -> tuple[Action, ...]:
    """Waits for the newest smoke of the head under test; an older one that a late answer left running is stopped."""
    doubles = tuple(Cancel(run=other.id) for other in bump.world.runs
                    if other.stage == "smoke" and other.head == run.head and other.id != run.id and not other.terminal)
    told = say(bump, slot(bump), report.attempt(bump, run, next_="smoke-running"), waiting=True)
    return (*strays(bump), *doubles, *early_label(bump), *told)


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A finished smoke that did not pass."""
    return (*strays(bump), *early_label(bump), *respond(bump, run, judged))


def passed(bump: Bump) -> tuple[Action, ...]:
    """The attempt's comment once its smoke has passed; after our changelog or sync commit it stands already."""
    if bump.memory.heads[-1].why in ("changelog", "sync"):
        return ()
    runs = [run for run in bump.world.runs if run.stage == "smoke" and run.head == bump.tested_head]
    run = max(runs, key=lambda run: (run.created, run.id))
    return say(bump, slot(bump), report.attempt(bump, run, next_="sweep"))


def respond(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """What a failed run calls for: retry the weather, repair the known, stop for the rest; told before it is done."""
    newest = {(job.name, job.attempt) for job in failed_jobs(run)}
    failures = [failure for failure in judged.failures if (failure.job, failure.attempt) in newest]
    own = [failure for failure in failures if not weather(failure.triage.class_, failure.attempt)]
    if (failures and not own) or not failed_jobs(run):
        return retry(bump, run)
    called, outcome = response(own[0].triage.class_ if own else None)
    cause = _first(own)
    if called == "stop":
        return _stop(bump, run, outcome, Cause.NONE, cause)
    if bump.world.wanted is None or bump.world.wanted.run != run.id:
        return _stop(bump, run, outcome, _failure_cause(run, Cause.UNREPAIRABLE), cause)
    return repair(bump, run, bump.world.wanted, cause)


def retry(bump: Bump, run: Run) -> tuple[Action, ...]:
    """The failed jobs again in the same run: no repair is spent on a node's package fetch. A run that ended without any
    job is dispatched anew; one whose every job passed without measuring would do the same again."""
    why = None if failed_jobs(run) else NOTHING_MEASURED
    if run.terminal and why and run.conclusion == "success":
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.NONE, None, why=why)
    if _tries(bump, run) > bump.subject.limits.infrastructure_retries:
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.RETRIES_EXHAUSTED, None, why=why)
    if not run.terminal:
        return ()
    if run.stage == "sweep" and held(bump):
        return say(bump, "status", report.status(bump, about="sweep-held", by=None))
    again = rerunnable(run)
    price = budget.price_rerun(bump, run) if again else budget.price_smoke(bump)
    if not budget.affords(bump, price):
        return _stop(bump, run, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, None, forecast=price)
    return (*_tell(bump, run, "retry"), Rerun(run=run.id, attempt=run.attempt) if again else dispatch(bump, run.head))


def _tries(bump: Bump, run: Run) -> int:
    """Attempts so far of all runs that were to measure what this one measures."""
    same = [other for other in bump.world.runs if other.stage == run.stage and other.head == run.head]
    return sum(other.attempt for other in same if other.stage == "smoke" or measures(other))


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
    return (*_tell(bump, run, "repair"), *stop, *labels_off(bump), Push(why="repair", expected=bump.head, repair=wanted))


def strays(bump: Bump) -> tuple[Action, ...]:
    """Runs of ours that still hold GPUs for a head that is not under test any more: a changelog commit leaves the smoke
    of the head before it valid, but not a sweep."""
    current = {"smoke": bump.tested_head, "sweep": bump.head}
    return tuple(Cancel(run=run.id) for run in bump.world.runs if not run.terminal and run.head != current[run.stage])


def early_label(bump: Bump) -> tuple[Action, ...]:
    """A sweep label put on before the smoke passed: kept in mind, taken off where it would start a sweep by itself, and
    what it started is stopped."""
    if bump.subject.rules.sweep.start != "label":
        return ()
    off = labels_off(bump)
    asked = next((action.fact for action in off if isinstance(action, Remember)), None)
    told = say(bump, "status", report.status(bump, about="label-waits", by=asked.by)) if isinstance(asked, Approval) else ()
    begun = tuple(Cancel(run=run.id) for run in bump.world.runs
                  if run.stage == "sweep" and run.head == bump.head and not run.terminal and measures(run))
    return (*told, *off, *begun)


def labels_off(bump: Bump) -> tuple[Action, ...]:
    """The sweep labels taken off, where they start something by themselves; a person's wish for a sweep is kept."""
    on = sweep_labels(bump) if bump.subject.rules.sweep.start == "label" else ()
    people = [by for name in on if (by := labelled_by(bump, name)) not in (None, bump.world.me)]
    kept = people[:1] if not bump.memory.approvals else ()
    return (*(Remember(fact=Approval(by=by, at=bump.now)) for by in kept if by), *(Unlabel(name=name) for name in on))


def dispatch(bump: Bump, head: str) -> Dispatch:
    """The smoke of one head."""
    smoke, recipe = bump.subject.rules.smoke, bump.subject.family[0]
    nonce = _nonce(bump, "smoke", head)
    words = {"key": recipe.key, "keys": _keys(bump), "file": recipe.file, "arguments": " ".join(smoke.arguments),
             "head": head, "nonce": nonce}
    inputs = {name: fill(value, words) for name, value in smoke.inputs.items()}
    return Dispatch(workflow=smoke.workflow, ref=smoke.ref, inputs=inputs, nonce=nonce, head=head)


def dispatch_sweep(bump: Bump, head: str) -> Dispatch:
    """The full sweep of one head, where no label starts it."""
    rules, nonce = bump.subject.rules.sweep, _nonce(bump, "sweep", head)
    words = {"head": head, "nonce": nonce, "key": bump.subject.family[0].key, "keys": _keys(bump)}
    inputs = {name: fill(value, words) for name, value in rules.inputs.items()}
    return Dispatch(workflow=rules.workflow, ref=rules.ref, inputs=inputs, nonce=nonce, head=head)


def _nonce(bump: Bump, stage: Stage, head: str) -> str:
    """The same facts give the same nonce, so a dispatch that timed out after it took effect is found again. A run of this
    head that is over without anything to run again makes the next number."""
    over = sum(run.stage == stage and run.head == head and run.terminal for run in bump.world.runs)
    return f"bumpbot-{bump.id}-{stage}-{bump.memory.repairs_used + over}-{head[:12]}"


def _keys(bump: Bump) -> str:
    return " ".join(recipe.key for recipe in bump.subject.family)


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
    return (*labels_off(bump), Label(name=name, head=head))


def _tell(bump: Bump, run: Run, next_: str) -> tuple[Action, ...]:
    if run.stage == "sweep":
        update, over = news(bump, run), None if next_ == "retry" else False
        return say(bump, sweep_slot(bump), report.sweep(bump, run, passed=over, update=update), update=update)
    return say(bump, slot(bump), report.attempt(bump, run, next_=next_))


def _stop(bump: Bump, run: Run, outcome: Outcome, cause: Cause, failure: JobFailure | None, *,
          wanted: Wanted | None = None, forecast: float | None = None, why: Text | None = None) -> tuple[Action, ...]:
    why = failure.triage.cause if failure else why
    ends = ending.end(bump, outcome, cause, why=why, run=run.id, wanted=wanted, forecast=forecast)
    return (*_tell(bump, run, "stop"), *ends)


def _failure_cause(run: Run, otherwise: Cause) -> Cause:
    return Cause.GATE if run.stage == "sweep" else otherwise


def _first(failures: list[JobFailure]) -> JobFailure | None:
    return failures[0] if failures else None
