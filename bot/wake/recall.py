"""What a bump remembers after a step: the memory before it, its actions, and what came of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.decide.asked import reopened
from bot.decide.say import digest
from bot.model.action import Action, Dispatch, Keep, Push, Remember, Reopen, Result, Say
from bot.model.bump import Approval, Asked, Bump, Ended, Head, Memory, Told


def after(bump: Bump, actions: Sequence[Action], results: Sequence[Result]) -> Memory:
    """The memory that the next look starts from. Actions without a good result leave no trace in it, but for a commit that
    the repository refused: it would be made and refused at every wake."""
    memory = bump.memory
    for result in results:
        action = actions[result.index]
        if result.ok:
            memory = _step(bump, memory, action, result)
        elif result.refused and isinstance(action, Push) and action.why in ("changelog", "sync"):
            memory = msgspec.structs.replace(memory, refused=action.expected)
    return memory


def _step(bump: Bump, memory: Memory, action: Action, result: Result) -> Memory:
    replace = msgspec.structs.replace
    match action:
        case Push(why=why, repair=repair, base_tip=base_tip) if result.head:
            base = base_tip if why in ("proposal", "sync") else _base(memory)
            head = Head(sha=result.head, why=why, at=bump.now, repair=repair.id if repair else None, contains_base=base)
            applied = (*memory.applied, repair) if repair else memory.applied
            return replace(memory, heads=(*memory.heads, head), applied=applied)
        case Say(slot=slot, record=record, update=update) if result.comment is not None:
            before = next((told for told in memory.told if told.slot == slot), None)
            updates = (*(before.updates if before else ()), *((update,) if update else ()))
            told = Told(slot=slot, comment=result.comment, digest=digest(record), at=bump.now, updates=updates)
            others = tuple(other for other in memory.told if other.slot != slot)
            return replace(memory, told=(*others, told), closed=memory.closed or slot == "final")
        case Dispatch() if result.run is not None and result.run not in memory.owned:
            return replace(memory, owned=(*memory.owned, result.run))
        case Keep() if result.evidence is not None:
            return replace(memory, evidence=result.evidence)
        case Reopen():
            return reopened(memory, action)
        case Remember(fact=Approval() as approval):
            return replace(memory, approvals=(*memory.approvals, approval))
        case Remember(fact=Asked() as asked):
            return replace(memory, asked=(*memory.asked, asked))
        case Remember(fact=Ended() as ended):
            # Where nothing was opened nothing is left to put away, and no last comment will say that it is over.
            return replace(memory, ended=memory.ended or ended, closed=memory.closed or not memory.heads)
        case _:
            return memory


def _base(memory: Memory) -> str | None:
    return memory.heads[-1].contains_base if memory.heads else None
