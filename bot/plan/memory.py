"""Which of the ledger's lessons concern a plan: those of its recipes, and those that its engine and pins share with others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

from bot.errors import BadInput
from bot.model.memory import Lesson
from bot.model.recipe import Recipe
from bot.model.upstream import Change
from bot.model.uses import Uses
from bot.plan.sources import Sources
from bot.upstream import changes as named

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


def changes(known: Sequence[Lesson], family: Sequence[Recipe], repository: str) -> Iterator[Change]:
    """The upstream changes that earlier bumps of these recipes ended for the want (or the presence) of, as `must-have
    vllm-project/vllm#54853` says. What a policy wished then stands behind the name of what lacked it: it is the policy's to say
    whether it still wishes that, and another recipe never did."""
    own = {recipe.key for recipe in family}
    for lesson in known:
        if lesson.release is None or lesson.release.of != "contains" or not own.intersection(lesson.recipes):
            continue
        word, _, name = lesson.release.subject.rpartition(" ")
        if word not in ("", "must-have", "must-not-have"):
            continue
        try:
            yield named.parsed(name, repository, "must-not-have" if word == "must-not-have" else "must-have", f"bump {lesson.bump}")
        except BadInput:
            continue


def pinned(used: Uses) -> dict[str, str]:
    """The coupled parts by name, with the version or commit that says which."""
    return {pin.name: pin.version or pin.commit or pin.wheel or pin.ref or "" for pin in used.pins}


def asked(used: Uses, family: Sequence[Recipe], wanted: Sequence[Change]) -> str:
    """A sum of what upstream's files are asked about a family: what it passes, runs on, pins, carries, and wishes of an image. The
    same image answers the same question alike, so while it stands nothing need be looked at again. Where it is written is left
    out."""
    passed = sorted((one.kind, one.name, one.value or "", one.role, one.program, str(one.conditional))
                    for one in (*used.options, *used.environment))
    carried = sorted((one.at.file, one.patch_id or "") for one in used.carried)
    told = (used.engine, passed, sorted(pinned(used).items()), sorted({one.hardware for one in family}),
            sorted({one.model for one in family}), carried, sorted({(one.wanted, one.text) for one in wanted}), sorted(used.unread))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
