"""Where another image ran: no repair is spent on it, no sweep is paid for, and the file to delete is named. And what an open
verdict buys."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import decide
from bot.decide.image import unproven
from bot.decide.runs import suspects
from bot.model.action import Dispatch, Push, Remember, Rerun, Say
from bot.model.bump import Bump, Ended, Judged
from bot.model.event import Scheduled
from bot.model.outcome import Cause, Outcome
from bot.model.record import Attempt, Stop, SweepReport
from bot.model.result import Cell, Proof, Row, Verdict
from bot.model.result import Rerun as Again
from bot.model.rules import Limits
from tests.decide.asking import GREEN, RED, SWEPT, open_verdict, swept
from tests.fakes.facts import ENTRY, bump, failure, job, judged, later, run

SQUASH = "vllm_vllm-openai_v0.29.0.sqsh"
STALE = Proof(state="stale", wanted="0.29.0", ran="vLLM 0.27.1", old=True, cache=SQUASH, role="throughput", concurrency=1, recipe="r")


def acts(of: Bump) -> tuple:
    return decide(of, Scheduled(at=of.now))


def ended(actions: tuple) -> Ended:
    (fact,) = [action.fact for action in actions if isinstance(action, Remember)]
    assert isinstance(fact, Ended)
    return fact


def said(actions: tuple, kind: type) -> object:
    (record,) = [action.record for action in actions if isinstance(action, Say) and isinstance(action.record, kind)]
    return record


def smoked(of: object, *proofs: Proof, gates: tuple[str, ...] = ("image:c1",), failures: tuple = ()) -> Bump:
    told = Judged(run=of.id, head=of.head, seen=(1,), proofs=proofs, gates=gates, failures=failures)
    return bump("proposal", runs=(of,), judgements=(told,), now=150)


class TestASmokeUnderAnotherImage:
    def test_ends_uncertain_before_the_sweep(self) -> None:
        actions = acts(smoked(GREEN, STALE))
        assert (ended(actions).outcome, ended(actions).cause) == (Outcome.UNCERTAIN, Cause.NONE)
        assert not any(isinstance(action, (Dispatch, Push, Rerun)) for action in actions)

    def test_says_what_ran_where_and_which_file_to_delete(self) -> None:
        why = ended(acts(smoked(GREEN, STALE))).why
        for text in (why.en, why.zh):
            assert all(word in text for word in ("c1", "vLLM 0.27.1", "0.29.0", SQUASH))
        assert said(acts(smoked(GREEN, STALE)), Attempt).proofs[0].cache == SQUASH

    def test_says_what_it_may_have_been_where_no_file_is_known(self) -> None:
        why = ended(acts(smoked(GREEN, replace(STALE, cache="", old=False)))).why
        assert why.en.startswith("Another image ran") and "launcher" in why.en and "启动脚本" in why.zh

    def test_on_some_nodes_says_so(self) -> None:
        assert "Only some nodes" in ended(acts(smoked(GREEN, replace(STALE, state="conflicting", nodes=("n2",), of=4)))).why.en

    @pytest.mark.parametrize("class_", ["oom", "moved-module", "eval-gate", None])
    def test_that_failed_is_no_failure_of_the_candidate(self, class_: str | None) -> None:
        told = ended(acts(smoked(RED, STALE, failures=(failure(RED.jobs[0], class_),))))
        assert (told.outcome, told.cause) == (Outcome.UNCERTAIN, Cause.NONE) and SQUASH in told.why.en

    def test_goes_on_where_nobody_says_what_ran(self) -> None:
        actions = acts(smoked(GREEN, replace(STALE, state="unproven", ran="", cache=""), gates=()))
        assert not any(isinstance(action, Remember) for action in actions)
        assert said(actions, Attempt).proofs[0].state == "unproven"


class TestACanary:
    def test_that_alarms_ends_the_bump_at_its_smoke(self) -> None:
        actions = acts(smoked(GREEN, gates=("canary:eval c4",)))
        assert ended(actions).outcome is Outcome.FAILED and "eval c4" in ended(actions).why.en


class TestASweep:
    def over(self, verdict: str = "inconclusive", *proofs: Proof, failures: tuple = (), of: object = SWEPT) -> Bump:
        told = replace(judged(of, *failures, verdict=verdict), proofs=proofs)
        made = swept(of)
        return replace(made, memory=replace(made.memory, judged=(told,)))

    def test_that_met_a_stale_cache_at_one_point_ends_uncertain_and_names_it(self) -> None:
        actions = acts(self.over("inconclusive", STALE))
        assert (ended(actions).outcome, ended(actions).cause) == (Outcome.UNCERTAIN, Cause.VERDICT)
        assert SQUASH in ended(actions).why.en and SQUASH in said(actions, Stop).why.zh
        assert said(actions, SweepReport).proofs[0].state == "stale"

    @pytest.mark.parametrize("verdict", ["neutral", "improved"])
    @pytest.mark.parametrize("proof", [STALE, replace(STALE, state="conflicting"), replace(STALE, state="unproven", ran=""),
                                       replace(STALE, role="eval")])
    def test_validates_nothing_whatever_its_verdict_says(self, verdict: str, proof: Proof) -> None:
        assert ended(acts(self.over(verdict, proof))).outcome is Outcome.UNCERTAIN

    def test_whose_loss_was_confirmed_elsewhere_is_regressed_all_the_same(self) -> None:
        assert ended(acts(self.over("regressed", STALE))).outcome is Outcome.REGRESSED

    def test_counts_a_point_that_a_repeat_of_it_proved(self) -> None:
        good = replace(STALE, state="proven")
        assert unproven([STALE], [good]) == () == unproven([good], [STALE])
        assert unproven([STALE], [replace(good, concurrency=2)]) == (STALE,) == unproven([STALE], [replace(good, role="eval")])

    def test_that_is_open_for_another_reason_blames_no_cache(self) -> None:
        assert ended(acts(self.over())).why is None

    def test_whose_failed_job_ran_another_image_is_no_failure_of_the_candidate(self) -> None:
        cut = run(20, "sweep", ENTRY, job(3, conclusion="failure", minutes=120), conclusion="failure", reason="label", minutes=90)
        told = ended(acts(self.over("neutral", STALE, failures=(failure(cut.jobs[0], "oom"),), of=cut)))
        assert (told.outcome, told.cause) == (Outcome.UNCERTAIN, Cause.NONE)

    def test_whose_failed_job_ran_the_candidate_failed(self) -> None:
        cut = run(20, "sweep", ENTRY, job(3, conclusion="failure", minutes=120), conclusion="failure", reason="label", minutes=90)
        elsewhere = replace(STALE, concurrency=4)
        assert ended(acts(self.over("neutral", elsewhere, failures=(failure(cut.jobs[0], "oom"),), of=cut))).outcome is Outcome.FAILED


class TestARepeatUnderAnotherImage:
    AGAIN = run(30, "repeat", ENTRY, job(5, concurrency=2, minutes=170), minutes=160)
    SECOND = replace(STALE, concurrency=2)

    def repeated(self, *proofs: Proof, **changed: object) -> Bump:
        made = open_verdict(**changed)
        row = Row(point=Cell(recipe="r", concurrency=2), metric="ttft", stat="p50", value=2.0, unit="s")
        told = Judged(run=30, head=ENTRY, seen=(5,), proofs=proofs, rows=(row,))
        return replace(made, now=later(200), world=replace(made.world, runs=(*made.world.runs, self.AGAIN)),
                       memory=replace(made.memory, judged=(*made.memory.judged, told)))

    def test_is_not_paid_for_again_and_the_cache_is_named(self) -> None:
        actions = acts(self.repeated(self.SECOND))
        assert not any(isinstance(action, Dispatch) for action in actions)
        assert ended(actions).outcome is Outcome.UNCERTAIN and SQUASH in ended(actions).why.en and "c2" in ended(actions).why.en

    def test_of_which_nobody_says_what_ran_is_not_paid_for_again(self) -> None:
        silent = replace(self.SECOND, state="unproven", ran="", cache="")
        assert ended(acts(self.repeated(silent))).outcome is Outcome.UNCERTAIN

    def test_is_in_no_table_and_told_apart_from_the_sweep(self) -> None:
        told = said(acts(self.repeated(self.SECOND)), SweepReport)
        assert told.repeat is None and told.proofs[0].points == ("repeat c2",)
        assert said(acts(self.repeated(replace(self.SECOND, state="proven"))), SweepReport).repeat is not None

    def test_of_the_candidate_that_leaves_a_suspicion_is_followed_by_another(self) -> None:
        actions = acts(self.repeated(replace(self.SECOND, state="proven"), limits=Limits(gpu_hours=1000.0, repeats=2)))
        assert any(isinstance(action, Dispatch) for action in actions)


class TestWhatAnOpenVerdictBuys:
    def open(self, *whys: str, runs: int | None = 1, hours: float | None = 10.0, approve: float | None = None) -> list[int]:
        again = tuple(Again(point=Cell(recipe="r", concurrency=conc), why=why, gpu_hours=hours, runs=runs)
                      for conc, why in zip((1, 2, 4), whys, strict=False))
        told = Judged(run=20, head=ENTRY, seen=(3,), verdict=Verdict(verdict="inconclusive", rerun=again))
        return [point.concurrency for point in suspects(bump(limits=Limits(approve_above=approve)), told)]

    def test_is_every_suspicion(self) -> None:
        assert self.open("suspect:ttft", "cold-run:itl", "suspect:itl;wide-interval:ttft") == [1, 2, 4]

    def test_is_one_run_where_one_decides(self) -> None:
        assert self.open("wide-interval:ttft", "too-few-points:itl") == [1, 2]

    def test_is_nothing_where_more_are_needed_or_none_helps(self) -> None:
        assert self.open("wide-interval:ttft", runs=3) == [] == self.open("history:ttft", runs=None)

    def test_is_nothing_that_costs_more_than_may_be_spent_unasked(self) -> None:
        assert self.open("wide-interval:ttft", "wide-interval:ttft", approve=19.0) == []
        assert self.open("wide-interval:ttft", "wide-interval:ttft", approve=21.0) == [1, 2]

    def test_is_no_second_look_through_the_same_cache(self) -> None:
        assert self.open("image-not-proven:ttft") == []
        assert self.open("image-not-proven:ttft", "suspect:itl") == [2]

    def test_that_cannot_be_paid_is_said(self) -> None:
        made = open_verdict(limits=Limits(gpu_hours=60.0))
        actions = acts(made)
        stop = said(actions, Stop)
        assert ended(actions).outcome is Outcome.UNCERTAIN and "budget-spent" in stop.reasons
        assert [(line.points, line.why) for line in stop.again] == [(("c2",), "suspect")]
