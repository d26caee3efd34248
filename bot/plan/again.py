"""Checks made again for one bump: before a sweep those whose facts change by the hour, before a retry the one that released it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from bot.layout import Layout
from bot.model.bump import Subject
from bot.model.finding import Check, Checked
from bot.model.image import Candidate
from bot.model.memory import Lesson
from bot.model.preflight import Facts
from bot.model.recipe import Recipe
from bot.model.uses import Uses
from bot.plan import checks, memory, world
from bot.plan.sources import Sources
from bot.preflight import CHECKS
from bot.preflight.history import newest, seen
from bot.recipe.shelf import Shelf
from bot.recipe.uses import uses

# What is asked of forge and fleet, not of an upstream: it costs a request or two.
WORLDLY: frozenset[Check] = frozenset({
    "identity", "roster", "runners", "staging", "mergeable", "certify", "names", "parity", "capacity", "overlap"})
# What may have changed since the proposal and forbids a sweep, or asks a person for one.
BEFORE_SWEEP: frozenset[Check] = frozenset({"identity", "runners", "staging", "certify", "capacity", "overlap"})


def checked(sources: Sources, layout: Layout, subject: Subject, only: Collection[Check]) -> tuple[Checked, ...]:
    """These checks of a bump's family with the facts of now, those that the layout switches off left out. Never raises."""
    return _made(sources, layout, subject.family, subject.candidate, only, subject)


def released(sources: Sources, layout: Layout, family: Sequence[Recipe], candidate: Candidate, known: Sequence[Lesson]) -> bool:
    """Whether what stopped this candidate is seen to be gone, as far as that can be asked for little: what forge and fleet say is
    asked again, and what an upstream's files decided of this image is the same until the recipe asks them for something else."""
    last = [one for one in newest(known) if one.release is not None]
    if not last:
        return False
    asked = {one.release.of for one in last if one.release is not None}
    made = {one.check: one for one in _made(sources, layout, family, candidate, asked & WORLDLY)}
    moved = bool(asked - WORLDLY) and _moved(sources, layout, family, last[0])
    return all(seen(one, made) if one.release is not None and one.release.of in WORLDLY else moved for one in last)


def _moved(sources: Sources, layout: Layout, family: Sequence[Recipe], last: Lesson) -> bool:
    """Whether the recipe asks for something else than it did then; of an older lesson its pins alone are known."""
    tree = Shelf.of(sources.tree)
    if last.asked:
        return checks.asked(sources, layout, tree, family) != last.asked
    return memory.pinned(uses(tree, layout, family, sources.engines)) != last.pins


def _made(sources: Sources, layout: Layout, family: Sequence[Recipe], candidate: Candidate, only: Collection[Check],
          subject: Subject | None = None) -> tuple[Checked, ...]:
    wanted = [name for name in CHECKS if name in only and name not in layout.preflight.off]
    if not wanted:
        return ()
    found, unknown = world.gather(sources, layout, Shelf.of(sources.tree), family, candidate, frozenset(wanted))
    plan = subject.plan if subject else None
    facts = Facts(now=sources.now or datetime.min.replace(tzinfo=UTC), family=tuple(family), candidate=candidate,
                  uses=Uses(engine=None), smoke=plan.smoke if plan else (), baseline=plan.baseline if plan else None,
                  missing_baseline=plan.missing_baseline if plan else None, unknown=unknown, **found)
    return tuple(CHECKS[name](facts) for name in wanted)
