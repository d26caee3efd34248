"""What a bump holds in files that others write too: its recipes, its place among the open ones, the day's GPU-hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import fsum

from msgspec.structs import replace

from bot import ledger as chains
from bot.errors import BumpbotError, Refusal
from bot.images.reference import parse
from bot.ledger import Ledger, day_path
from bot.model.action import Action, Dispatch, Label, OpenPull, Rerun
from bot.model.bump import Bump
from bot.model.event import Requested
from bot.model.ledger import DaySpent, Held, Moved, OpenBumps, Snapshot, Successor
from bot.model.outcome import Disposition, Outcome
from bot.plan import Sources, bump_id, plan
from bot.wake import scanning, sights
from bot.wake.context import ALLOWED, Context

Writes = Mapping[str, bytes | None]
# A successor that could not begin for so long was somebody's choice not to.
FORGOTTEN = timedelta(days=7)


def promised(ledger: Ledger, snapshot: Snapshot, bump: Bump) -> Bump:
    """The facts with the GPU-hours that all bumps promised on the bump's cluster today; its own as forecast while a run of
    it goes on, and as counted after."""
    told = _day(ledger, snapshot, bump).gpu_hours
    running = any(not run.terminal for run in bump.world.runs)
    mine = max(_held(bump), told.get(bump.id, 0.0) if running else 0.0)
    others = [hours for name, hours in told.items() if name != bump.id]
    return replace(bump, world=replace(bump.world, promised_today=fsum([*others, mine])))


def _held(bump: Bump) -> float:
    """GPU-hours that the runs begun on this day have held."""
    return fsum(run.gpu_hours(bump.now) for run in bump.world.runs if run.created.date() == bump.now.date())


def promise(ledger: Ledger, snapshot: Snapshot, bump: Bump, actions: Sequence[Action]) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a claim that spends: the day's file of its cluster, which two bumps cannot both write. What the
    bump's own runs have held by now stands there in place of what was forecast for them."""
    price = fsum(action.gpu_hours for action in actions if isinstance(action, (Dispatch, Label, Rerun)))
    if not price:
        return {}, ()
    path, day = day_path(cluster(bump), bump.now.date()), _day(ledger, snapshot, bump)
    spent = {**day.gpu_hours, bump.id: _held(bump) + price}
    return {path: chains.canonical(DaySpent(gpu_hours=spent))}, (path,)


def cluster(bump: Bump) -> str:
    """The runner label whose GPUs the family holds."""
    recipe = bump.subject.family[0]
    return recipe.points[0].runner if recipe.points else recipe.hardware


def _day(ledger: Ledger, snapshot: Snapshot, bump: Bump) -> DaySpent:
    return ledger.load(snapshot, day_path(cluster(bump), bump.now.date()), DaySpent) or DaySpent()


def requested(context: Context, event: Requested) -> Bump:
    """The bump that somebody asks for, planned; Refusal with its disposition when it may not begin."""
    tree = scanning.tree(context)
    image, reasons = event.image, tuple[str, ...]()
    if image is None:
        line = scanning.candidate(context, tree, event.recipe)
        image, reasons = line.candidate or "", line.reasons
    sources = Sources(tree=tree, registry=context.registry, commits=context.commits,
                      published=context.published, schemes=context.knowledge.schemes,
                      seen=sights.asked(context.ledger, context.ledger.tip(), context.clock))
    subject = plan(sources, context.layout, event.recipe, image, context.limits, reasons)
    bump = Bump(id=bump_id(event.recipe, subject.candidate.new.digest), now=context.clock.now(), subject=subject)
    _free(context, bump)
    return bump


def successors(context: Context) -> tuple[Bump, ...]:
    """Bumps whose candidate took the place of one that was pushed again under test. One that may not begin now is asked
    again at a later wake, for a week."""
    snapshot, made = context.ledger.tip(), []
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


