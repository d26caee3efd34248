"""What a wake does about newer images of all recipes: it looks, remembers what it saw, and begins what it may."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta

from bot import scan as scans
from bot.errors import Refusal
from bot.images import reference
from bot.ledger import LAST_SCAN
from bot.model.ledger import LastScan, Snapshot
from bot.model.scan import Scanned
from bot.ports import Tree
from bot.recipe.read import family
from bot.recipe.shelf import Shelf
from bot.wake import sights
from bot.wake.context import Context


def tree(context: Context) -> Tree:
    """The default branch's files at its tip."""
    tip = context.git.tip(context.layout.base)
    if tip is None:
        raise Refusal(f"the branch {context.layout.base} does not exist", "name the default branch in the layout")
    return context.tree(tip)


def candidate(context: Context, files: Tree, recipe: str) -> Scanned:
    """What policy and order choose for one recipe; Refusal with the reasons where there is none."""
    found = scans.look(files, context.layout, _sources(context, context.ledger.tip()), recipe)
    sights.remember(context.ledger, found.looks, wake=context.wake)  # also of what is too young: its age begins with this look
    return scans.proposed(found)


def due(context: Context, snapshot: Snapshot) -> bool:
    """Whether the layout wants a scan by now."""
    wanted, last = context.layout.scans, context.ledger.load(snapshot, LAST_SCAN, LastScan)
    return wanted is not None and (last is None or context.clock.now() - last.at >= timedelta(hours=wanted.every_hours))


def candidates(context: Context, taken: Collection[str]) -> Iterator[tuple[Scanned, str]]:
    """Looks at every recipe, remembers it, and gives the candidates with their digests, one a family; none of the recipes
    `taken`."""
    files, snapshot = Shelf.of(tree(context)), context.ledger.tip()
    found = scans.scan(files, context.layout, _sources(context, snapshot))
    sights.remember(context.ledger, found.looks, wake=context.wake, scanned=context.clock.now() if found.answered else None)
    digests = {reference.canonical(look.reference): look.digest for look in found.looks}
    lines = [line for line in found.lines if line.candidate is not None]
    for fault in files.faults(context.layout):
        context.narrate(f"not read: {fault}")
    context.narrate(f"scanned {len(found.lines)} recipes: {len(lines)} have a newer image")
    done = set(taken)
    for line in lines:
        context.narrate(f"{line.recipe}: {line.image} -> {line.candidate}: {'; '.join(line.reasons)}")
        wanted = reference.parse(line.candidate or "")
        digest = wanted.digest or digests.get(reference.canonical(wanted))
        if line.recipe not in done and digest is not None:
            done.update(family(files, context.layout, line.recipe))
            yield line, digest


def _sources(context: Context, snapshot: Snapshot) -> scans.Sources:
    return scans.Sources(registry=context.registry, schemes=context.knowledge.schemes, now=context.clock.now(),
                         commits=context.commits, histories=scans.histories(context.upstreams, context.layout), own_too=True,
                         **sights.known(context.ledger, snapshot))
