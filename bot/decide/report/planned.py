"""What planning found, as people read it: upstream's commits, each check, what waits for whom, hints, siblings, patches, pins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.decide.findings import checks, holding_smoke, mended_next, questions, stops
from bot.decide.people import asked_for_sweep, smoke_held
from bot.model.bump import Bump, Plan
from bot.model.checklines import CarriedLine, CheckLine, CompareLine, HintLine, SiblingLine, State, TouchLine
from bot.model.finding import Checked, PlanFinding
from bot.model.image import Candidate
from bot.model.upstream import Comparison, Touch

# A body is read by people: of what is only told, so many lines; `bumpbot plan` has them all.
TOUCHING, WORDS = 12, 6
NOTES = 6
SIBLINGS = 8
_ORDER: dict[State, int] = {"stop": 0, "ask": 1, "repair-first": 2, "note": 3, "unknown": 4, "holds": 5}


def compared(comparison: Comparison) -> CompareLine:
    """A comparison without what others wrote: of the commits that touch what the recipe uses, the first."""
    shown = touches(comparison.touching[:TOUCHING], comparison.url)
    return CompareLine(
        repository=comparison.repository, base=comparison.base, head=comparison.head, merge_base=comparison.merge_base,
        ahead=comparison.ahead, behind=comparison.behind, url=comparison.url, doubts=comparison.doubts,
        touching=shown, more=max(comparison.concerning, len(comparison.touching)) - len(shown),
    )


def touches(found: Iterable[Touch], url: str) -> tuple[TouchLine, ...]:
    """Commits by id, link, day, pull request and the recipe's words. The link is to the commit: one to the pull request would
    leave a note there, in somebody else's repository, for each of our bumps."""
    place = url.partition("/compare/")[0] if "/compare/" in url else ""
    return tuple(
        TouchLine(sha=one.commit.sha, url=f"{place}/commit/{one.commit.sha}" if place else "", date=one.commit.date[:10],
                  pull=one.commit.pull, words=one.words[:WORDS])
        for one in found)


def check_lines(bump: Bump) -> tuple[CheckLine, ...]:
    """Every check as it was made last: its findings, that it holds, or why nothing is known; what stops first."""
    lines = [line for checked in checks(bump) for line in _lines(checked)]
    return tuple(sorted(lines, key=lambda line: _ORDER[line.state]))


def stop_lines(bump: Bump) -> tuple[CheckLine, ...]:
    """What forbids the bump."""
    return found_lines(stops(bump))


def question_lines(bump: Bump) -> tuple[CheckLine, ...]:
    """What waits for a person's word, as long as nobody gave it and nothing forbids the bump anyway, with what it holds: the smoke
    first. What the bot mends by itself is no question."""
    if stops(bump) or asked_for_sweep(bump) or bump.memory.ended is not None:
        return ()
    own, smoke = mended_next(bump), holding_smoke(bump) if smoke_held(bump) else ()
    asked = [one for one in questions(bump) if one not in own and one not in smoke]
    return tuple(replace(line, holds=step) for step, found in (("smoke", smoke), ("sweep", asked)) for line in found_lines(found))


def repair_lines(bump: Bump) -> tuple[CheckLine, ...]:
    """What the bot mends by itself before the first smoke."""
    return () if stops(bump) else found_lines(mended_next(bump))


def shown(lines: Sequence[CheckLine]) -> tuple[tuple[CheckLine, ...], int]:
    """The lines that a body has room for, and how many notes it leaves out: of one check only the first few are told."""
    kept: list[CheckLine] = []
    for line in lines:
        if line.state != "note" or sum(one.check == line.check and one.state == "note" for one in kept) < NOTES:
            kept.append(line)
    return tuple(kept), len(lines) - len(kept)


def hint_lines(candidate: Candidate) -> tuple[HintLine, ...]:
    """Release hints and their answers; of one that was not taken, why its own tag lost."""
    return tuple(HintLine(what=hint.what, by=hint.by, answer=hint.answer, how=hint.how, beside=hint.beside,
                          why=hint.lost or hint.why) for hint in candidate.hints)


def sibling_lines(plan: Plan) -> tuple[SiblingLine, ...]:
    """Recipes that run the candidate, those with its very digest first."""
    return tuple(SiblingLine(recipe=one.recipe, same=one.same, hardware=one.hardware, since=one.since, pins=one.pins,
                             evals=one.evals) for one in sorted(plan.siblings, key=lambda one: (one.same, one.recipe)))


def carried_lines(plan: Plan) -> tuple[CarriedLine, ...]:
    """Carried patches, those that can be dropped first."""
    lines = [CarriedLine(at=one.carried.at.text, changes=tuple(held.change.text for held in one.held), holds=one.holds)
             for one in plan.carried]
    return tuple(sorted(lines, key=lambda line: (line.holds is not True, line.at)))


def found_lines(findings: Iterable[PlanFinding]) -> tuple[CheckLine, ...]:
    """Findings as lines, in their own order."""
    return tuple(
        CheckLine(check=one.check, state=one.action, class_=one.class_, what=one.what, evidence=one.evidence, where=one.where,
                  next=one.next, who=one.who, repair=one.repair, release=one.release.says if one.release else None)
        for one in findings)


def _lines(checked: Checked) -> tuple[CheckLine, ...]:
    found = found_lines(checked.findings)
    if checked.unknown is not None:
        return (*found, CheckLine(check=checked.check, state="unknown", what=checked.unknown))
    return found or (CheckLine(check=checked.check, state="holds", what=checked.about),)