def scanned(context: Context, begun: Sequence[Bump]) -> tuple[Bump, ...]:
    """The bumps that a scheduled wake begins by itself: a scan's candidates, as many as the layout says, none of which was
    tried before. `begun` are those that it begins otherwise. A scan's trouble takes nothing from the bumps that are open."""
    snapshot, made = context.ledger.tip(), list[Bump]()
    if context.layout.scans is None or not scanning.due(context, snapshot):
        return ()
    known, cap = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), context.layout.limits.open_bumps
    free = context.layout.scans.begin if OpenPull in ALLOWED[context.mode()] else 0
    free = free if cap is None else min(free, cap - len({*(known.bumps if known else ()), *(bump.id for bump in begun)}))
    tried = {*context.ledger.open_bumps(snapshot), *(bump for _, bump in context.ledger.ended_bumps(snapshot))}
    try:
        for line, digest in scanning.candidates(context, {recipe.key for bump in begun for recipe in bump.subject.family}):
            if len(made) < free and bump_id(line.recipe, digest) not in tried:
                made += _tried(context, Requested(at=context.clock.now(), recipe=line.recipe, image=line.candidate))
    except BumpbotError as error:
        context.narrate(f"no scan: {error}")
    return tuple(made)


def _tried(context: Context, event: Requested) -> tuple[Bump, ...]:
    try:
        return (requested(context, event),)
    except BumpbotError as error:
        context.narrate(f"{event.recipe}: {event.image} is not begun: {error}")
        return ()


def again(context: Context, snapshot: Snapshot, bump: Bump) -> Bump:
    """The facts of a bump that has ended, with what stands in the way of opening it again: another that moves one of its
    recipes, or one too many open at once. What was too dear when it ended may be paid by the limits of today."""
    held = [context.ledger.load(snapshot, chains.claim_path(recipe.key), Held) for recipe in bump.subject.family]
    known, cap = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), context.layout.limits.open_bumps
    others = [one for one in (known.bumps if known else ()) if one != bump.id]
    taken = any(one is not None and one.bump != bump.id for one in held)
    obstacle = "held" if taken else "capped" if cap is not None and len(others) >= cap else None
    return replace(bump, subject=replace(bump.subject, limits=context.limits), world=replace(bump.world, obstacle=obstacle))


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


def held(ledger: Ledger, snapshot: Snapshot, bump: Bump) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a first claim: files that two bumps cannot both write."""
    known = ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps)
    mine: dict[str, bytes | None] = {
        chains.claim_path(recipe.key): chains.canonical(Held(recipe=recipe.key, bump=bump.id, at=bump.now))
        for recipe in bump.subject.family
    }
    due = {path: None for recipe in bump.subject.family if (path := chains.next_path(recipe.key)) in snapshot.paths}
    ids = tuple(sorted({*(known.bumps if known else ()), bump.id}))
    mine |= due
    return {**mine, chains.OPEN_BUMPS: chains.canonical(OpenBumps(bumps=ids))}, (*mine, chains.OPEN_BUMPS)


def released(ledger: Ledger, snapshot: Snapshot, bump: Bump) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a last record: what was held is free again, and a successor is left for a later wake to begin."""
    known = ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps)
    paths = tuple(chains.claim_path(recipe.key) for recipe in bump.subject.family)
    ids = tuple(one for one in (known.bumps if known else ()) if one != bump.id)
    writes: dict[str, bytes | None] = {**dict.fromkeys(paths), chains.OPEN_BUMPS: chains.canonical(OpenBumps(bumps=ids))}
    ended, recipe = bump.memory.ended, bump.subject.family[0].key
    if ended is not None and ended.successor is not None:
        left = Successor(recipe=recipe, image=ended.successor, of=bump.id, at=ended.at)
        writes[chains.next_path(recipe)] = chains.canonical(left)
    if ended is not None and ended.outcome is Outcome.VALIDATED:
        for member in bump.subject.family:
            made = Moved(recipe=member.key, image=bump.subject.candidate.text, of=bump.id, at=ended.at)
            writes[chains.moved_path(member.key)] = chains.canonical(made)
    return writes, tuple(writes)
