"""The bumps that a wake begins: the one that somebody asks for, those whose candidate is next, those that a scan finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot import ledger as chains
from bot.decide import findings
from bot.errors import BumpbotError, Refusal
from bot.images.reference import parse
from bot.model.action import OpenPull
from bot.model.bump import Bump
from bot.model.event import Requested
from bot.model.ledger import Held, OpenBumps, Snapshot, Successor
from bot.model.outcome import Disposition
from bot.model.scan import Scanned
from bot.plan import bump_id, movable, plan
from bot.wake import archive, planning, scanning, tries
from bot.wake.context import ALLOWED, Context

# A successor that could not begin for so long was somebody's choice not to.
FORGOTTEN = timedelta(days=7)
PASSED_OVER = 8
"""So many candidates that files stop are planned in one scan beside those that begin: the others have their turn at the next."""


def requested(context: Context, event: Requested, chosen: Scanned | None = None) -> Bump:
    """The bump that somebody asks for, planned; Refusal with its disposition when it may not begin. `chosen` is the scan's
    line that chose its image."""
    tree, image = scanning.tree(context), event.image
    movable(tree, context.layout, event.recipe)
    if image is None:
        chosen = scanning.candidate(context, tree, event.recipe)
        image = chosen.candidate or ""
    snapshot = context.ledger.tip()
    subject = plan(planning.sources(context, tree, snapshot), context.layout, event.recipe, image, context.limits,
                   chosen.reasons if chosen else (), chosen.hints if chosen else ())
    bump = Bump(id=bump_id(event.recipe, subject.candidate.new.digest), now=context.clock.now(), subject=subject)
    bump = tries.named(context, snapshot, bump)
    _free(context, bump)
    return archive.archived(context, bump)


def successors(context: Context, snapshot: Snapshot) -> tuple[Bump, ...]:
    """Bumps whose candidate took the place of one that was pushed again under test. One that may not begin now is asked
    again at a later wake, for a week."""
    made = []
    ended = {bump for _, bump in context.ledger.ended_bumps(snapshot)}
    for path in sorted(path for path in snapshot.paths if path.startswith(f"{chains.NEXT}/")):
        found = context.ledger.load(snapshot, path, Successor)
        if found is None or context.clock.now() - found.at > FORGOTTEN:
            continue
        try:
            bump = requested(context, Requested(at=found.at, recipe=found.recipe, image=_now(context, found.image)))
            if bump.id in ended:  # the tag was pushed back to what it held: that image has had its bump
                raise Refusal(f"its bump {bump.id} has ended already", "reopen it: /bump retry on its pull request")
            made.append(bump)
        except BumpbotError as error:
            context.narrate(f"{found.recipe}: {found.image} is the next candidate and is not begun yet: {error}")
    return tuple(made)


def scanned(context: Context, snapshot: Snapshot, begun: Sequence[Bump]) -> tuple[Bump, ...]:
    """The bumps that a wake whose scan is due begins by itself: its candidates, as many as the layout says, none of which was
    tried before. `begun` are those that it begins otherwise. A scan's trouble takes nothing from the bumps that are open."""
    made = list[Bump]()
    if context.layout.scans is None:
        return ()
    known, cap, planned = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), context.layout.limits.open_bumps, 0
    free = context.layout.scans.begin if OpenPull in ALLOWED[context.mode()] else 0
    free = free if cap is None else min(free, cap - len({*(known.bumps if known else ()), *(bump.id for bump in begun)}))
    try:
        for line, digest in scanning.candidates(context, {recipe.key for bump in begun for recipe in bump.subject.family}):
            good = sum(not findings.stops(bump) for bump in made)
            if good < free and planned < free + PASSED_OVER and tries.may_begin(context, snapshot, line, digest):
                planned += 1
                made += (tried := _tried(context, line))
                if any(one.check == "identity" for bump in tried for one in findings.stops(bump)):
                    free, made = 0, made[:-1]  # it says nothing of this candidate, and would be said of every other one
    except BumpbotError as error:
        context.narrate(f"no scan: {error}")
    return tuple(made)


def _tried(context: Context, line: Scanned) -> tuple[Bump, ...]:
    try:
        bump = requested(context, Requested(at=context.clock.now(), recipe=line.recipe, image=line.candidate), line)
        if found := findings.stops(bump):
            context.narrate(f"{line.recipe}: {line.candidate} is passed over: {findings.why(found)[0]}")
        return (bump,)
    except BumpbotError as error:
        context.narrate(f"{line.recipe}: {line.candidate} is not begun: {error}")
        return ()


def _now(context: Context, image: str) -> str:
    """The same tag with the digest that it holds by now: a tag that moved once may have moved again."""
    name = image.partition("@")[0]
    return f"{name}@{context.registry.digest(parse(name))}"


def _free(context: Context, bump: Bump) -> None:
    """Refuses a bump whose recipe another holds, and one too many open at once."""
    snapshot = context.ledger.tip()
    for recipe in bump.subject.family:
        held = context.ledger.load(snapshot, chains.claim_path(recipe.key), Held)
        if held is not None and held.bump != bump.id:
            raise Refusal(f"{Disposition.DUPLICATE.value}: {recipe.key} is held by {held.bump}", "wait for it to end, or stop it")
    known = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps)
    others = [one for one in (known.bumps if known else ()) if one != bump.id]
    cap = context.layout.limits.open_bumps
    if cap is not None and len(others) >= cap:
        raise Refusal(f"{Disposition.CAPPED.value}: {len(others)} bumps are open, the cap is {cap}",
                      "wait for one to end, or raise limits.open-bumps in the layout")
