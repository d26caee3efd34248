"""Which of the ledger's lessons concern a plan: those of its recipes, and those that its engine and pins share with others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.model.memory import Lesson
from bot.model.recipe import Recipe
from bot.plan.sources import Sources

# A ledger grows for years; what a plan weighs must not.
MOST = 200


def lessons(sources: Sources, family: Sequence[Recipe]) -> tuple[Lesson, ...]:
    """The newest lessons that may say something of these recipes, oldest first; none where there is no ledger."""
    if sources.lessons is None:
        return ()
    found = [one for one in sources.lessons() if _concerns(one, family)]
    return tuple(sorted(found, key=lambda one: (one.at, one.bump))[-MOST:])


def _concerns(lesson: Lesson, family: Collection[Recipe]) -> bool:
    own = {recipe.key for recipe in family}.intersection(lesson.recipes)
    return bool(own) or any(lesson.engine == recipe.framework for recipe in family)

