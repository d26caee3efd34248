"""The facts of one candidate, gathered through ports and frozen: used by plan, bump and wake. Touches nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime

from msgspec.structs import replace

from bot import layout as layouts
from bot import proof
from bot.baseline import freeze, join, match, question
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.images import judge, provenance, reference, sights
from bot.images.contains import contained
from bot.images.tags import Ancestry, Order
from bot.layout import Layout
from bot.model.baseline import Offer
from bot.model.bump import Plan, Subject
from bot.model.image import Candidate, Resolved
from bot.model.policy import Answered
from bot.model.recipe import Edit, Point, Recipe
from bot.model.result import Absent, Baseline
from bot.model.rules import Limits
from bot.model.text import Text
from bot.model.upstream import Comparison
from bot.plan.sources import Sources
from bot.ports import Commits, Tree
from bot.proof import Proof, Witness
from bot.recipe import edit, matrix, mentions
from bot.recipe import movable as movables
from bot.recipe.read import control, family, keys, policy, read
from bot.recipe.shelf import Shelf

__all__ = ["Sources", "bump_id", "movable", "plan"]


def plan(sources: Sources, layout: Layout, key: str, image: str, limits: Limits, reasons: Sequence[str] = (),
         hints: Sequence[Answered] = ()) -> Subject:
    """What moving a recipe's family to `image` would mean: candidate, edit, scope, upstream, frozen baseline. `reasons` are
    those for which it was chosen, where nobody named it, and `hints` the answers to release hints then.

    Raises Refusal when a rule forbids it, BadInput for what does not parse, Missing and Unreachable from the ports.
    """
    tree = Shelf.of(sources.tree)
    recipes = tuple(read(tree, layout, name) for name in movable(tree, layout, key))
    names = [recipe.key for recipe in recipes]
    old, new = _resolve(sources, recipes[0].image), _resolve(sources, image)
    witness = proof.witness(tree, layout, names, sources.generator, sources.say)
    recipes, layout = proof.recipes(tree, layout, recipes, witness), proof.stages(layout, witness)
    lead = next(recipe for recipe in recipes if recipe.key == key)
    members = (lead, *(recipe for recipe in recipes if recipe.key != key))
    baseline, missing = _baselines(sources, members, old)
    comparisons = _comparisons(sources.commits, layout, old, new)
    candidate = _candidate(sources, layout, lead, old, new, baseline, comparisons, reasons)
    candidate = replace(candidate, hints=tuple(hints) or candidate.hints)
    moved = edit.move(tree, layout, names, candidate.text)
    if not moved.files:
        raise Refusal(f"{key} runs {candidate.text} already", "nothing is to be done")
    proved, smoke = _proved(sources, tree, layout, moved, names, witness), _smoke(layout, members)
    arm = any([control(tree, layout, recipe) for recipe in members])
    proof.smoke(tree, layout, members, smoke, moved, witness, control=arm)
    return Subject(
        family=members,
        candidate=candidate,
        plan=Plan(
            title=Text(en=f"Update {key}", zh=f"更新 {key}"),
            sites=tuple(site for site in moved.sites if site.file in moved.files),
            scope=proved.scope,
            diff=moved.diff,
            smoke=smoke,
            comparisons=comparisons,
            baseline=baseline,
            missing_baseline=missing,
            thresholds={point.eval.task: point.eval.threshold for recipe in recipes for point in recipe.points if point.eval},
            notes=(*proved.notes, *mentions.told(mentions.mentions(tree, layout, names))),
            control=arm,
        ),
        rules=layouts.rules(layout, branch=layout.branch + bump_id(key, new.digest)),
        limits=limits,
    )


def movable(tree: Tree | Shelf, layout: Layout, key: str) -> tuple[str, ...]:
    """The recipes that move with `key`. Missing for an unknown one; Refusal, from files alone and so before anybody is asked,
    where their image cannot be moved from here."""
    known = keys(tree, layout)
    if key not in known:
        raise Missing(f"there is no recipe {key}", "the layout says in which files recipes are; a recipe is named as there")
    together = family(tree, layout, key)
    movables.require(tree, layout, together)
    return together


def _smoke(layout: Layout, family: Sequence[Recipe]) -> tuple[Point, ...]:
    """The points of the smoke, stage by stage, over the family's own sweep."""
    if layout.smoke is None:
        return ()
    points = [point for recipe in family for point in recipe.points]
    return matrix.smoke(points, sample=layout.smoke.eval_sample, shuffled=layout.smoke.eval_shuffled, stages=layout.smoke.stages)


