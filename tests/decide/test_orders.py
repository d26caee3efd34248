"""What becomes of a slash command, wherever the bump stands when it is given."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot import budget
from bot.commands import COMMANDS
from bot.decide.asked import assumed, remembered
from bot.decide.orders import OTHERS, orders
from bot.decide.report.parts import PHASE_WORDS
from bot.model.action import Action, React, Remember, Reopen, Say
from bot.model.bump import Approval, Asked, Bump, Ended, Told
from bot.model.forge import Labelling
from bot.model.order import Order
from bot.model.outcome import Cause, Outcome
from bot.model.record import Answer
from bot.model.result import Cell, Rerun, Verdict
from bot.model.rules import Limits
from tests.fakes import facts
from tests.fakes.facts import ENTRY, LABEL, PROPOSAL, bump, job, judged, later, run
from tests.render.catalogue import GLOSSARY

GREEN = run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", concurrency=4))
RED = run(10, "smoke", PROPOSAL, job(1, conclusion="failure"), conclusion="failure")
SWEEP = run(20, "sweep", ENTRY, job(3, status="in_progress"), status="in_progress", reason="label", minutes=90)
CUT = run(20, "sweep", ENTRY, job(3, conclusion="failure", minutes=120), conclusion="failure", reason="label", minutes=90)
SWEPT = run(20, "sweep", ENTRY, job(3, minutes=120), reason="label", minutes=90)
OFF = Labelling(label=LABEL, by="bob", at=later(130), added=False)
POOR = {"limits": Limits(gpu_hours=1.0)}
DAY = {"limits": Limits(gpu_hours=1000.0, gpu_hours_per_day=1000.0), "world": {"promised_today": 999.5}}
FAILED = Ended(outcome=Outcome.FAILED, cause=Cause.GATE, at=later(100))
STOPPED = Ended(outcome=Outcome.STOPPED, cause=Cause.PERSON, at=later(100), by="bob")


def order(word: str | None = "status", comment: int = 5, minutes: float = 140, **changed: object) -> Order:
    return replace(Order(comment=comment, by="ann", at=later(minutes), word=word, said=word or ""), **changed)


def ask(made: Bump, *given: Order) -> tuple[Action, ...]:
    return orders(replace(made, world=replace(made.world, orders=given)))


def answers(actions: tuple[Action, ...]) -> list[Answer]:
    return [action.record for action in actions if isinstance(action, Say)]


def kept(actions: tuple[Action, ...]) -> list[object]:
    return [action.fact for action in actions if isinstance(action, Remember)]


def ready(**changed: object) -> Bump:
    return bump("proposal", "changelog", runs=(GREEN,), now=150, **changed)


def swept(sweep: object, *failures: object, **changed: object) -> Bump:
    return bump("proposal", "changelog", runs=(GREEN, sweep), judgements=(judged(sweep, *failures, verdict="neutral"),), now=150,
                labels=(LABEL,), **changed)


def held(*runs: object, **changed: object) -> Bump:
    failed = tuple(judged(one, facts.failure(job, "package-fetch")) for one in runs for job in one.jobs)
    on = Labelling(label=LABEL, by=facts.ME, at=later(80), added=True)
    return bump("proposal", "changelog", runs=(GREEN, *runs), judgements=failed, now=150, world={"labellings": (on, OFF)}, **changed)


def open_verdict(**changed: object) -> Bump:
    """Swept, and one point slower than published, which a second run has to confirm."""
    suspect = Rerun(point=Cell(recipe="r", concurrency=2), why="suspect:tput_per_gpu", gpu_hours=None)
    made = swept(SWEPT, **changed)
    told = replace(judged(SWEPT), verdict=Verdict(verdict="inconclusive", reasons=("not-confirmed",), rerun=(suspect,)))
    return replace(made, memory=replace(made.memory, judged=(told,)))


BUMPS = {
    "smoke due": bump("proposal", now=150),
    "smoke due, poor": bump("proposal", now=150, **POOR),
    "smoke due, day": bump("proposal", now=150, **DAY),
    "smoking": bump("proposal", runs=(replace(GREEN, status="in_progress", conclusion=None),), now=150),
    "smoke broken": bump("proposal", runs=(RED,), judgements=(judged(RED, facts.failure(RED.jobs[0], "oom")),), now=150),
    "smoke broken, poor": bump("proposal", runs=(RED,), judgements=(judged(RED),), now=150, **POOR),
    "smoke broken, day": bump("proposal", runs=(RED,), judgements=(judged(RED),), now=150, **DAY),
    "smoke passed": bump("proposal", runs=(GREEN,), now=150),
    "settling": ready(world={"base_tip": facts.MOVED}, pull_={"mergeable": None}),
    "blocked": ready(changelog="blocked"),
    "sweep due": ready(),
    "sweep due, poor": ready(**POOR),
    "sweep due, day": ready(**DAY),
    "sweep begun a moment ago": ready(labels=(LABEL,), world={"labellings": (Labelling(label=LABEL, by=facts.ME, at=later(149), added=True),)}),
    "held": held(),
    "sweeping": swept(SWEEP),
    "sweeping, held": held(SWEEP),
    "sweep broken": swept(CUT, facts.failure(CUT.jobs[0], "package-fetch")),
    "sweep broken, held": held(CUT),
    "swept": swept(SWEPT),
    "finishing": ready(memory={"ended": FAILED}),
    "stopping": ready(memory={"ended": STOPPED}),
    "closed": ready(pull_={"open": False}),
    "over": ready(memory={"ended": STOPPED, "closed": True}, pull_={"open": False}),
    "over, held": ready(memory={"ended": STOPPED, "closed": True}, world={"obstacle": "held"}),
    "over, capped": ready(memory={"ended": STOPPED, "closed": True}, world={"obstacle": "capped"}),
    "over, poor": ready(memory={"ended": STOPPED, "closed": True}, **POOR),
    "over, swept": swept(SWEPT, memory={"ended": FAILED, "closed": True}),
    "over, suspects": open_verdict(memory={"ended": STOPPED, "closed": True}),
    "over, merged": ready(memory={"ended": FAILED, "closed": True}, pull_={"merged": True, "open": False}),
    "over, taken on": ready(memory={"ended": FAILED, "closed": True}, world={"foreign_head": facts.SYNC}),
    "pushed again": ready(world={"tag_digest": "sha256:" + "f" * 64}),
}
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


class TestWhatIsRemembered:
    def test_is_dated_by_the_comment_for_the_forges_clock_dates_the_runs(self) -> None:
        [approval] = kept(ask(ready(), order("sweep")))
        assert approval == Approval(by="ann", at=later(140), comment=5)
        [asked] = kept(ask(ready(), order("smoke")))
        assert asked == Asked(what="smoke", by="ann", at=later(140), comment=5)
        [ended] = kept(ask(ready(), order("stop")))
        assert (ended.outcome, ended.cause, ended.by) == (Outcome.STOPPED, Cause.PERSON, "ann")

    def test_a_retry_asked_while_the_run_went_on_means_what_has_failed_since(self) -> None:
        [asked] = kept(ask(BUMPS["smoke broken"], order("retry", minutes=5)))
        assert asked.at == RED.ended > later(5)

    def test_a_smoke_asked_while_one_ran_is_that_one(self) -> None:
        actions = ask(ready(), order("smoke", minutes=5))
        assert (answers(actions)[0].result, kept(actions)) == ("smoke-ran", [])

    def test_a_sweep_asked_before_a_person_took_the_label_off_stays_held(self) -> None:
        actions = ask(held(), order("sweep", minutes=120))
        assert (answers(actions)[0].result, kept(actions)) == ("sweep-held", [])

    def test_a_stage_that_waits_for_the_one_before_it_belongs_to_a_smoke_under_way(self) -> None:
        subject = facts.subject()
        staged = replace(subject, plan=replace(subject.plan, smoke=facts.smoke(*facts.STAGED)))
        made = replace(bump("proposal", runs=(GREEN,), now=150), subject=staged)
        assert answers(ask(made, order("smoke")))[0].result == "smoke-running"


class TestSeveralCommandsInOneLook:
    def test_after_a_stop_nothing_is_asked_for(self) -> None:
        actions = ask(ready(), order("stop"), order("sweep", 6), order("smoke", 7), order("stop", 8))
        assert [answer.result for answer in answers(actions)] == ["stopping", "over", "over", "stopping"]
        assert [type(fact) for fact in kept(actions)] == [Ended]

    def test_before_a_stop_they_were_heard(self) -> None:
        actions = ask(ready(), order("sweep"), order("stop", 6))
        assert [type(fact) for fact in kept(actions)] == [Approval, Ended]
        assert answers(actions)[1].state.phase == "stopped"

    def test_two_that_ask_for_the_smoke_get_one(self) -> None:
        actions = ask(ready(), order("smoke"), order("smoke", 6, by="bob"))
        assert [answer.result for answer in answers(actions)] == ["smoke-again", "smoke-next"]
        assert len(kept(actions)) == 1

    def test_a_status_tells_what_the_one_before_it_changed(self) -> None:
        made = ready(limits=Limits(gpu_hours=1000.0, approve_above=1.0))
        actions = ask(made, order("status"), order("sweep", 6), order("status", 7))
        assert [answer.now for answer in answers(actions)] == ["approval", None, "sweep-due"]
        assert [answer.state.next for answer in answers(actions)] == ["maintainer", "bot", "bot"]


class TestPeopleWithoutWriteAccess:
    def stranger(self, comment: int, word: str | None = "stop") -> Order:
        return order(word, comment, by=f"stranger-{comment}", objection="no-permission")

    def test_share_one_answer_that_repeats_nothing_of_theirs(self) -> None:
        actions = ask(ready(), *(self.stranger(comment) for comment in range(5, 50)))
        assert [action.slot for action in actions if isinstance(action, Say)] == [OTHERS]
        assert [(one.result, one.by, one.command) for one in answers(actions)] == [("no-permission", None, None)]
        assert kept(actions) == [] and len(actions) == 2

    def test_get_no_second_one_though_they_delete_the_first_and_ask_again(self) -> None:
        told = Told(slot=OTHERS, comment=9, digest="d", at=later(141))
        assert ask(ready(memory={"told": (told,)}), self.stranger(6), self.stranger(7, None)) == ()

    def test_do_not_keep_others_from_being_heard(self) -> None:
        actions = ask(ready(), self.stranger(5), order("sweep", 6), self.stranger(7))
        assert [answer.result for answer in answers(actions)] == ["no-permission", "sweep-next"]


class TestTheFigures:
    def test_of_what_cannot_be_paid_are_told(self) -> None:
        [answer] = answers(ask(BUMPS["sweep due, poor"], order("sweep")))
        made = BUMPS["sweep due, poor"]
        assert (answer.forecast, answer.left) == (budget.price_sweep(made), budget.left(made))

    def test_an_outcome_stands_in_the_answer_of_a_bump_that_is_over(self) -> None:
        assert answers(ask(BUMPS["finishing"], order("retry")))[0].outcome is Outcome.FAILED
        assert answers(ask(BUMPS["closed"], order("retry")))[0].outcome is Outcome.CLOSED
        assert answers(ask(BUMPS["pushed again"], order("retry")))[0].outcome is Outcome.SUPERSEDED
