"""The targeted smoke: dispatched for one exact head, stage by stage, judged by job; what its failure calls for is
`answer`'s."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, report
from bot.decide.answer import respond
from bot.decide.findings import about_smoke, holding_smoke, mended_next, smoke_was_held
from bot.decide.people import smoke_held
from bot.decide.progress import attempt_slot
from bot.decide.runs import measures, smokes
from bot.decide.say import day_begins, goes_on, say, tomorrow
from bot.decide.starting import dispatch_smoke, heard, labels_off, strays
from bot.model.action import Action, Cancel, Push, Remember, Say
from bot.model.bump import Approval, Bump, Judged
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run


def due(bump: Bump, head: str, step: int) -> tuple[Action, ...]:
    """Dispatches the stage of the smoke whose turn it is, unless it cannot be paid; runs on an older head are stopped first,
    and the attempt's comment says what the stage before has shown."""
    done = smokes(bump)
    told = say(bump, attempt_slot(bump), report.attempt(bump, done[0], next_="smoke-next")) if done else ()
    before, price = (*strays(bump), *early_label(bump), *heard(bump), *told), budget.price_smoke(bump, step)
    if smoke_held(bump):
        return (*before, *say(bump, "status", report.status(bump, about=about_smoke(holding_smoke(bump)), by=None)))
    if not budget.affords(bump, price):
        return (*before, *ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price,
                                     step="smoke-next" if done else "smoke"))
    if not done and (first := repaired(bump)):
        return (*before, *first)
    if not budget.today(bump, price):
        return (*before, *tomorrow(bump))
    said = any(isinstance(action, Say) and action.slot == "status" for action in before)  # an early label has just been answered
    begins = () if said else goes_on(bump) if smoke_was_held(bump) else day_begins(bump)
    return (*before, *begins, dispatch_smoke(bump, head, step, price))


def repaired(bump: Bump) -> tuple[Action, ...]:
    """The repair that files alone ask for, before the first smoke: it is known to fail without, so no GPU shows that first. It
    counts as any other; one that cannot be made leaves its question to a person."""
    wanted = bump.world.wanted
    if wanted is None or not mended_next(bump):
        return ()
    return (Push(why="repair", expected=bump.head, repair=wanted),)


def running(bump: Bump, run: Run) -> tuple[Action, ...]:
    """Waits for the newest smoke of the head under test; an older one that a late answer left running is stopped."""
    if not run.terminal and budget.overrun(bump):
        return ending.overrun(bump, run)
    doubles = tuple(Cancel(run=other.id) for other in bump.world.runs
                    if other.stage == "smoke" and other.head == run.head and other.id != run.id and not other.terminal)
    told = say(bump, attempt_slot(bump), report.attempt(bump, run, next_="smoke-running"), waiting=True)
    return (*strays(bump), *heard(bump), *doubles, *early_label(bump), *told)


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A finished smoke that did not pass."""
    return (*strays(bump), *early_label(bump), *respond(bump, run, judged))


def passed(bump: Bump) -> tuple[Action, ...]:
    """The attempt's comment once its smoke has passed; after our changelog or sync commit it stands already."""
    if bump.memory.heads[-1].why in ("changelog", "sync"):
        return ()
    return say(bump, attempt_slot(bump), report.attempt(bump, smokes(bump)[0], next_="sweep"))


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