def bump_id(key: str, digest: str) -> str:
    """Recipe and digest, in the letters a ledger path and a branch may hold: the same candidate is the same bump."""
    slug = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    return f"{slug}-{digest.partition(':')[2][:12]}"


def _resolve(sources: Sources, text: str) -> Resolved:
    found = provenance.settle(sources.registry.resolve(reference.parse(text)), sources.schemes)
    return replace(found, first_seen=sights.first_seen(sources.seen(found), found.digest))


def _moved(sources: Sources, image: Resolved) -> datetime | None:
    """When a recipe's tag was last pushed again, by the registry or our own sights; a pinned one's bytes stay."""
    known = [image.pushed, None if image.reference.digest else sights.moved(sources.seen(image))]
    return max((at for at in known if at is not None), default=None)


def _candidate(sources: Sources, layout: Layout, recipe: Recipe, old: Resolved, new: Resolved,
               baseline: Baseline | None, comparisons: Sequence[Comparison], reasons: Sequence[str]) -> Candidate:
    rules = policy(sources.tree, layout, recipe)
    holds = contained(sources.commits, layouts.github_of(layout, new.reference.name), new.facts.commit, rules)
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


def _baselines(sources: Sources, family: Sequence[Recipe], old: Resolved) -> tuple[Baseline | None, str | None]:
    """The family's baselines as one, and why the first recipe that has none has none; its name stands behind the word only
    where others have one."""
    found = {recipe.key: _baseline(sources, recipe, old) for recipe in family}
    some = any(one is not None for one, _, _ in found.values())
    missing = next((f"{why.partition(':')[0]}:{key}" if some else why for key, (_, why, _) in found.items() if why), None)
    lacking = [point for one, _, points in found.values() if one is None for point in points]
    return join({key: one for key, (one, _, _) in found.items() if one is not None}, lacking), missing


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


def _proved(sources: Sources, tree: Shelf, layout: Layout, moved: Edit, family: Sequence[str], witness: Witness | None) -> Proof:
    found = proof.prove(tree, layout, family, moved, witness, sources.say)
    if found.fault is not None:
        raise Refusal(f"the edit changes more of the matrix than this family's image: {found.fault}",
                      "report it: an image edit must not do that")
    return found


def _comparisons(commits: Commits, layout: Layout, old: Resolved, new: Resolved) -> tuple[Comparison, ...]:
    """Each image's commit against the engine's main line, then one against the other; what cannot be asked is left out."""
    source = layouts.github_of(layout, new.reference.name)
    pairs = [("main", old.facts.commit), ("main", new.facts.commit), (old.facts.commit, new.facts.commit)]
    return tuple(
        found
        for base, head in pairs
        if source and base and head
        for found in _asked(lambda base=base, head=head: commits.compare(source, base, head))
    )


def _ancestry(comparisons: Sequence[Comparison]) -> Ancestry:
    """How a head that was compared stands to its base; ids may be short."""

    def order(one: str, other: str) -> Order | None:
        found = next((each for each in comparisons if _same(each.base, other) and _same(each.head, one)), None)
        return _stands(found) if found else None

    return order


def _stands(found: Comparison) -> Order:
    """How the head of a comparison stands to its base."""
    if found.merge_base is None or (found.ahead and found.behind):
        return "incomparable"
    return "newer" if found.ahead else "older" if found.behind else "same"


def _same(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _asked(ask: Callable[[], Comparison]) -> tuple[Comparison, ...]:
    try:
        return (ask(),)
    except (Missing, Unreachable, BadInput):
        return ()
