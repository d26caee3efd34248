"""Own history: a blocker stops the next try until the check that found it does not find it again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.finding import Checked, PlanFinding
from bot.model.memory import Lesson
from bot.model.outcome import Outcome
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.model.uses import Pin, Uses, Written
from bot.preflight.history import STALE, history
from tests.fakes import facts as fakes
from tests.fakes.found import found, lesson

NEW = fakes.resolved("new")
AGAIN = Checked(check="staging", findings=(found("staging", "stop", "model-not-staged", subject="gb200 x"),))
CLEAN = Checked(check="staging")
SILENT = Checked(check="staging", unknown=Text("nobody says", "无人说明"))


def asked(*lessons: Lesson, days: float = 1, pins: tuple[Pin, ...] = ()) -> Facts:
    subject = fakes.subject()
    return Facts(now=fakes.START + timedelta(days=days), family=subject.family, candidate=subject.candidate,
                 uses=Uses(engine="vllm", pins=pins), lessons=lessons)


def said(facts: Facts, made: Checked | None = None) -> list[tuple[str, str | None]]:
    return [(one.action, one.class_) for one in history(facts, {made.check: made} if made else {}).findings]


class TestTheSameCandidate:
    def test_that_was_blocked_is_stopped_while_the_blocker_is_there(self) -> None:
        assert said(asked(lesson(subject="gb200 x")), AGAIN) == [("stop", "model-not-staged")]

    def test_is_stopped_also_where_nobody_can_look(self) -> None:
        """The next day nothing had been staged, nobody could tell, and the same failure cost another slot."""
        facts = asked(lesson(subject="gb200 x"))
        assert said(facts, SILENT) == said(facts) == [("stop", "model-not-staged")]

    def test_may_go_on_once_the_blocker_is_seen_gone(self) -> None:
        assert said(asked(lesson(subject="gb200 x")), CLEAN) == [("note", "model-not-staged")]

    def test_may_go_on_where_the_blocker_is_seen_gone_and_something_else_cannot_be_seen(self) -> None:
        partly = replace(SILENT, held=("gb200 x",))
        assert said(asked(lesson(subject="gb200 x")), partly) == [("note", "model-not-staged")]
        assert said(asked(lesson(subject="gb200 y")), partly) == [("stop", "model-not-staged")]

    def test_is_not_held_by_another_things_absence(self) -> None:
        assert said(asked(lesson(subject="gb200 y")), AGAIN) == [("note", "model-not-staged")]

    def test_that_a_run_found_blocked_waits_for_the_whole_class(self) -> None:
        """A log says that something is missing, and not in a check's words what."""
        assert said(asked(lesson(subject="")), AGAIN) == [("stop", "model-not-staged")]
        assert said(asked(lesson(subject="")), CLEAN) == [("note", "model-not-staged")]

    def test_is_a_persons_question_when_nobody_could_look_for_long(self) -> None:
        assert said(asked(lesson(subject="x"), days=STALE / timedelta(days=1)), SILENT) == [("ask", "model-not-staged")]

    @pytest.mark.parametrize("check", ["capacity", "identity", "runners", "overlap"])
    def test_is_not_stopped_for_what_changes_by_the_hour_where_nobody_can_look(self, check: str) -> None:
        assert said(asked(lesson(subject="x", of=check))) == [("note", "model-not-staged")]

    @pytest.mark.parametrize(("outcome", "action"), [
        (Outcome.VALIDATED, "note"), (Outcome.MERGED, "note"), (Outcome.FAILED, "ask"), (Outcome.REGRESSED, "ask"),
        (Outcome.INCOMPATIBLE, "ask"), (Outcome.STOPPED, "note"), (Outcome.BUDGET_EXHAUSTED, "note"), (Outcome.UNCERTAIN, "note")])
    def test_that_ended_otherwise_is_told(self, outcome: Outcome, action: str) -> None:
        assert said(asked(lesson(outcome=outcome))) == [(action, "model-not-staged")]

    def test_is_judged_by_its_newest_try(self) -> None:
        blocked, good = lesson("first", subject="x"), lesson("second", Outcome.VALIDATED, at=fakes.later(60))
        assert said(asked(blocked, good)) == [("note", "model-not-staged")]
        assert said(asked(good, replace(blocked, at=fakes.later(120)))) == [("stop", "model-not-staged")]

    def test_is_the_same_by_its_digest_and_else_by_its_name(self) -> None:
        other = lesson(subject="x", digest="sha256:" + "9" * 64)
        assert said(asked(other)) == []
        assert said(asked(replace(other, digest=NEW.digest, image="elsewhere/x:y"))) == [("stop", "model-not-staged")]
        assert said(asked(replace(other, digest=None, image="elsewhere/x:y"))) == []

    def test_of_another_recipe_is_another(self) -> None:
        assert said(asked(lesson(subject="x", recipes=("other",)))) == []


class TestASibling:
    PIN = Pin(name="dynamo", package="ai-dynamo", module="dynamo", version="0.8.1", at=Written(file="r.yaml"))

    def moved(self, **changed: object) -> Lesson:
        told = {"recipes": ("other",), "class_": "moved-module", "engine": "vllm", "pins": {"dynamo": "0.8.1"}, **changed}
        return lesson(outcome=Outcome.INCOMPATIBLE, **told)

    def test_with_the_same_pin_is_named(self) -> None:
        (one,) = history(asked(self.moved(), pins=(self.PIN,)), {}).findings
        assert (one.action, one.class_) == ("note", "moved-module")
        assert one.what is not None and "other" in one.what.en and "other" in one.what.zh

    @pytest.mark.parametrize("changed", [{"pins": {"dynamo": "0.9.0"}}, {"engine": "sglang"}, {"class_": "oom"}])
    def test_with_another_pin_engine_or_trouble_is_not(self, changed: dict) -> None:
        assert said(asked(self.moved(**changed), pins=(self.PIN,))) == []


def test_what_is_said_stands_in_both_languages() -> None:
    told: list[PlanFinding] = list(history(asked(lesson(subject="x")), {}).findings)
    assert all(one.what and one.what.en and one.what.zh and one.next.en and one.next.zh for one in told)
    assert "old-bump" in told[0].what.en and "old-bump" in told[0].what.zh
    assert "it is staged" in told[0].next.en and "就位" in told[0].next.zh


def test_without_a_ledger_nothing_is_known() -> None:
    assert history(replace(asked(), unknown={"history": "not-asked"}), {}).unknown is not None
    assert history(asked(), {}).unknown is None
