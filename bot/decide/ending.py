"""The end: say why, stop what runs, see it terminal, put the pull request away, say the last words."""

from __future__ import annotations

from bot.decide import report
from bot.decide.phase import failed_jobs, sweep_labels
from bot.decide.say import say
from bot.model.action import Action, Cancel, ClosePull, Remember, SetDraft, Unlabel
from bot.model.bump import Bump, Ended, Wanted
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.text import Text


def end(bump: Bump, outcome: Outcome, cause: Cause, *, why: Text | None = None, run: int | None = None,
        wanted: Wanted | None = None, forecast: float | None = None) -> tuple[Action, ...]:
    """Decides the outcome: told first, then remembered; the cleaning up is the next look's."""
    ended = Ended(outcome=outcome, cause=cause, at=bump.now, why=why, run=run, wanted=wanted, forecast=forecast)
    told = () if ENDINGS[outcome].pull != "close" else say(bump, "stop", report.stop(bump, ended))
    return (*told, Remember(fact=ended))


def taken(bump: Bump, outcome: Outcome) -> tuple[Action, ...]:
    """A person acted: what we own is stopped, what is theirs is left as they made it."""
    return end(bump, outcome, Cause.PERSON)


def blocked(bump: Bump) -> tuple[Action, ...]:
    """A conflict outside the changelog is a question of what the recipe should say; that is not ours to answer."""
    return end(bump, Outcome.UNCERTAIN, Cause.NONE)


def finishing(bump: Bump, ended: Ended) -> tuple[Action, ...]:
    """Stops our runs and takes the label off; once every run is seen terminal, puts the pull request away.

    Taking a label off can start a run of its own (the seed's fifth run), so the label goes first and is waited for.
    """
    pull, ending = bump.world.pull, ENDINGS[ended.outcome]
    alive = [run for run in bump.world.runs if not run.terminal]
    theirs = ending.branch == "theirs" or pull is None or not pull.open
    labels = () if theirs else tuple(Unlabel(name=name) for name in sweep_labels(bump))
    if alive or labels:
        told = () if bump.told("finishing") else say(bump, "finishing", report.finishing(bump, ended))
        return (*told, *(Cancel(run=run.id) for run in alive), *labels)
    return (*_last_look(bump), *_away(bump, ended), *say(bump, "final", report.last_words(bump, ended)))


def _last_look(bump: Bump) -> tuple[Action, ...]:
    """The sweep's comment once more: its runs are terminal now, and a reader must not find one that still runs there."""
    slot = f"sweep-{bump.memory.repairs_used}"
    runs = [run for run in bump.world.runs if run.stage == "sweep" and bump.judged(run.id)]
    if not runs or bump.told(slot) is None:
        return ()
    run = max(runs, key=lambda run: (run.created, run.id))
    return say(bump, slot, report.sweep(bump, run, passed=not failed_jobs(run)))


def _away(bump: Bump, ended: Ended) -> tuple[Action, ...]:
    pull, ending = bump.world.pull, ENDINGS[ended.outcome]
    if pull is None or not pull.open or ending.pull == "leave":
        return ()
    if ending.pull == "ready":
        return (SetDraft(draft=False, head=pull.head),) if pull.draft else ()
    draft = () if pull.draft else (SetDraft(draft=True, head=pull.head),)
    return (*draft, ClosePull())
