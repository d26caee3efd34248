"""What becomes of a slash command, wherever the bump stands when it is given."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.commands import COMMANDS
from bot.decide.asked import assumed, remembered
from bot.decide.report.parts import PHASE_WORDS
from bot.model.action import React, Remember, Reopen, Say
from bot.model.bump import Approval, Asked, Ended, Told
from bot.model.rules import Limits
from tests.decide.asking import BUMPS, STOPPED, answers, ask, kept, order, ready
from tests.fakes import facts
from tests.fakes.facts import ENTRY, later
from tests.render.catalogue import GLOSSARY

# bump, word -> what the answer says, and what is remembered
TABLE = {
    ("smoke due", "smoke"): ("smoke-next", None),
    ("smoke due, poor", "smoke"): ("unpaid", None),
    ("smoke due, day", "smoke"): ("smoke-tomorrow", None),
    ("smoke due", "sweep"): ("sweep-after-smoke", Approval),
    ("smoke due, poor", "sweep"): ("unpaid", None),
    ("smoke due", "retry"): ("nothing-failed", None),
    ("smoking", "smoke"): ("smoke-running", None),
    ("smoking", "sweep"): ("sweep-after-smoke", Approval),
    ("smoking", "retry"): ("retry-early", None),
    ("smoking", "stop"): ("stopping", Ended),
    ("smoke broken", "smoke"): ("smoke-again", Asked),
    ("smoke broken", "retry"): ("retry-again", Asked),
    ("smoke broken, poor", "retry"): ("unpaid", None),
    ("smoke broken, day", "retry"): ("retry-tomorrow", Asked),
    ("smoke broken", "sweep"): ("sweep-after-smoke", Approval),
    ("smoke passed", "smoke"): ("smoke-again", Asked),
    ("smoke passed", "sweep"): ("sweep-after-merge", Approval),
    ("smoke passed", "retry"): ("nothing-failed", None),
    ("settling", "sweep"): ("sweep-after-merge", Approval),
    ("settling", "smoke"): ("smoke-again", Asked),
    ("blocked", "sweep"): ("blocked", None),
    ("blocked", "smoke"): ("blocked", None),
    ("blocked", "stop"): ("stopping", Ended),
    ("barred", "sweep"): ("barred", None),
    ("barred", "smoke"): ("barred", None),
    ("sweep due", "smoke"): ("smoke-again", Asked),
    ("sweep due", "sweep"): ("sweep-next", Approval),
    ("sweep due", "status"): ("status", None),
    ("sweep due", "help"): ("help", None),
    ("sweep due, poor", "sweep"): ("unpaid", None),
    ("sweep due, day", "sweep"): ("sweep-tomorrow", Approval),
    ("sweep due, day", "smoke"): ("smoke-tomorrow", Asked),
    ("sweep begun a moment ago", "sweep"): ("sweep-running", None),
    ("sweep begun a moment ago", "smoke"): ("sweep-stands", None),
    ("held", "sweep"): ("sweep-next", Approval),
    ("held", "retry"): ("nothing-failed", None),
    ("sweeping", "smoke"): ("sweep-stands", None),
    ("sweeping", "sweep"): ("sweep-running", None),
    ("sweeping", "retry"): ("retry-early", None),
    ("sweeping", "stop"): ("stopping", Ended),
    ("sweep broken", "retry"): ("retry-again", Asked),
    ("sweep broken", "sweep"): ("sweep-running", None),
    ("sweep broken, held", "retry"): ("sweep-held", None),
    ("sweep broken, held", "sweep"): ("sweep-next", Approval),
    ("sweeping, held", "sweep"): ("sweep-running", Approval),
    ("swept", "smoke"): ("sweep-stands", None),
    ("swept", "retry"): ("nothing-failed", None),
    ("finishing", "smoke"): ("over", None),
    ("finishing", "sweep"): ("over", None),
    ("finishing", "retry"): ("over", None),
    ("finishing", "stop"): ("over", None),
    ("finishing", "status"): ("status", None),
    ("finishing", "help"): ("help", None),
    ("stopping", "stop"): ("stopping", None),
    ("closed", "sweep"): ("over", None),
    ("closed", "stop"): ("over", None),
    ("pushed again", "sweep"): ("over", None),
    ("over", "status"): ("status", None),
    ("over", "smoke"): ("over", None),
    ("over", "stop"): ("stopping", None),
    ("over, held", "retry"): ("reopen-held", None),
    ("over, capped", "retry"): ("reopen-capped", None),
    ("over, poor", "retry"): ("unpaid", None),
    ("over, swept", "retry"): ("over", None),
    ("over, merged", "retry"): ("over", None),
    ("over, taken on", "retry"): ("over", None),
}
OBJECTIONS = ("no-permission", "unknown-word", "extra-words", "edited", "old")


class TestACommand:
    @pytest.mark.parametrize(("where", "word"), TABLE)
    def test_is_remembered_and_answered_by_where_the_bump_stands(self, where: str, word: str) -> None:
        actions, (result, fact) = ask(BUMPS[where], order(word)), TABLE[where, word]
        [answer] = answers(actions)
        assert (answer.result, [type(one) for one in kept(actions)]) == (result, [fact] if fact else [])
        assert (answer.command, answer.by, answer.comment) == (word, "ann", 5)
        assert [action.slot for action in actions if isinstance(action, Say)] == ["answer-5"]
        assert isinstance(actions[-1], React) and actions[-1].comment == 5

    def test_is_marked_as_obeyed_only_where_it_is(self) -> None:
        marks = {key: ask(BUMPS[key[0]], order(key[1]))[-1].content for key in TABLE}
        heard = ("status", "help", "stopping", "smoke-next", "smoke-again", "smoke-tomorrow", "retry-again", "retry-tomorrow")
        assert {marks[key] for key, (result, fact) in TABLE.items() if fact or result in heard} == {"+1"}
        assert {marks[key] for key, (result, fact) in TABLE.items() if not fact and result not in heard} == {"-1"}

    def test_has_words_for_everything_an_answer_may_say(self) -> None:
        said = {result for result, _ in TABLE.values()} | set(OBJECTIONS) | {"smoke-ran", "reopened"}
        assert {f"answer-{word}" for word in said} == {term for term in GLOSSARY if term.startswith("answer-")}
        assert [word for word in (*PHASE_WORDS.values(), "sweep-due", "held", "approval", "tomorrow") if f"now-{word}" not in GLOSSARY] == []

    def test_that_is_answered_asks_for_nothing_any_more(self) -> None:
        told = Told(slot="answer-5", comment=9, digest="d", at=later(141))
        assert ask(ready(memory={"told": (told,)}), order("stop")) == ()

    def test_without_one_there_is_nothing_to_do(self) -> None:
        assert ask(ready()) == ()

    def test_that_was_remembered_and_not_answered_is_answered_and_not_remembered_again(self) -> None:
        """A wake died, or the forge did, between the two."""
        for (where, word), (result, fact) in TABLE.items():
            first = ask(BUMPS[where], order(word))
            after = assumed(BUMPS[where], [action for action in first if isinstance(action, Remember)])
            again = ask(after, order(word))
            assert kept(again) == [] and len(answers(again)) == 1
            assert remembered(after.memory, order(word)) == (fact is not None)
            if fact:
                assert answers(again)[0].result == result

    @pytest.mark.parametrize("objection", OBJECTIONS)
    @pytest.mark.parametrize("word", COMMANDS)
    def test_that_may_not_be_obeyed_changes_nothing(self, word: str, objection: str) -> None:
        actions = ask(ready(), order(None if objection == "unknown-word" else word, objection=objection))
        assert kept(actions) == [] and answers(actions)[0].result == objection
        assert actions[-1].content in ("-1", "confused")
        assert bool(answers(actions)[0].commands) == (objection in ("unknown-word", "extra-words"))


class TestABumpThatIsOver:
    def test_is_opened_again_by_a_retry_which_is_one_action_and_its_answer(self) -> None:
        actions = ask(BUMPS["over"], order("retry"))
        assert actions[0] == Reopen(head=ENTRY, by="ann", at=later(140), comment=5)
        assert [answer.result for answer in answers(actions)] == ["reopened"] and actions[-1].content == "+1"
        after = assumed(BUMPS["over"], actions).memory
        assert (after.ended, after.closed, remembered(after, order("retry"))) == (None, False, True)

    def test_is_opened_for_what_it_had_still_to_measure(self) -> None:
        """Stopped between a sweep and the repeat of its suspect points: the repeat is what a retry goes on with."""
        after = ask(BUMPS["over, suspects"], order("retry"))
        assert [answer.result for answer in answers(after)] == ["reopened"]
        poor = replace(BUMPS["over, suspects"], subject=replace(facts.subject(), limits=Limits(gpu_hours=32.0)))
        answer, = answers(ask(poor, order("retry")))
        assert (answer.result, answer.forecast) == ("unpaid", 16 * 1.5)

    def test_says_its_last_words_anew_when_it_ends_again(self) -> None:
        told = tuple(Told(slot=slot, comment=9, digest="d", at=later(1)) for slot in ("attempt-0", "stop", "finishing", "final"))
        made = ready(memory={"ended": STOPPED, "closed": True, "told": told}, pull_={"open": False})
        assert [one.slot for one in assumed(made, ask(made, order("retry"))).memory.told] == ["attempt-0"]
