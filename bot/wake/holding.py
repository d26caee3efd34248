"""What a bump holds in files that others write too: its recipes, its place among the open ones, the day's GPU-hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from msgspec.structs import replace

from bot import ledger as chains
from bot.ledger import Ledger, day_path
from bot.model.action import Action, Dispatch, Label, Rerun
from bot.model.bump import Bump
from bot.model.ledger import DaySpent, Held, Moved, OpenBumps, Snapshot, Successor
from bot.model.outcome import Outcome
from bot.wake.context import Context

Writes = Mapping[str, bytes | None]


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


def again(context: Context, snapshot: Snapshot, bump: Bump) -> Bump:
    """The facts of a bump that has ended, with what stands in the way of opening it again: another that moves one of its
    recipes, or one too many open at once. What was too dear when it ended may be paid by the limits of today."""
    held = [context.ledger.load(snapshot, chains.claim_path(recipe.key), Held) for recipe in bump.subject.family]
    known, cap = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), context.layout.limits.open_bumps
    others = [one for one in (known.bumps if known else ()) if one != bump.id]
    taken = any(one is not None and one.bump != bump.id for one in held)
    obstacle = "held" if taken else "capped" if cap is not None and len(others) >= cap else None
    return replace(bump, subject=replace(bump.subject, limits=context.limits), world=replace(bump.world, obstacle=obstacle))


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
