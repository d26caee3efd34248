"""One pure function from facts to actions. No clock, network, files or randomness: anyone can replay it."""

from __future__ import annotations

from typing import assert_never

from bot.decide import changelog, ending, opening, orders, smoke, sweep
from bot.decide.asked import assumed
from bot.decide.phase import (
    Barred,
    Blocked,
    ChangelogDue,
    Controlling,
    Finishing,
    Opening,
    Over,
    Phase,
    Prevented,
    RepeatBroken,
    RepeatDue,
    Repeating,
    Settling,
    SmokeBroken,
    SmokeDue,
    Smoking,
    Superseded,
    SweepBroken,
    SweepDue,
    Sweeping,
    Swept,
    Taken,
    phase_of,
)
from bot.decide.say import with_body
from bot.model.action import Action, React
from bot.model.bump import Bump
from bot.model.event import Event

__all__ = ["Phase", "decide", "phase_of"]


def decide(bump: Bump, event: Event) -> tuple[Action, ...]:
    """What to do now. The event is a hint and decides nothing: losing every event but a later wake changes nothing.

    What people commanded comes first, and the phase is asked of the facts as that leaves them: a stop and a dispatch never
    stand in one step. Marks come last, for a forge may refuse one for good. A bump that is over only answers.
    """
    del event
    asked = orders.orders(bump)
    if bump.memory.closed:
        return with_body(bump, asked)
    after = assumed(bump, asked)
    said, marks = ([action for action in asked if isinstance(action, React) is mark] for mark in (False, True))
    return with_body(after, (*said, *_actions(after, phase_of(after)), *marks))


def _actions(bump: Bump, phase: Phase) -> tuple[Action, ...]:
    match phase:
        case Over():
            return ()
        case Settling():
            return smoke.strays(bump)
        case Opening():
            return opening.opening(bump)
        case Prevented(found):
            return ending.prevented(bump, found)
        case Taken(outcome):
            return ending.taken(bump, outcome)
        case Superseded(digest):
            return ending.superseded(bump, digest)
        case Finishing(ended):
            return ending.finishing(bump, ended)
        case ChangelogDue(sync):
            return changelog.due(bump, sync=sync)
        case Blocked():
            return ending.blocked(bump)
        case Barred(by):
            return ending.barred(bump, by)
        case SmokeDue() | Smoking() | SmokeBroken():
            return _smoke(bump, phase)
        case SweepDue() | Sweeping() | SweepBroken() | Controlling() | RepeatDue() | Repeating() | RepeatBroken() | Swept():
            return _sweep(bump, phase)
        case _:
            assert_never(phase)


def _smoke(bump: Bump, phase: SmokeDue | Smoking | SmokeBroken) -> tuple[Action, ...]:
    match phase:
        case SmokeDue(head, step):
            return smoke.due(bump, head, step)
        case Smoking(run):
            return smoke.running(bump, run)
        case SmokeBroken(run, judged):
            return smoke.broken(bump, run, judged)


def _sweep(bump: Bump,
           phase: SweepDue | Sweeping | SweepBroken | Controlling | RepeatDue | Repeating | RepeatBroken | Swept
           ) -> tuple[Action, ...]:
    match phase:
        case SweepDue(head):
            return sweep.due(bump, head)
        case Sweeping(run, judged):
            return sweep.running(bump, run, judged)
        case SweepBroken(run, judged) | RepeatBroken(run, judged):
            return sweep.broken(bump, run, judged)
        case Controlling(run, _):
            return sweep.controlling(bump, run)
        case RepeatDue(run, judged):
            return sweep.repeat_due(bump, run, judged)
        case Repeating(run, again):
            return sweep.repeating(bump, run, again)
        case Swept(run, judged):
            return sweep.swept(bump, run, judged)
