"""The facts of one candidate, gathered through ports and frozen: used by plan, bump and wake. Touches nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from msgspec.structs import replace

from bot import layout as layouts
from bot import proof
from bot.errors import Missing, Refusal
from bot.layout import Layout
from bot.model.bump import Plan, Subject
from bot.model.policy import Answered
from bot.model.recipe import Edit, Point, Recipe
from bot.model.rules import Limits
from bot.model.text import Text
from bot.plan import checks
from bot.plan.candidate import baselines, candidate, resolve
from bot.plan.sources import Sources
from bot.ports import Tree
from bot.proof import Proof, Witness
from bot.recipe import edit, matrix, mentions
from bot.recipe import movable as movables
from bot.recipe.read import control, family, keys, policy, read
from bot.recipe.shelf import Shelf

_LONGEST = 80

ELSEWHERE: tuple[movables.Kind, ...] = ("outside",)
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
    old, new = resolve(sources, recipes[0].image), resolve(sources, image)
    witness = proof.witness(tree, layout, names, sources.generator, sources.say)
    recipes, layout = proof.recipes(tree, layout, recipes, witness), proof.stages(layout, witness)
    lead = next(recipe for recipe in recipes if recipe.key == key)
    members = (lead, *(recipe for recipe in recipes if recipe.key != key))
    baseline, missing = baselines(sources, members, old)
    trees, rules = checks.trees_of(sources, layout, lead, new), policy(sources.tree, layout, lead)
    known = checks.known(sources, layout, tree, trees, members, old, new)
    chosen = candidate(sources, layout, rules, old, new, baseline, known.comparisons, reasons)
    chosen = replace(chosen, hints=tuple(hints) or chosen.hints)
    moved = edit.move(tree, layout, names, chosen.text)
    if not moved.files:
        raise Refusal(f"{key} runs {chosen.text} already", "nothing is to be done")
    proved, smoke = _proved(sources, tree, layout, moved, names, witness), _smoke(layout, members)
    arm = any([control(tree, layout, recipe) for recipe in members])
    proof.smoke(tree, layout, members, smoke, moved, witness, control=arm)
    made = checks.made(sources, layout, tree, trees, known, members, chosen, smoke, baseline, missing)
    if not any(one.action == "stop" for check in made.checks for one in check.findings):
        movables.require(tree, layout, names)
    found = Plan(
        title=Text(en=f"Update {key}", zh=f"更新 {key}"), sites=tuple(site for site in moved.sites if site.file in moved.files),
        scope=proved.scope, diff=moved.diff, smoke=smoke, comparisons=known.comparisons, baseline=baseline,
        missing_baseline=missing, control=arm, checks=made.checks, carried=made.carried, siblings=made.siblings,
        pins=made.pins, asked=made.asked,
        thresholds={point.eval.task: point.eval.threshold for recipe in recipes for point in recipe.points if point.eval},
        notes=(*proved.notes, *known.notes, *mentions.told(mentions.mentions(tree, layout, names))),
    )
    demanded = layouts.rules(layout, branch=layout.branch + bump_id(key, new.digest))
    return Subject(family=members, candidate=chosen, plan=found, rules=demanded, limits=limits)


def movable(tree: Tree | Shelf, layout: Layout, key: str) -> tuple[str, ...]:
    """The recipes that move with `key`. Missing for an unknown one; Refusal, from files alone and so before anybody is asked,
    where their image cannot be moved from here. Of recipe files that a third repository holds the layout may say where they lie:
    then a plan can still tell that the image fits none of them, and refuses after that."""
    known = keys(tree, layout)
    if key not in known:
        raise Missing(f"there is no recipe {key}", "the layout says in which files recipes are; a recipe is named as there")
    together = family(tree, layout, key)
    movables.require(tree, layout, together, beside=ELSEWHERE if layout.preflight.elsewhere else ())
    return together


def _smoke(layout: Layout, family: Sequence[Recipe]) -> tuple[Point, ...]:
    """The points of the smoke, stage by stage, over the family's own sweep."""
    if layout.smoke is None:
        return ()
    points = [point for recipe in family for point in recipe.points]
    return matrix.smoke(points, sample=layout.smoke.eval_sample, shuffled=layout.smoke.eval_shuffled, stages=layout.smoke.stages)


def bump_id(key: str, digest: str) -> str:
    """Recipe and digest, in the letters a ledger path and a branch may hold: the same candidate is the same bump. A name too
    long for those, or without such letters, is told by a sum of it."""
    slug = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    if not slug or len(slug) > _LONGEST:
        slug = f"{slug[:_LONGEST].strip('-') or 'recipe'}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    return f"{slug}-{digest.partition(':')[2][:12]}"


def _proved(sources: Sources, tree: Shelf, layout: Layout, moved: Edit, family: Sequence[str], witness: Witness | None) -> Proof:
    found = proof.prove(tree, layout, family, moved, witness, sources.say)
    if found.fault is not None:
        raise Refusal(f"the edit changes more of the matrix than this family's image: {found.fault}",
                      "report it: an image edit must not do that")
    return found
