"""What the checks made from files say of a bump: what stops it, what a person must answer, what the bot mends by itself first.

A finding is looked at as the newest look has it: what changes (runners, capacity, certifying rules) was asked again since the
plan was frozen, and a check that found something then may find nothing now.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.decide.classes import prevented
from bot.model.bump import Bump
from bot.model.finding import Act, Checked, PlanFinding
from bot.model.outcome import Outcome
from bot.preflight import findings, said

# Where nothing can be scheduled a smoke is as impossible as a sweep.
HOLDS_SMOKE = frozenset({"runners"})
# A conflict that only both sides' appending to the changelog made is mended by the sync that comes before the sweep anyway.
MENDED_ANYWAY = frozenset({"mergeable"})


def checks(bump: Bump) -> tuple[Checked, ...]:
    """Every check of the plan, each as it was made last. One that could not be made again says what it said before."""
    fresh = {one.check: one for one in bump.world.checks if one.unknown is None}
    return tuple(fresh.get(one.check, one) for one in bump.subject.plan.checks)


def stops(bump: Bump) -> tuple[PlanFinding, ...]:
    """What forbids going on, in the order of the checks."""
    return tuple(_with(bump, "stop"))


def questions(bump: Bump) -> tuple[PlanFinding, ...]:
    """What the sweep waits for a person's word on: what is asked, and what should be mended first and was not."""
    mended = {head.repair for head in bump.memory.heads if head.repair}
    left = (one for one in _with(bump, "repair-first") if one.check not in MENDED_ANYWAY and one.repair not in mended)
    return (*_with(bump, "ask"), *left)


def holding_smoke(bump: Bump) -> tuple[PlanFinding, ...]:
    """Questions without whose answer a smoke could not run either."""
    return tuple(one for one in _with(bump, "ask") if one.check in HOLDS_SMOKE)


def smoke_was_held(bump: Bump) -> bool:
    """Whether the plan had such a question, answered by now or not."""
    found = findings(bump.subject.plan.checks)
    return any(one.action == "ask" and one.check in HOLDS_SMOKE for one in found)


def repairs(bump: Bump) -> tuple[PlanFinding, ...]:
    """Findings with a known repair that was not made yet: it is pushed before the first smoke."""
    made = {head.repair for head in bump.memory.heads if head.repair}
    return tuple(one for one in _with(bump, "repair-first") if one.repair is not None and one.repair not in made)


def outcome_of(found: tuple[PlanFinding, ...]) -> Outcome:
    """How a bump ends that these stop: the first decides, for the checks stand in the order of what must be right first."""
    return prevented(found[0].class_)


def why(found: tuple[PlanFinding, ...]) -> tuple[str, str]:
    """What the findings say, in English and Chinese; each once."""
    told = list(dict.fromkeys((said(one).en.rstrip("."), said(one).zh.rstrip("。")) for one in found))
    return f"{'; '.join(en for en, _ in told)}.", f"{'；'.join(zh for _, zh in told)}。"


def _with(bump: Bump, action: Act) -> Iterator[PlanFinding]:
    return (one for one in findings(checks(bump)) if one.action == action)
