"""Commands given before, after and beside each other; what is remembered of them; and whose are not heard."""

from __future__ import annotations

from msgspec.structs import replace

from bot import budget
from bot.decide.orders import OTHERS
from bot.model.action import Say
from bot.model.bump import Approval, Asked, Ended, Told
from bot.model.order import Order
from bot.model.outcome import Cause, Outcome
from bot.model.rules import Limits
from tests.decide.asking import BUMPS, GREEN, RED, answers, ask, held, kept, order, ready
from tests.fakes import facts
from tests.fakes.facts import bump, later


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
