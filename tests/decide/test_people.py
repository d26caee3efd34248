"""What maintainers would not forgive, and runs that show nothing: the forge and people get in between."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide.answer import NOTHING_MEASURED
from bot.decide.people import needs_approval
from bot.decide.phase import SweepDue, phase_of
from bot.decide.sweep import NOTHING_BEGAN
from bot.model.outcome import Cause, Outcome
from tests.fakes import facts
from tests.fakes.watched import Watched, begun, breaks, until


class TestAmongPeople:
    """What maintainers would not forgive."""

    def sweeps(self, bot: Watched) -> list[int]:
        return [run.id for run in bot.world.runs.values() if run.stage == "sweep" and any(job.role != "other" for job in run.jobs)]

    def test_a_sweep_that_somebody_cancelled_goes_on_where_it_was(self) -> None:
        bot = begun()
        until(bot, "Sweeping")
        run = bot.world.alive()[-1]
        bot.world.end_job(run, run.jobs[0], "success")
        bot.world.stop_run(bot.world.runs[run.id])
        bot.wake()
        again = bot.world.runs[run.id]
        assert again.attempt == 2 and again.jobs[0] in again.latest_jobs
        assert bot.drain() is Outcome.VALIDATED and self.sweeps(bot) == [run.id]

    def test_cancelling_again_and_again_is_heard(self) -> None:
        bot = begun()
        until(bot, "Sweeping")
        for _ in range(3):
            bot.world.stop_run(bot.world.alive()[-1])
            bot.wake()
        assert bot.drain() is Outcome.UNCERTAIN and len(self.sweeps(bot)) == 1

    def test_a_label_that_a_person_took_off_stays_off_until_a_person_puts_it_on(self) -> None:
        bot = begun()
        until(bot, "Sweeping")
        bot.world.unlabel(facts.LABEL, by="ann")
        for _ in range(4):
            bot.world.pass_time(20)
            bot.wake()
        bump = bot.world.facts()
        assert bump.world.pull.labels == () and needs_approval(bump)
        assert not any(bot.world.measuring[run.id] for run in bot.world.alive())
        assert phase_of(bump) == SweepDue(bump.head)
        bot.world.label(facts.LABEL, by="ann")
        assert bot.drain() is Outcome.VALIDATED

    def test_a_run_listed_late_is_not_started_twice(self) -> None:
        bot = begun(late=True)
        until(bot, "Settling")
        for _ in range(3):
            bot.wake()
        assert sum(run.reason == "label" for run in bot.world.runs.values()) == 1
        assert bot.drain() is Outcome.VALIDATED

    def test_any_other_label_leaves_the_sweep_alone(self) -> None:
        for begin_first in (True, False):
            bot = begun()
            while not any(run.stage == "sweep" and bot.world.measuring[run.id] for run in bot.world.alive()):
                bot.goes_well()
            sweep = next(run for run in bot.world.alive() if bot.world.measuring[run.id])
            if begin_first:
                bot.world.begin(sweep)
            bot.world.label("needs-review", by="ann")
            bot.wake()
            assert sweep.id not in bot.world.dying
            assert bot.drain() is Outcome.VALIDATED and self.sweeps(bot) == [sweep.id]

    def test_a_sweep_that_a_person_started_before_the_smoke_is_not_taken_for_the_proof(self) -> None:
        bot = begun(needs_entry=False)
        bot.world.label(facts.LABEL, by="ann")
        early = bot.world.alive()[-1]
        bot.world.begin(early)
        bot.wake()
        assert early.id in bot.world.dying
        assert bot.drain() is Outcome.VALIDATED
        assert bot.world.facts().memory.approvals[0].by == "ann"
        assert bot.world.facts().world.changelog == "present"

    @pytest.mark.parametrize("what", ["push", "handoff", "merge"])
    def test_what_a_person_takes_while_we_clean_up_is_left_as_it_is(self, what: str) -> None:
        bot = begun()
        until(bot, "Sweeping")
        run = bot.world.alive()[-1]
        bot.world.end_job(run, next(job for job in run.jobs if job.role == "eval"), "failure", "eval-gate")
        bot.wake()
        assert bot.world.memory.ended and not bot.world.memory.closed
        bot.world.person(what)
        before = bot.world.pull
        assert bot.drain() is Outcome.FAILED
        now = bot.world.pull
        assert (now.head, now.open, now.draft, now.labels) == (before.head, before.open, before.draft, before.labels)

    def test_the_last_word_waits_for_a_run_that_is_not_listed_yet(self) -> None:
        bot = begun(late=True)
        until(bot, "Settling")
        bot.world.person("close")
        bot.wake()
        assert bot.world.memory.ended and not bot.world.memory.closed
        bot.drain()
        assert not bot.world.alive() and bot.world.memory.closed


class TestRunsThatShowNothing:
    """A run without a failed job is not a run that passed."""

    def test_a_smoke_cancelled_in_the_queue_is_asked_for_again(self) -> None:
        bot = begun()
        bot.world.stop_run(bot.world.alive()[0])
        bot.wake()
        smokes = list(bot.world.runs.values())
        assert [run.conclusion for run in smokes] == ["cancelled", None] and len({run.nonce for run in smokes}) == 2
        assert bot.drain() is Outcome.VALIDATED

    def test_one_whose_setup_failed_is_run_again_and_has_an_end(self) -> None:
        bot = begun()
        for _ in range(3):
            bot.world.stop_run(bot.world.alive()[0], "failure")
            bot.wake()
        assert bot.drain() is Outcome.UNCERTAIN and bot.world.memory.ended.cause is Cause.RETRIES_EXHAUSTED

    def test_an_empty_matrix_is_green_and_proves_nothing(self) -> None:
        bot = begun()
        run = bot.world.alive()[0]
        bot.world.runs[run.id] = replace(run, status="completed", conclusion="success", jobs=())
        bot.wake()
        assert bot.world.memory.ended.outcome is Outcome.UNCERTAIN and bot.world.memory.ended.why == NOTHING_MEASURED

    def test_a_broken_collector_does_not_fail_what_was_measured(self) -> None:
        bot = begun()
        breaks(bot, None, role="other")
        assert bot.drain() is Outcome.VALIDATED

    @pytest.mark.parametrize("start", ["label", "dispatch"])
    def test_sweeps_that_never_begin_have_an_end_that_is_told(self, start: str) -> None:
        bot = begun(start=start)
        for _ in range(30):
            if bot.world.memory.ended:
                break
            bot.world.pass_time(20)
            bot.world.settle_merge()
            for run in bot.world.alive():
                if run.stage == "smoke":
                    bot.world.begin(run)
                    for job in bot.world.runs[run.id].jobs:
                        bot.world.end_job(bot.world.runs[run.id], job, "success")
                else:
                    bot.world.stop_run(run, "failure")
            bot.wake()
        assert bot.world.memory.ended.why == NOTHING_BEGAN
        assert sum(run.stage == "sweep" and run.reason in ("label", "dispatch") for run in bot.world.runs.values()) == 3
