"""Opening: a branch with the edit, then a draft pull request that says what is proposed against which baseline."""

from __future__ import annotations

from bot.decide import report
from bot.model.action import Action, OpenPull, Push
from bot.model.bump import Bump


def opening(bump: Bump) -> tuple[Action, ...]:
    """The edit first, then the draft; a wake that died between the two finds the head and goes on."""
    if not bump.memory.heads:
        return (Push(why="proposal", expected=None, base_tip=bump.world.base_tip),)
    return (OpenPull(head=bump.memory.heads[-1].sha, record=report.proposal(bump, ended=None)),)
