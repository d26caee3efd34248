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
    last one, which is over. Refusal, in the words of what was found, where it is still blocked: the ledger knows that already."""
    open_ = _of(bump.id, context.ledger.open_bumps(snapshot))
    over = _of(bump.id, [one for _, one in context.ledger.ended_bumps(snapshot)])
    if open_ or not over:
        return _under(context, bump, open_[-1] if open_ else bump.id)
    if not _blocked(context, snapshot, over[-1]):
        return _under(context, bump, over[-1])
    found = [one for one in findings(bump.subject.plan.checks) if one.action == "stop"]
    if (known := next((one for one in found if one.check == "history"), None)) is not None:
        raise _refusal(known)
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
    """The lessons of a try that ended of what may change, with what must be seen before the next."""
    return tuple(one for one in chains.lessons(context.ledger, snapshot, context.narrate, of=bump) if one.release is not None)


def _of(name: str, bumps: Sequence[str]) -> list[str]:
    """The tries of one candidate among bumps, the oldest first: its name, and its name with a number behind it."""
    known = {1 if one == name else int(number): one for one in bumps
             if one == name or (one.startswith(f"{name}-") and (number := one.removeprefix(f"{name}-")).isdecimal())}
    return [known[number] for number in sorted(known)]


def _under(context: Context, bump: Bump, name: str) -> Bump:
    rules = replace(bump.subject.rules, branch=context.layout.branch + name)
    return replace(bump, id=name, subject=replace(bump.subject, rules=rules))


def _refusal(found: PlanFinding) -> Refusal:
    return Refusal(said(found).en, found.next.en)
