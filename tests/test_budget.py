"""What a bump may still spend: forecasts from its own jobs, caps, and what a retry or a repair costs before it is made."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot import budget
from bot.model.bump import Bump
from bot.model.rules import Limits
from tests.fakes.facts import ENTRY, PROPOSAL, STAGED, bump, job, later, run, smoke, subject

PRICED = Limits(gpu_hours=None, point_minutes=90.0, eval_minutes=30.0)
POINT, EVAL = 16 * 90 / 60, 16 * 30 / 60


def limited(**limits: object) -> Bump:
    return bump("proposal", limits=replace(PRICED, **limits))


class TestMinutes:
    """How long one job is expected to hold its GPUs."""

    @pytest.mark.parametrize(("kind", "minutes"), [("throughput", 90.0), ("eval", 30.0)])
    def test_without_a_job_of_our_own_the_layouts_figure_stands(self, kind: str, minutes: float) -> None:
        assert budget.minutes(kind, (), PRICED) == minutes

    def test_the_median_of_our_own_jobs_replaces_it(self) -> None:
        own = run(10, "smoke", PROPOSAL, job(1, minutes=40), job(2, minutes=50), job(3, minutes=400))
        assert budget.minutes("throughput", (own,), PRICED) == 50
        assert budget.minutes("eval", (own,), PRICED) == 30.0

    def test_jobs_of_all_runs_and_attempts_count(self) -> None:
        runs = (run(10, "smoke", PROPOSAL, job(1, minutes=20)), run(20, "sweep", ENTRY, job(2, minutes=40, attempt=2), attempt=2))
        assert budget.minutes("throughput", runs, PRICED) == 30

    @pytest.mark.parametrize("other", [
        job(1, conclusion="failure", minutes=3), job(1, conclusion="cancelled", minutes=3), job(1, status="in_progress"),
        replace(job(1), started=None), replace(job(1), completed=None),
    ])
    def test_a_job_that_did_not_pass_says_nothing_of_how_long_one_takes(self, other: object) -> None:
        assert budget.minutes("throughput", (run(10, "smoke", PROPOSAL, other),), PRICED) == 90.0


class TestPrices:
    """Points 1, 2, 4 and one eval, 16 GPUs each."""

    def test_a_smoke_is_the_lowest_point_and_one_eval(self) -> None:
        assert [(point.kind, point.concurrency) for point in budget.smoke_points(limited(), 1)] == [("throughput", 1), ("eval", 4)]
        assert budget.price_smoke(limited()) == POINT + EVAL

    def test_a_sweep_is_every_point_and_every_eval(self) -> None:
        assert budget.price_sweep(limited()) == 3 * POINT + EVAL

    def test_a_repair_is_priced_with_the_smoke_and_the_sweep_after_it(self) -> None:
        assert budget.price_repair(limited()) == budget.price_smoke(limited()) + budget.price_sweep(limited())

    def test_a_step_that_no_day_can_hold_is_not_afforded(self) -> None:
        """It would wait for the next day for ever; a repair's steps may lie on different days."""
        smoke_, sweep = budget.repair_steps(limited())
        assert (smoke_, sweep) == (POINT + EVAL, 3 * POINT + EVAL)
        by_day = {day: budget.affords(limited(gpu_hours_per_day=day), smoke_, sweep) for day in (sweep - 1, sweep, smoke_ + sweep)}
        assert by_day == {sweep - 1: False, sweep: True, smoke_ + sweep: True}
        assert not budget.affords(limited(gpu_hours=smoke_ + sweep - 1), smoke_, sweep)

    def test_a_family_of_two_costs_twice(self) -> None:
        alone = limited()
        both = replace(alone, subject=replace(alone.subject, family=alone.subject.family * 2))
        assert budget.price_sweep(both) == 2 * budget.price_sweep(alone)

    def test_a_staged_smoke_is_paid_stage_by_stage(self) -> None:
        staged = replace(limited(), subject=replace(limited().subject, plan=replace(subject().plan, smoke=smoke(*STAGED))))
        assert [budget.price_smoke(staged, step) for step in (1, 2, 3)] == [EVAL, POINT, POINT]
        assert budget.price_smoke(staged) == EVAL + 2 * POINT

    def test_a_sample_of_an_eval_does_not_make_the_whole_one_cheaper(self) -> None:
        plan = replace(subject().plan, smoke=smoke(*STAGED))
        sampled = run(10, "smoke", PROPOSAL, job(1, role="eval", concurrency=4, minutes=6))
        staged = bump("proposal", runs=(sampled,), limits=PRICED, plan=plan)
        assert budget.price_smoke(staged, 1) == pytest.approx(16 * 6 / 60)
        assert budget.price_sweep(staged) == 3 * POINT + EVAL

    def test_a_smokes_retry_costs_its_failed_jobs(self) -> None:
        half = run(10, "smoke", PROPOSAL, job(1, minutes=90), job(2, role="eval", conclusion="failure"), conclusion="failure")
        assert budget.price_rerun(bump("proposal", runs=(half,), limits=PRICED), half) == EVAL

    def test_a_sweeps_retry_costs_what_has_not_passed_yet_also_jobs_that_waited_for_the_failed_one(self) -> None:
        jobs = (job(1, conclusion="failure"), job(2, concurrency=2, conclusion="skipped"),
                job(3, role="eval", concurrency=4, minutes=30), job(9, role="other", conclusion="failure"))
        canary = run(20, "sweep", ENTRY, *jobs, conclusion="failure")
        assert budget.price_rerun(bump("proposal", "changelog", runs=(canary,), limits=PRICED), canary) == 3 * POINT

    def test_an_attempt_that_passed_later_is_not_paid_again(self) -> None:
        again = run(10, "smoke", PROPOSAL, job(1, conclusion="failure"), job(2, attempt=2, minutes=90),
                    job(3, role="eval", attempt=2, conclusion="failure"), attempt=2, conclusion="failure")
        assert budget.price_rerun(bump("proposal", runs=(again,), limits=PRICED), again) == EVAL


