"""What a wake gives a plan to ask, and what it asks again by itself: before a sweep, and before a blocked candidate's next try."""

from __future__ import annotations

from collections.abc import Sequence

from bot import ledger as chains
from bot.decide.findings import holding_smoke
from bot.decide.phase import SmokeDue, SweepDue, phase_of
from bot.errors import BumpbotError
from bot.images import reference
from bot.model.bump import Bump
from bot.model.finding import Checked
from bot.model.image import Candidate, Reference, Resolved
from bot.model.ledger import Snapshot
from bot.model.memory import Lesson
from bot.plan import Sources, again
from bot.ports import Tree
from bot.recipe.read import read
from bot.wake import sights
from bot.wake.context import Context


def sources(context: Context, tree: Tree, snapshot: Snapshot, bump: Bump | None = None) -> Sources:
    """Everything that a plan may ask in this wake; of a bump that is open already its branch and head too."""
    return Sources(
        tree=tree, registry=context.registry, commits=context.commits, published=context.published,
        schemes=context.knowledge.schemes, seen=sights.asked(context.ledger, snapshot, context.clock),
        generator=context.generator(tree), say=context.narrate, now=context.clock.now(), engines=context.knowledge.engines,
        upstreams=context.upstreams, surveyor=context.surveyor, fleet=context.fleet, settings=context.settings,
        neighbours=context.neighbours, me=context.forge.me(), tip=context.git.tip(context.layout.base),
        lessons=lambda: chains.lessons(context.ledger, snapshot, context.narrate),
        head=bump.head if bump else None, branch=bump.subject.rules.branch if bump else None,
    )


def again_checked(context: Context, bump: Bump) -> tuple[Checked, ...]:
    """The checks whose facts change, made again where the next thing would be a sweep, or a smoke that nothing would have taken;
    otherwise what the last look found. A world that does not answer says nothing new."""
    phase, plan = phase_of(bump), bump.subject.plan
    held = {one.check for one in holding_smoke(bump)} if isinstance(phase, SmokeDue) else set()
    only = again.BEFORE_SWEEP if isinstance(phase, SweepDue) else again.WORLDLY & held
    tip = bump.world.base_tip
    if not only or not plan.checks or tip is None:
        return bump.world.checks
    try:
        asked = sources(context, context.tree(tip), context.ledger.tip(), bump)
        fresh = again.checked(asked, context.layout, bump.subject, only)
    except BumpbotError as error:
        context.narrate(f"{bump.id}: what may have changed since the plan is not known: {error}")
        return bump.world.checks
    kept = tuple(one for one in bump.world.checks if one.check not in {made.check for made in fresh})
    return (*kept, *fresh)


def released(context: Context, tree: Tree, snapshot: Snapshot, recipe: str, image: str, digest: str,
             known: Sequence[Lesson]) -> bool:
    """Whether a candidate that was stopped before may be planned anew, by little: see `again.released`."""
    try:
        family = (read(tree, context.layout, recipe),)
        asked = sources(context, tree, snapshot)
        old, new = _bare(reference.parse(family[0].image), ""), _bare(reference.parse(image), digest)
        candidate = Candidate(old=old, new=new, text=image)
        return again.released(asked, context.layout, family, candidate, known)
    except BumpbotError as error:
        context.narrate(f"{recipe}: whether {image} may be tried again is not known: {error}")
        return False


def _bare(image: Reference, digest: str) -> Resolved:
    """An image of which no more is known than its name: enough for what asks where it lies."""
    return Resolved(reference=image, kind="manifest", digest=digest, platforms=())
