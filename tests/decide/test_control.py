"""The old image beside the sweep: when it is started and when not, what it may cost, and what its end means for the verdict."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot import budget
from bot.decide import decide, phase_of
from bot.decide import report as reports
from bot.decide.control import standing
from bot.model.action import Action, Cancel, Dispatch, Rerun
from bot.model.bump import Bump, Ended, Judged
from bot.model.event import Scheduled
from bot.model.forge import Labelling
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run
from tests.fakes.facts import (
    BASE,
    ENTRY,
    LABEL,
    START,
    bump,
    failure,
    job,
    judged,
    later,
    run,
    subject,
)
from tests.fakes.watched import begun, until

SMOKE = run(10, "smoke", "a" * 40, job(1, concurrency=1), job(2, role="eval", concurrency=4, minutes=30))
ASKED = {"plan": replace(subject().plan, control=True), "limits": replace(subject().limits, point_minutes=60.0, eval_minutes=30.0)}
POINTS = 3 * 16 * 1.0  # three points of 16 GPUs, an hour each


def sweep(*, done: bool = True, **changed: Any) -> Run:
    status = "completed" if done else "in_progress"
    jobs = [job(20 + c, concurrency=c, status=status) for c in (1, 2, 4)]
    return replace(run(20, "sweep", ENTRY, *jobs, job(28, role="eval", concurrency=4, status=status, minutes=30),
                       status=status, reason="label", minutes=1), **changed)


def arm(*, conclusion: str = "success", status: str = "completed", number: int = 30, attempt: int = 1, minutes: float = 2) -> Run:
    jobs = [job(number + c, concurrency=c, status=status, conclusion=conclusion, attempt=attempt) for c in (1, 2, 4)]
    return run(number, "control", BASE, *jobs, status=status, conclusion=conclusion, attempt=attempt, minutes=minutes)


def facts(*runs: Run, evidence: tuple[Judged, ...] = (), **changed: Any) -> Bump:
    """A sweep of the head with these runs beside it; what ended was read."""
    said = {one.run for one in evidence}
    read = tuple(judged(one, verdict="neutral" if one.stage == "sweep" else None) for one in (SMOKE, *runs)
                 if one.id not in said and any(job.status == "completed" for job in one.jobs))
    return bump("proposal", "changelog", runs=(SMOKE, *runs), judgements=(*read, *evidence), labels=(LABEL,), now=changed.pop("now", 120),
                **{**ASKED, **changed})


def did(facts: Bump, kind: type[Action]) -> list[Any]:
    return [action for action in decide(facts, Scheduled(at=facts.now)) if isinstance(action, kind)]


def state(facts: Bump) -> str | None:
    found = standing(facts, next(run for run in facts.world.runs if run.stage == "sweep"))
    return found.state if found else None


def line(facts: Bump) -> Any:
    return reports.sweep(facts, next(run for run in facts.world.runs if run.stage == "sweep"), passed=None).control


class TestItsStart:
    def test_is_a_dispatch_of_all_points_at_the_commit_that_the_bump_was_made_from(self) -> None:
        found = facts(sweep(done=False))
        [dispatch] = did(found, Dispatch)
        assert dispatch.head == BASE and dispatch.inputs["ref"] == BASE
        assert dispatch.nonce == f"bumpbot-b-control-0-{BASE[:12]}" == dispatch.inputs["test-name"]
        assert dispatch.gpu_hours == pytest.approx(POINTS) == budget.price_control(found)

    def test_names_the_points_and_no_eval_as_a_repeat_does(self) -> None:
        rules = subject().rules
        smoke = replace(rules.smoke, inputs={"run": "{points}", "line": "{arguments}", "ref": "{head}", "n": "{nonce}"},
                        arguments={"repeat": ("--no-evals", "--conc", "{concurrencies}")})
        [dispatch] = did(facts(sweep(done=False), rules=replace(rules, smoke=smoke)), Dispatch)
        assert dispatch.inputs["run"] == "throughput-1 throughput-2 throughput-4"
        assert dispatch.inputs["line"] == "--no-evals --conc 1 2 4"

    def test_waits_for_no_policy_that_did_not_ask(self) -> None:
        found = facts(sweep(done=False), plan=subject().plan)
        assert state(found) is None and not did(found, Dispatch) and line(found) is None

    def test_waits_until_the_sweep_measures(self) -> None:
        assert not did(facts(sweep(done=False, jobs=())), Dispatch)

    def test_comes_late_where_every_event_was_lost_and_the_verdict_waits_for_it(self) -> None:
        found = facts(sweep())
        assert type(phase_of(found)).__name__ == "Controlling" and len(did(found, Dispatch)) == 1

    def test_never_comes_a_day_later(self) -> None:
        found = facts(sweep(), now=24 * 60 + 2)
        assert state(found) == "late" and type(phase_of(found)).__name__ == "Swept"

    def test_never_comes_for_a_sweep_that_a_person_stopped(self) -> None:
        said = (Labelling(label=LABEL, by="ann", at=START, added=True), Labelling(label=LABEL, by="ann", at=later(3), added=False))
        found = facts(sweep(done=False), arm(status="in_progress"), world={"labellings": said}, pull_={"draft": True})
        found = replace(found, world=replace(found.world, pull=replace(found.world.pull, labels=())))
        assert did(found, Cancel) == [Cancel(run=30)] and not did(found, Dispatch)

    def test_is_asked_of_a_person_together_with_the_sweep_where_both_are_dear(self) -> None:
        limits = replace(ASKED["limits"], approve_above=60.0)
        alone, both = (bump("proposal", "changelog", runs=(SMOKE,), judgements=(judged(SMOKE),), limits=limits,
                            plan=replace(subject().plan, control=asked)) for asked in (False, True))
        assert budget.price_sweep(alone) < 60 < budget.price_sweep(both) + budget.price_control(both)
        assert [len([one for one in decide(each, Scheduled(at=each.now)) if type(one).__name__ == "Label"])
                for each in (alone, both)] == [1, 0]


class TestItsMoney:
    def test_is_what_the_sweep_leaves_of_the_cap(self) -> None:
        """The smoke held 24 GPU-h, the sweep will hold 56, the old image 48."""
        whole = SMOKE.gpu_hours(later(0)) + 56 + POINTS
        fresh = sweep(done=False, jobs=tuple(replace(one, started=None, status="queued") for one in sweep(done=False).jobs))
        for cap, wanted in ((whole, "due"), (whole - 1, "unpaid")):
            assert state(facts(fresh, limits=replace(ASKED["limits"], gpu_hours=cap))) == wanted

    def test_that_is_not_there_is_told_and_the_verdict_does_not_wait(self) -> None:
        found = facts(sweep(), limits=replace(ASKED["limits"], gpu_hours=100.0))
        assert type(phase_of(found)).__name__ == "Swept" and not did(found, Dispatch)
        assert (line(found).state, line(found).published, line(found).gpu_hours) == ("unpaid", False, pytest.approx(POINTS))

    def test_of_a_day_that_is_promised_is_told_too(self) -> None:
        found = facts(sweep(), limits=replace(ASKED["limits"], gpu_hours_per_day=100.0), world={"promised_today": 60.0})
        assert line(found).state == "no-day" and type(phase_of(found)).__name__ == "Swept"

    @pytest.mark.parametrize(("left", "stopped"), [(60.0, []), (10.0, [Cancel(run=30)])])
    def test_goes_to_the_sweep_first(self, left: float, stopped: list[Cancel]) -> None:
        """Ten minutes into both the sweep needs some 45 GPU-h more; a control arm that leaves it less is stopped."""
        found = facts(sweep(done=False), arm(status="in_progress"), now=10)
        capped = replace(found.subject, limits=replace(found.subject.limits, gpu_hours=found.gpu_hours + left))
        assert did(replace(found, subject=capped), Cancel) == stopped

    def test_counts_once_it_is_spent(self) -> None:
        assert facts(sweep(), arm()).gpu_hours == pytest.approx(facts(sweep()).gpu_hours + POINTS)


class TestItsEnd:
    def test_lets_the_verdict_be_final(self) -> None:
        waiting, ended = facts(sweep(), arm(status="in_progress")), facts(sweep(), arm())
        assert (type(phase_of(waiting)).__name__, type(phase_of(ended)).__name__) == ("Controlling", "Swept")

    def test_as_the_baseline_is_told_with_its_number(self) -> None:
        found = facts(sweep(), arm(), evidence=(replace(judged(sweep(), verdict="neutral"), control=30),))
        assert (line(found).state, line(found).run) == ("used", 30)
        assert 30 in [one.id for one in reports.sweep(found, sweep(), passed=True).runs]

    @pytest.mark.parametrize(("control", "lacks"), [(30, 0), (None, 1)])
    def test_as_the_baseline_is_one_where_nothing_was_published(self, control: int | None, lacks: int) -> None:
        found = facts(sweep(), arm(), evidence=(replace(judged(sweep(), verdict="inconclusive"), control=control),))
        ended = Ended(outcome=Outcome.UNCERTAIN, cause=Cause.VERDICT, at=found.now, run=20)
        assert len(reports.sweep(found, sweep(), passed=True).lacking) == len(reports.stop(found, ended).lacking) == lacks

    def test_with_another_image_is_no_control(self) -> None:
        found = facts(sweep(), arm(), evidence=(replace(judged(arm()), gates=("image:c1",)),))
        assert type(phase_of(found)).__name__ == "Swept"
        assert (line(found).state, line(found).gates) == ("unfit", ("image:c1",))

    @pytest.mark.parametrize(("class_", "attempt", "again"), [("node-unhealthy", 1, True), ("node-unhealthy", 2, False),
                                                              ("oom", 1, False), (None, 1, False)])
    def test_by_a_failure_is_tried_again_once_and_only_for_the_weather(self, class_: str | None, attempt: int, again: bool) -> None:
        failed = arm(conclusion="failure", attempt=attempt)
        found = facts(sweep(), failed, evidence=(judged(failed, *(failure(one, class_) for one in failed.jobs)),))
        assert [one.run for one in did(found, Rerun)] == ([30] if again else [])
        assert type(phase_of(found)).__name__ == ("Controlling" if again else "Swept")
        assert line(found).state == ("due" if again else "failed")

    def test_before_it_had_a_job_is_begun_anew_under_another_nonce(self) -> None:
        found = facts(sweep(), replace(arm(), conclusion="cancelled", jobs=()))
        assert [one.nonce for one in did(found, Dispatch)] == [f"bumpbot-b-control-1-{BASE[:12]}"]

    def test_of_one_repair_ago_serves_the_next_sweep_of_that_day(self) -> None:
        assert state(facts(sweep(created=later(700)), arm(), now=900)) == "whole"
        assert state(facts(sweep(created=later(24 * 60 + 2)), arm(), now=24 * 60 + 100)) == "due"


class TestWhatItNeverIs:
    def test_is_a_smoke_a_sweep_or_a_repeat(self) -> None:
        """A run of the old image alone is no proof of anything about the candidate."""
        assert type(phase_of(facts(replace(arm(), head=ENTRY)))).__name__ == "SweepDue"
        found = reports.sweep(facts(sweep(), arm()), sweep(), passed=True)
        assert found.repeat is None

    def test_is_alive_after_the_bump_stopped(self) -> None:
        bot = begun(control=True)
        until(bot, "Sweeping")
        bot.wake()
        assert [one.stage for one in bot.world.alive()].count("control") == 1
        bot.world.asks("stop")
        bot.wake()
        bot.world.pass_time(5)
        bot.wake()
        assert bot.world.alive() == [] and bot.world.memory.ended is not None
