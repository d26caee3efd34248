"""The candidate of a plan: what both images are, the published baseline that the new one is held to, and whether it may come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from msgspec.structs import replace

from bot import layout as layouts
from bot.baseline import freeze, join, match, question
from bot.errors import Unreachable
from bot.images import judge, provenance, reference, sights
from bot.images.contains import contained
from bot.images.policy import Policy
from bot.images.tags import Ancestry, Order
from bot.layout import Layout
from bot.model.baseline import Offer
from bot.model.image import Candidate, Resolved
from bot.model.recipe import Recipe
from bot.model.result import Absent, Baseline
from bot.model.upstream import Comparison
from bot.plan.sources import Sources
from bot.upstream import compare


def resolve(sources: Sources, text: str) -> Resolved:
    """An image as the registry holds it now, with the commit that it names and our own first sight of its bytes."""
    found = provenance.settle(sources.registry.resolve(reference.parse(text)), sources.schemes)
    return replace(found, first_seen=sights.first_seen(sources.seen(found), found.digest))


def candidate(sources: Sources, layout: Layout, rules: Policy, old: Resolved, new: Resolved, baseline: Baseline | None,
              comparisons: Sequence[Comparison], reasons: Sequence[str]) -> Candidate:
    """The candidate with its reasons; Refusal where a rule forbids it. Which changes it must hold is the preflight's to judge where
    upstreams can be asked, for it knows what else is published; else the policy's own refusal stands."""
    holds = contained(sources.commits, layouts.repository_of(layout, new.reference.name), new.facts.commit, rules)
    if sources.upstreams is not None:
        rules = replace(rules, must_have=(), must_not_have=())
    found = judge.judge(old, new, rules, sources.schemes, _ancestry(comparisons), contains=holds,
                        measured=baseline.date if baseline else None)
    if isinstance(found, judge.Declined):
        found.refuse()
    measured = date.fromisoformat(baseline.date[:10]) if baseline else None
    told = [sights.retold(image.reference.text, sources.seen(image), day)
            for image, day in ((old, None if old.reference.digest else measured), (new, None))]
    # What chose the image says why it is newer; the judge's own first words say it again.
    said = dict.fromkeys((*reasons, *found.reasons[bool(reasons):], *(text for text in told if text)))
    moved, seen = _moved(sources, old), sources.seen(old)
    late = found.repushed or (moved if moved and measured and moved.date() > measured else None)
    return replace(found, reasons=tuple(said), repushed=late, was=seen[-2] if late and len(seen) > 1 else None)


def baselines(sources: Sources, family: Sequence[Recipe], old: Resolved) -> tuple[Baseline | None, str | None]:
    """The family's baselines as one, and why the first recipe that has none has none; its name stands behind the word only
    where others have one."""
    found = {recipe.key: _baseline(sources, recipe, old) for recipe in family}
    some = any(one is not None for one, _, _ in found.values())
    missing = next((f"{why.partition(':')[0]}:{key}" if some else why for key, (_, why, _) in found.items() if why), None)
    lacking = [point for one, _, points in found.values() if one is None for point in points]
    return join({key: one for key, (one, _, _) in found.items() if one is not None}, lacking), missing


def _moved(sources: Sources, image: Resolved) -> datetime | None:
    """When a recipe's tag was last pushed again, by the registry or our own sights; a pinned one's bytes stay."""
    known = [image.pushed, None if image.reference.digest else sights.moved(sources.seen(image))]
    return max((at for at in known if at is not None), default=None)


def _baseline(sources: Sources, recipe: Recipe, old: Resolved) -> tuple[Baseline | None, str | None, tuple[Absent, ...]]:
    """The published points of exactly this recipe with its present image, point by point, and why some or all have none."""
    asked = question(recipe)
    if not asked.configurations:
        return None, "points-unknown", ()
    try:
        found = match(sources.published.offer(asked), asked)
    except Unreachable:
        found = match(Offer(notes=("baseline-unreachable",)), asked)
    return freeze(found, asked, repushed=_moved(sources, old)), found.missing, found.absent


def _ancestry(comparisons: Sequence[Comparison]) -> Ancestry:
    """How a head that was compared stands to its base; ids may be short."""

    def order(one: str, other: str) -> Order | None:
        found = next((each for each in comparisons if _same(each.base, other) and _same(each.head, one)), None)
        return compare.stands(found) if found else None

    return order


def _same(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
