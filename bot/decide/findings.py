"""What the checks made from files say of a bump: what stops it, what a person must answer, what the bot mends by itself first.

A finding is looked at as the newest look has it: what changes (runners, capacity, certifying rules) was asked again since the
plan was frozen, and a check that found something then may find nothing now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from bot import budget
from bot.decide.classes import prevented
from bot.model.bump import Bump
from bot.model.finding import Act, Check, Checked, PlanFinding
from bot.model.outcome import Outcome
from bot.preflight import findings, said

Step = Literal["everything", "smoke", "sweep"]

# What a finding holds until a person's word, by what it asks for and, where a check differs from the others, by the check. What
# must be mended first is proven not to start, or to hold what must not be there: no GPU is spent to see that.
HOLDS: dict[tuple[Act, Check | None], Step | None] = {
    ("stop", None): "everything",
    ("repair-first", None): "smoke",
    ("repair-first", "mergeable"): None,  # the sync before the sweep mends it anyway
    ("ask", None): "sweep",
    ("ask", "runners"): "smoke",  # where nothing can be scheduled a smoke is as impossible as a sweep
    ("note", None): None,
}


def holds(finding: PlanFinding) -> Step | None:
    """What waits for a person while this finding stands unanswered. A smoke that waits lets no sweep begin either."""
    return HOLDS.get((finding.action, finding.check), HOLDS[finding.action, None])


def checks(bump: Bump) -> tuple[Checked, ...]:
    """Every check of the plan, each as it was made last. One that could not be made again says what it said before."""
    fresh = {one.check: one for one in bump.world.checks if one.unknown is None}
    return tuple(fresh.get(one.check, one) for one in bump.subject.plan.checks)


def stops(bump: Bump) -> tuple[PlanFinding, ...]:
    """What forbids going on, in the order of the checks."""
    return tuple(_held(bump, "everything"))


def questions(bump: Bump) -> tuple[PlanFinding, ...]:
    """What the sweep waits for a person's word on: what is asked, and what should be mended first and was not."""
    return tuple(_held(bump, "smoke", "sweep"))


def holding_smoke(bump: Bump) -> tuple[PlanFinding, ...]:
    """Questions without whose answer no smoke runs either; what the bot is about to mend by itself is none."""
    own = mended_next(bump)
    return tuple(one for one in _held(bump, "smoke") if one not in own)


def about_smoke(held: Collection[PlanFinding]) -> str:
    """A word of the glossary for what the smoke waits for: something to be mended, or somebody who takes its jobs."""
    return "smoke-unmended" if any(one.action == "repair-first" for one in held) else "smoke-held"


def smoke_was_held(bump: Bump) -> bool:
    """Whether the plan had such a question, answered by now or not."""
    return any(holds(one) == "smoke" for one in findings(bump.subject.plan.checks))


def repairs(bump: Bump) -> tuple[PlanFinding, ...]:
    """Findings with a known repair that was not made yet."""
    return tuple(one for one in _held(bump, "smoke") if one.repair is not None)


def mended_next(bump: Bump) -> tuple[PlanFinding, ...]:
    """Those of them that the bot mends before the first smoke. None where no repair is left, where something ran already, or where
    the one that it looked for cannot be made: then a person is asked as for what has no known repair."""
    wanted, looked = bump.world.wanted, bump.world.pull is not None
    able = wanted is not None and not wanted.run and wanted.available
    return repairs(bump) if budget.repairs_left(bump) > 0 and (able or not looked) else ()


def outcome_of(found: tuple[PlanFinding, ...]) -> Outcome:
    """How a bump ends that these stop: the first decides, for the checks stand in the order of what must be right first."""
    return prevented(found[0].class_)


def why(found: tuple[PlanFinding, ...]) -> tuple[str, str]:
    """What the findings say, in English and Chinese; each once."""
    told = list(dict.fromkeys((said(one).en.rstrip("."), said(one).zh.rstrip("。")) for one in found))
    return f"{'; '.join(en for en, _ in told)}.", f"{'；'.join(zh for _, zh in told)}。"


def _held(bump: Bump, *steps: Step) -> Iterator[PlanFinding]:
    """Findings that hold one of these, what stops first; what a repair of ours has mended holds nothing."""
    made = {head.repair for head in bump.memory.heads if head.repair}
    return (one for one in findings(checks(bump)) if holds(one) in steps and (one.repair is None or one.repair not in made))
