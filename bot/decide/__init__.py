"""One pure function from facts to actions. No clock, network, files or randomness: anyone can replay it."""

from __future__ import annotations

from typing import assert_never

from bot.decide import changelog, ending, opening, smoke, sweep
from bot.decide.phase import (
    Blocked,
    ChangelogDue,
    Finishing,
    Opening,
    Over,
    Phase,
    Settling,
    SmokeBroken,
    SmokeDue,
    Smoking,
    SweepBroken,
    SweepDue,
    Sweeping,
    Swept,
    Taken,
    phase_of,
)
from bot.decide.say import with_body
from bot.model.action import Action
from bot.model.bump import Bump
from bot.model.event import Event

__all__ = ["Phase", "decide", "phase_of"]


def decide(bump: Bump, event: Event) -> tuple[Action, ...]:
    """What to do now. The event is a hint and decides nothing: losing every event but a later wake changes nothing."""
    del event
    return with_body(bump, _actions(bump, phase_of(bump)))


def _actions(bump: Bump, phase: Phase) -> tuple[Action, ...]:
    match phase:
        case Over():
            return ()
        case Settling():
            return smoke.strays(bump)
        case Opening():
            return opening.opening(bump)
        case Taken(outcome):
            return ending.taken(bump, outcome)
        case Finishing(ended):
            return ending.finishing(bump, ended)
        case SmokeDue(head):
            return smoke.due(bump, head)
        case Smoking(run):
            return smoke.running(bump, run)
        case SmokeBroken(run, judged):
            return smoke.broken(bump, run, judged)
        case ChangelogDue(sync):
            return changelog.due(bump, sync=sync)
        case Blocked():
            return ending.blocked(bump)
        case SweepDue(head):
            return sweep.due(bump, head)
        case Sweeping(run, judged):
            return sweep.running(bump, run, judged)
        case SweepBroken(run, judged):
            return sweep.broken(bump, run, judged)
        case Swept(run, judged):
            return sweep.swept(bump, run, judged)
        case _:
            assert_never(phase)
