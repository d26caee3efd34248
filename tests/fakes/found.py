"""Findings and lessons in the making."""

from __future__ import annotations

from msgspec.structs import replace

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.memory import Lesson
from bot.model.outcome import Outcome
from bot.model.text import Text
from tests.fakes.facts import START


def found(check: str, action: str, class_: str | None = None, *, repair: str | None = None, subject: str | None = None) -> PlanFinding:
    """A finding of this check; with a subject it has its release."""
    release = Release(of=check, subject=subject, says=Text("when it is there", "就位后")) if subject is not None else None
    return PlanFinding(check=check, class_=class_, action=action, evidence=f"{check} saw it", where="here", who="operator",
                       next=Text(f"mend {check}", f"修正 {check}"), what=Text(f"{check} is wrong", f"{check} 有误"), repair=repair,
                       release=release)


def checks(*findings: PlanFinding) -> tuple[Checked, ...]:
    """Each check with its findings, in the order in which they are first named."""
    names = dict.fromkeys(one.check for one in findings)
    return tuple(Checked(check=name, findings=tuple(one for one in findings if one.check == name)) for name in names)


def lesson(bump: str = "old-bump", outcome: Outcome = Outcome.READINESS_BLOCKED, *, subject: str | None = None, of: str = "staging",
           **changed: object) -> Lesson:
    """What an earlier bump of recipe `r` to the image of `facts.bump` taught; with a subject it has its release."""
    release = Release(of=of, subject=subject, says=Text("it is staged", "就位")) if subject is not None else None
    made = Lesson(bump=bump, recipes=("r",), at=START, engine="vllm", image="vllm/vllm-openai:new", check=of,
                  class_="model-not-staged", evidence="not there", outcome=outcome, release=release)
    return replace(made, **changed)
