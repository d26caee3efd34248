"""What people asked for, as it is remembered: whether it is already, and what a bump is once it is."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from bot.model.action import Action, Remember, Reopen
from bot.model.bump import Approval, Asked, Bump, Ended, Memory
from bot.model.order import Order
from bot.model.outcome import Outcome

# What is said at the end of a bump, and anew when one that was opened again ends.
LAST = ("stop", "finishing", "final")


def remembered(memory: Memory, order: Order) -> bool:
    """Whether what the command asked for is remembered already, though a wake may have died before it was answered."""
    facts: Iterable[Approval | Asked] = (*memory.approvals, *memory.asked)
    stopped = memory.ended is not None and memory.ended.outcome is Outcome.STOPPED and memory.ended.by == order.by
    return any(fact.comment == order.comment for fact in facts) or (order.word == "stop" and stopped)


def assumed(bump: Bump, actions: Iterable[Action]) -> Bump:
    """The bump once what these actions remember is remembered."""
    memory, world = bump.memory, bump.world
    for action in actions:
        if isinstance(action, Remember):
            memory = _with(memory, action.fact)
        elif isinstance(action, Reopen):
            memory = reopened(memory, action)
            world = replace(world, pull=replace(world.pull, open=True) if world.pull else None)
    return replace(bump, memory=memory, world=world)


def reopened(memory: Memory, action: Reopen) -> Memory:
    """The memory of a bump that had ended and was opened again: what was said at its end is said anew at the next, and what
    failed is tried again, whatever it failed of."""
    asked = Asked(what="retry", by=action.by, at=action.at, comment=action.comment)
    told = tuple(told for told in memory.told if told.slot not in LAST)
    return replace(memory, ended=None, closed=False, refused=None, evidence=None, told=told, asked=(*memory.asked, asked))


def _with(memory: Memory, fact: Approval | Asked | Ended) -> Memory:
    match fact:
        case Approval():
            return replace(memory, approvals=(*memory.approvals, fact))
        case Asked():
            return replace(memory, asked=(*memory.asked, fact))
        case Ended():
            return replace(memory, ended=memory.ended or fact)
