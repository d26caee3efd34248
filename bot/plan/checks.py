"""The facts that the checks before a GPU look at, gathered once, and what the checks say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from bot.baseline import question
from bot.errors import BumpbotError
from bot.images import reference
from bot.layout import Layout
from bot.model.finding import Checked
from bot.model.image import Candidate, Resolved
from bot.model.memory import Lesson
from bot.model.preflight import Facts
from bot.model.recipe import Point, Recipe
from bot.model.result import Baseline, Row
from bot.model.text import Text
from bot.model.upstream import CarriedHeld, Comparison, Contained, Sibling
from bot.model.uses import Uses
from bot.plan import memory, reading, upstream, world
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.preflight import preflight
from bot.recipe import siblings
from bot.recipe.read import changes, outline, read
from bot.recipe.shelf import Shelf
from bot.recipe.uses import engine_name, uses

SCORED = 5
"""So many siblings' scores are looked for."""
NEVER = datetime.min.replace(tzinfo=UTC)


class Known(Struct, frozen=True, kw_only=True):
    """What is known of upstream before a candidate is judged: the comparisons order it, and what it holds may refuse it."""

    uses: Uses
    lessons: tuple[Lesson, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    contained: tuple[Contained, ...] = ()
    notes: tuple[Text, ...] = ()


class Made(Struct, frozen=True, kw_only=True):
    """The checks of a plan, and what was found beside them."""

    checks: tuple[Checked, ...]
    carried: tuple[CarriedHeld, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    pins: dict[str, str] = {}
    asked: str = ""


def trees_of(sources: Sources, layout: Layout, lead: Recipe, new: Resolved) -> Trees:
    """The reader of the engine's sources."""
    return Trees(sources, layout, engine_name(layout, lead, sources.engines), new)


def known(sources: Sources, layout: Layout, tree: Shelf, trees: Trees, family: Sequence[Recipe], old: Resolved,
          new: Resolved) -> Known:
    """What the family uses, what was learnt, what lies between the images, and which of the wanted changes the new one holds."""
    used = uses(tree, layout, family, sources.engines, trees.elsewhere)
    lessons = memory.lessons(sources, family)
    wanted = (*changes(tree, layout, family[0]), *memory.changes(lessons, family, trees.repository or ""))
    return Known(uses=used, lessons=lessons, comparisons=upstream.comparisons(sources, trees, old, new, used),
                 contained=upstream.contained(sources, trees, old, new, used, wanted) if wanted else (),
                 notes=upstream.untold(trees, old, new))


def made(sources: Sources, layout: Layout, tree: Shelf, trees: Trees, known: Known, family: Sequence[Recipe],
         candidate: Candidate, smoke: Sequence[Point], baseline: Baseline | None, missing: str | None) -> Made:
    """Every check of the plan, with all that can be asked here; what cannot is unknown there, with the reason."""
    files, unread = reading.gathered(sources, trees, candidate.old, candidate.new, known.uses, family[0])
    others, untold = world.gather(sources, layout, tree, family, candidate)
    unread |= {} if sources.lessons is not None else {"history": "not-asked"}
    beside = _siblings(sources, layout, tree, family, candidate)
    said: Mapping[str, Any] = {**files, **others}
    facts = Facts(
        now=sources.now or NEVER, family=tuple(family), candidate=candidate, uses=known.uses, smoke=tuple(smoke),
        baseline=baseline, missing_baseline=missing, comparisons=known.comparisons, contained=known.contained,
        siblings=beside, lessons=known.lessons, unknown={**unread, **untold}, **said,
    )
    return Made(checks=preflight(facts, tuple(layout.preflight.off)), carried=facts.carried, siblings=beside,
                pins=memory.pinned(known.uses),
                asked=asked(sources, layout, tree, family, None if layout.preflight.elsewhere else known.uses))


def _siblings(sources: Sources, layout: Layout, tree: Shelf, family: Sequence[Recipe], candidate: Candidate) -> tuple[Sibling, ...]:
    """Who in this repository runs the candidate already, with which coupled parts, and what the first few are published to have
    scored with it: a source of results may be asked once a recipe, so not for all."""
    image = reference.with_digest(candidate.new.reference, candidate.new.digest)

    def pins(key: str) -> tuple[str, ...]:
        return tuple(pin.text for pin in uses(tree, layout, (outline(tree, layout, key),), sources.engines).pins)

    asked = list[str]()

    def scored(key: str) -> Sequence[Row]:
        asked.append(key)
        return _scores(sources, layout, tree, key) if len(asked) <= SCORED else ()

    return siblings.siblings(tree, layout, [recipe.key for recipe in family], image, pins=pins, scored=scored)


def _scores(sources: Sources, layout: Layout, tree: Shelf, key: str) -> Sequence[Row]:
    """The published evals of a recipe with the image that it runs; none where its points or the source do not tell."""
    try:
        wanted = question(read(tree, layout, key))
        sets = sources.published.offer(wanted).sets if wanted.configurations else ()
    except BumpbotError:
        return ()
    return [row for one in sets for row in one.rows if row.metric == "eval"]


def asked(sources: Sources, layout: Layout, tree: Shelf, family: Sequence[Recipe], used: Uses | None = None) -> str:
    """What upstream's files are asked about a family, as a sum: from files of this repository alone, so that it can be asked again
    at every scan. `used` is what they were read to say, where that is known."""
    return memory.asked(used or uses(tree, layout, family, sources.engines), family, changes(tree, layout, family[0]))