class TestCap:
    SPENT = run(10, "smoke", PROPOSAL, job(1, minutes=60), job(2, minutes=30, conclusion="cancelled"))

    @pytest.mark.parametrize(("cap", "left"), [(None, None), (0.0, 0.0), (24.0, 0.0), (20.0, 0.0), (30.0, 6.0)])
    def test_what_is_left(self, cap: float | None, left: float | None) -> None:
        """Spent: 16 x 1.5 h, the cancelled job too; a cap that was passed leaves nothing, never less."""
        assert budget.left(bump("proposal", runs=(self.SPENT,), now=60, limits=Limits(gpu_hours=cap))) == left

    @pytest.mark.parametrize(("cap", "price", "fits"), [
        (None, 1e9, True), (0.0, 0.0, True), (0.0, 0.1, False), (30.0, 6.0, True), (30.0, 6.1, False)])
    def test_what_can_be_paid(self, cap: float | None, price: float, fits: bool) -> None:
        facts = bump("proposal", runs=() if cap == 0.0 else (self.SPENT,), now=60, limits=Limits(gpu_hours=cap))
        assert budget.affords(facts, price) is fits

    def test_a_job_that_still_runs_counts_up_to_now_and_one_that_waits_does_not(self) -> None:
        going = run(10, "smoke", PROPOSAL, job(1, status="in_progress"), job(2, status="queued"), status="in_progress")
        facts = bump("proposal", runs=(going,), now=30, limits=Limits(gpu_hours=100.0))
        assert budget.left(facts) == 100 - 8
        assert budget.left(replace(facts, now=later(90))) == 100 - 24


class TestRepairs:
    @pytest.mark.parametrize(("heads", "left"), [
        (("proposal",), 2), (("proposal", "repair"), 1), (("proposal", "repair", "changelog", "sync"), 1),
        (("proposal", "repair", "repair", "repair"), -1)])
    def test_only_repairs_spend_the_repair_budget(self, heads: tuple[str, ...], left: int) -> None:
        assert budget.repairs_left(bump(*heads, limits=Limits(repairs=2))) == left
