"""The tries of one candidate. A blocked one has another, under a number of its own, once what blocked it is seen to be gone: an
image was tried again the next day though nothing had been staged, and every try burnt a slot (#2951, #2981)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bot import ledger as chains
from bot.errors import Refusal
from bot.model.bump import Bump
from bot.model.finding import PlanFinding
from bot.model.ledger import Snapshot
from bot.model.memory import Lesson
from bot.model.scan import Scanned
from bot.plan import bump_id
from bot.preflight import findings, said
from bot.wake import planning, scanning
from bot.wake.context import Context


def named(context: Context, snapshot: Snapshot, bump: Bump) -> Bump:
    """The bump under the id of its try: the open one, the next one where the last was blocked by what is gone by now, else the
    last one, which is over. Refusal, in the words of what was found, where the same is found again: the ledger knows that
    already, and a person who asks is told."""
    open_ = _of(bump.id, context.ledger.open_bumps(snapshot))
    over = _of(bump.id, [one for _, one in context.ledger.ended_bumps(snapshot)])
    if open_ or not over:
        return _under(context, bump, open_[-1] if open_ else bump.id)
    last = _blocked(context, snapshot, over[-1])
    if not last:
        return _under(context, bump, over[-1])
    found = [one for one in findings(bump.subject.plan.checks) if one.action == "stop"]
    if any(one.check == "history" or _same(one, last) for one in found):
        raise _refusal(found, over[-1])
    return _under(context, bump, f"{bump.id}-{len(over) + 1}")


def may_begin(context: Context, snapshot: Snapshot, line: Scanned, digest: str) -> bool:
    """Whether a scan's candidate is worth a plan: one that was never tried, or whose blocker is seen to be gone. That is asked for
    little, since it is asked at every scan."""
    name = bump_id(line.recipe, digest)
    over = _of(name, [one for _, one in context.ledger.ended_bumps(snapshot)])
    if _of(name, context.ledger.open_bumps(snapshot)):
        return False
    if not over:
        return True
    known = _blocked(context, snapshot, over[-1])
    return bool(known) and planning.released(context, scanning.tree(context), snapshot, line.recipe, line.candidate or "", digest,
                                             known)


def _blocked(context: Context, snapshot: Snapshot, bump: str) -> tuple[Lesson, ...]:
    """The lessons of a try that ended of what may change: with what must be seen before the next, or found by a check that can be
    made again."""
    every = chains.lessons(context.ledger, snapshot, context.narrate, of=bump)
    return tuple(one for one in every if one.release is not None or one.check is not None)


def _same(found: PlanFinding, last: Sequence[Lesson]) -> bool:
    """Whether a lesson without its condition, as older ones are, says the same as a check does now."""
    return any(one.release is None and (one.check, one.class_, one.evidence) == (found.check, found.class_, found.evidence)
               for one in last)


def _of(name: str, bumps: Sequence[str]) -> list[str]:
    """The tries of one candidate among bumps, the oldest first: its name, and its name with a number behind it."""
    known = {1 if one == name else int(number): one for one in bumps
             if one == name or (one.startswith(f"{name}-") and (number := one.removeprefix(f"{name}-")).isdecimal())}
    return [known[number] for number in sorted(known)]


def _under(context: Context, bump: Bump, name: str) -> Bump:
    rules = replace(bump.subject.rules, branch=context.layout.branch + name)
    return replace(bump, id=name, subject=replace(bump.subject, rules=rules))


def _refusal(found: Sequence[PlanFinding], bump: str) -> Refusal:
    """What is in the way now, first, and that it was so before; what to do is what the check itself says."""
    words = sorted(found, key=lambda one: one.check == "history")
    told = dict.fromkeys(said(one).en.rstrip(".") for one in words)
    if words[-1].check != "history":
        told[f"the bump {bump} was stopped by the same"] = None
    return Refusal("; ".join(told), words[0].next.en)
