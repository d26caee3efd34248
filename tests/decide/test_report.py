"""Facts into what people read: numbers of attempts, runs and points, what is missing and why, what would have been next."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import decide, report
from bot.decide.report.parts import PHASE_WORDS, table, values
from bot.model.bump import Bump, Ended, JobFailure, Told, Update
from bot.model.event import Scheduled
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.record import Record
from bot.model.result import Accounting, Baseline, Cell, Row, Samples, Score, Verdict
from bot.model.rules import Limits
from bot.model.run import Run, Triage
from bot.model.text import Text
from tests.fakes.facts import ENTRY, LABEL, PROPOSAL, REPAIR, SYNC, bump, failure, job, judged, later, run, subject, wanted

GREEN = run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", concurrency=4))
BROKEN = job(1, conclusion="failure")
RED = run(10, "smoke", PROPOSAL, BROKEN, conclusion="failure")
RERUN = run(10, "smoke", PROPOSAL, BROKEN, job(5, attempt=2, minutes=30), attempt=2)
RULES = bump().subject.rules


def row(metric: str, value: float, *, concurrency: int = 1, stat: str | None = "p50") -> Row:
    return Row(point=Cell(recipe="r", concurrency=concurrency), metric=metric, value=value, unit="s", stat=stat)


def published(*rows: Row, **changed: object) -> Baseline:
    made = Baseline(date="2026-08-21", image="old", run=32, attempt=2, head="h", pull=2700, fingerprint="f", rows=rows)
    return replace(made, **changed)


def with_baseline(facts: Bump, baseline: Baseline) -> Bump:
    return replace(facts, subject=replace(facts.subject, plan=replace(facts.subject.plan, baseline=baseline, missing_baseline=None)))


def said(facts: Bump, slot: str) -> Record:
    return next(action.record for action in decide(facts, Scheduled(at=facts.now)) if getattr(action, "slot", None) == slot)


class TestAttempts:
    def test_the_initial_attempt_is_number_zero_of_five(self) -> None:
        made = report.attempt(bump("proposal", runs=(GREEN,)), GREEN, next_="sweep")
        assert (made.number, made.of, made.head, made.passed) == (0, 5, PROPOSAL, True)
        assert made.files == ("configs/master.yaml",) and made.repair is None and made.new is not None

    def test_a_repair_has_its_number_its_files_and_its_changes(self) -> None:
        smoke = run(30, "smoke", REPAIR, job(7), minutes=70)
        facts = bump("proposal", "repair", runs=(RED, smoke), memory={"applied": (wanted(RED),)})
        made = report.attempt(facts, smoke, next_="smoke-running")
        assert (made.number, made.repair, made.files) == (1, "native-chat-processor", ("recipes/r.yaml",))
        assert made.changes == ("frontend.args.x: dropped (was vllm)",) and made.why == Text("why", "why")
        assert [line.id for line in made.runs] == [30] and made.new is None and made.passed is None

    @pytest.mark.parametrize(("next_", "result"), [
        ("smoke-running", None), ("retry", None), ("sweep", True), ("repair", False), ("stop", False)])
    def test_passed_is_said_only_once_it_is_known(self, next_: str, result: bool | None) -> None:
        assert report.attempt(bump("proposal", runs=(RED,)), RED, next_=next_).passed is result

    def test_an_earlier_attempts_failure_stays_and_says_that_it_was_run_again(self) -> None:
        facts = bump("proposal", runs=(RERUN,), judgements=(judged(RERUN, failure(BROKEN, "package-fetch")),))
        told = report.attempt(facts, RERUN, next_="sweep").failures
        assert [(one.job, one.class_, one.retried) for one in told] == [("c1", "package-fetch", True)]

    def test_a_smoke_that_failed_and_waits_for_its_retry_is_told_as_no_verdict(self) -> None:
        facts = bump("proposal", runs=(RED,), judgements=(judged(RED, failure(BROKEN, "package-fetch")),), now=60)
        made = said(facts, "attempt-0")
        assert (made.next, made.passed) == ("retry", None)

    def test_a_sweep_that_waits_for_its_retry_has_not_failed(self) -> None:
        sick = run(20, "sweep", ENTRY, job(3), job(4, concurrency=2, conclusion="failure"), conclusion="failure", minutes=90)
        facts = bump("proposal", "changelog", runs=(GREEN, sick), labels=(LABEL,), now=200,
                     judgements=(judged(sick, failure(sick.jobs[1], "node-unhealthy")),))
        assert said(facts, "sweep-0").passed is None


class TestTheBody:
    def lines(self, facts: Bump) -> list[tuple[int | None, str]]:
        return [(line.number, line.result) for line in report.proposal(facts, ended=None).attempts]

    @pytest.mark.parametrize(("smoke", "result"), [
        (None, "waiting"), (GREEN, "passed"), (RED, "failed"), (RERUN, "passed"),
        (run(10, "smoke", PROPOSAL, job(1, status="in_progress"), status="in_progress"), "running"),
        (run(10, "smoke", PROPOSAL, conclusion="cancelled"), "cancelled"),
        (run(10, "smoke", PROPOSAL, job(1, conclusion="cancelled"), conclusion="cancelled"), "cancelled"),
        (run(10, "smoke", PROPOSAL, job(9, role="other", conclusion="failure"), conclusion="failure"), "failed"),
        (run(10, "smoke", PROPOSAL), "failed"),
        (run(10, "smoke", PROPOSAL, job(1), job(9, role="other", conclusion="failure"), conclusion="failure"), "passed"),
    ])
    def test_an_attempts_result_is_its_measuring_jobs(self, smoke: Run | None, result: str) -> None:
        assert self.lines(bump("proposal", runs=(smoke,) if smoke else ())) == [(0, result)]

    def test_one_line_an_attempt_then_the_sweep(self) -> None:
        sweep = run(40, "sweep", ENTRY, job(8, status="in_progress"), status="in_progress", minutes=120)
        facts = bump("proposal", "repair", "changelog", runs=(RED, run(30, "smoke", REPAIR, job(7), minutes=70), sweep))
        assert self.lines(facts) == [(0, "failed"), (1, "passed"), (None, "running")]

    def test_a_proposal_that_was_mended_before_anything_ran_waits_for_nothing(self) -> None:
        assert self.lines(bump("proposal", "repair")) == [(0, "replaced"), (1, "waiting")]
        assert self.lines(bump("proposal", "repair", runs=(RED,))) == [(0, "failed"), (1, "waiting")]

    def test_a_push_run_without_a_job_that_measures_is_no_sweep(self) -> None:
        pushed = run(19, "sweep", ENTRY, job(9, role="other", conclusion="skipped"), conclusion="skipped", reason="push")
        assert self.lines(bump("proposal", "changelog", runs=(GREEN, pushed))) == [(0, "passed")]

    def test_gpu_hours_are_those_of_finished_jobs_of_all_attempts(self) -> None:
        line = report.proposal(bump("proposal", runs=(RERUN,), now=300), ended=None).attempts[0]
        assert line.gpu_hours == 16 * 1.5 and (line.run, line.attempt) == (10, 2)

    def test_the_state_line_says_who_moves_next(self) -> None:
        waiting = bump("proposal", "changelog", runs=(GREEN,), limits=Limits(gpu_hours=1000.0, approve_above=10.0))
        assert report.proposal(waiting, ended=None).state.next == "maintainer"
        assert report.proposal(bump("proposal", runs=(GREEN,)), ended=None).state.next == "bot"

    @pytest.mark.parametrize("outcome", Outcome)
    def test_at_the_end_the_state_is_the_outcome_and_its_mover(self, outcome: Outcome) -> None:
        state = report.proposal(bump("proposal"), ended=Ended(outcome=outcome, cause=Cause.NONE, at=later(1))).state
        assert (state.phase, state.next) == (outcome.value, ENDINGS[outcome].next)

    def test_every_phase_has_its_word(self) -> None:
        from typing import get_args

        from bot.decide import Phase

        assert {kind.__name__ for kind in get_args(Phase)} == set(PHASE_WORDS)


class TestTables:
    def test_the_median_is_preferred_then_a_bare_value_then_the_mean(self) -> None:
        for stats, chosen in ((("mean", "p50", None), "p50"), (("mean", None), None), (("p99", "mean"), "mean"), (("p99",), "p99")):
            rows = [row("ttft", float(number), stat=stat) for number, stat in enumerate(stats)]
            for order in (rows, rows[::-1]):
                assert values(bump("proposal"), order)[(("", 1), "ttft")] == float(stats.index(chosen))

    def test_evals_are_no_metric_of_a_point_and_requests_are_counted(self) -> None:
        counted = Accounting(concurrency=2, total=9, profiled=7, warmup_invalid=1, profiling_invalid=1)
        assert values(bump("proposal"), [row("eval", 0.9), row("ttft", 1.0)], [counted]) == {
            (("", 1), "ttft"): 1.0, (("", 2), "profiled_requests"): 7.0}

    def test_what_is_missing_has_its_reason(self) -> None:
        facts = with_baseline(bump("proposal"), published(row("ttft", 2.0), row("itl", 4.0)))
        made = table(facts, [row("ttft", 1.5), row("intvty", 9.0)], (), ("ttft", "itl", "intvty", "output_tput"), (10,))
        cells = {cell.metric: (cell.old, cell.new, cell.missing) for cell in made.lines[0].cells}
        assert cells == {"ttft": (2.0, 1.5, None), "itl": (4.0, None, "not-measured"), "intvty": (None, 9.0, "no-baseline"),
                         "output_tput": (None, None, "no-baseline")}
        assert (made.runs, made.baseline_run) == ((10,), 32)

    def test_only_measured_points_have_a_line_in_their_order(self) -> None:
        facts = with_baseline(bump("proposal"), published(row("ttft", 2.0, concurrency=8)))
        made = table(facts, [row("ttft", 1.0, concurrency=16), row("ttft", 1.0, concurrency=2)], (), ("ttft",), (10,))
        assert [line.concurrency for line in made.lines] == [2, 16]
        assert table(facts, [row("eval", 0.9)], (), ("ttft",), (10,)) is None

    def test_the_baseline_shows_each_column_or_why_not(self) -> None:
        block = report.proposal(with_baseline(bump("proposal"), published(row("ttft", 2.0))), ended=None).baseline
        cells = {cell.metric: (cell.old, cell.missing) for cell in block.table.lines[0].cells}
        assert cells["ttft"] == (2.0, None) and cells["itl"] == (None, "not-published")

    def test_without_a_baseline_the_body_says_why(self) -> None:
        made = report.proposal(bump("proposal"), ended=None)
        assert made.baseline is None and made.missing_baseline == "not-published"


class TestFailures:
    def told(self, hosts: str, *, node: str | None = "gb200-rack1-07", nodes: tuple[str, ...] = (), file: str | None = None):
        triage = Triage(class_="oom", node=node, file=file)
        failed = JobFailure(job=BROKEN.name, attempt=1, role="throughput", concurrency=1, minutes=3.0, triage=triage, nodes=nodes)
        facts = bump("proposal", runs=(RED,), judgements=(judged(RED, failed),), rules=replace(RULES, hosts=hosts))
        return report.attempt(facts, RED, next_="stop").failures[0]

    @pytest.mark.parametrize(("hosts", "told"), [("full", "gb200-rack1-07"), ("none", None), ("alias", "2/3")])
    def test_a_node_is_named_as_the_layout_allows(self, hosts: str, told: str | None) -> None:
        assert self.told(hosts, nodes=("gb200-rack1-09", "gb200-rack1-03")).node == told

    def test_a_node_that_is_not_known_has_no_name(self) -> None:
        assert self.told("alias", node=None).node is None

    def test_a_file_is_told_by_its_role_and_never_by_its_host(self) -> None:
        assert self.told("none", file="logs/gb200-rack1-07_frontend_0.out").file == "frontend_0"
        assert self.told("none").file is None


class TestTheSweep:
    def test_progress_is_told_once_a_change_and_kept(self) -> None:
        jobs = (job(3), job(4, concurrency=2, status="in_progress"), job(5, concurrency=4, status="queued"),
                job(6, role="eval", concurrency=4, conclusion="failure"), job(9, role="other"))
        going = run(20, "sweep", ENTRY, *jobs, status="in_progress", minutes=90)
        facts = bump("proposal", "changelog", runs=(GREEN, going), labels=(LABEL,), now=200)
        first = said(facts, "sweep-0").progress
        assert [(one.passed, one.running, one.queued, one.failed) for one in first] == [(("c1",), ("c2",), ("c4",), ("eval c4",))]
        told = Told(slot="sweep-0", comment=1, digest="other", at=later(100), updates=first)
        assert said(replace(facts, memory=replace(facts.memory, told=(told,)), now=later(260)), "sweep-0").progress == first

    def test_its_last_line_is_kept_by_every_later_telling(self) -> None:
        """A line that was told and not remembered vanished from the comment at its last edit."""
        done = run(20, "sweep", ENTRY, job(3), minutes=90)
        facts = bump("proposal", "changelog", runs=(GREEN, done), labels=(LABEL,), now=200, judgements=(judged(done, verdict="neutral"),))
        say = next(action for action in decide(facts, Scheduled(at=facts.now)) if getattr(action, "slot", None) == "sweep-0")
        assert say.record.progress == (say.update,) and say.update == Update(at=facts.now, passed=("c1",))

    def test_a_synced_head_names_the_head_that_conflicted(self) -> None:
        done = run(20, "sweep", SYNC, job(3), minutes=90)
        made = report.sweep(bump("proposal", "changelog", "sync", runs=(GREEN, done)), done, passed=True)
        assert (made.synced, made.first_head, made.head) == (True, ENTRY, SYNC)

    def test_points_evals_and_the_baselines_cut_answers(self) -> None:
        done = run(20, "sweep", ENTRY, job(3), job(4, concurrency=2), job(5, role="eval", concurrency=4), job(9, role="other"), minutes=90)
        samples = Samples(concurrency=4, task="gsm8k", n=1319, correct=1200, cut=3, wrong=116, median_length=9.0)
        facts = with_baseline(bump("proposal", "changelog", runs=(GREEN, done)), published(samples=(samples,)))
        made = report.sweep(facts, done, passed=None)
        assert (made.points, made.evals, made.concurrencies, made.baseline_cut, made.baseline_n) == (2, 1, (1, 2), 3, 1319)


class TestTheEnd:
    ENDED = Ended(outcome=Outcome.FAILED, cause=Cause.GATE, at=later(200), run=20, wanted=wanted(RED, id_="pin"), forecast=124.0)

    def test_what_would_have_been_next_has_its_price_and_what_is_left(self) -> None:
        spent = run(20, "sweep", ENTRY, job(3, minutes=120), minutes=90)
        score = Score(concurrency=4, task="gsm8k", metric="strict", value=0.81, n=1319, threshold=0.9, passed=False)
        good = replace(score, value=0.95, passed=True)
        facts = bump("proposal", "changelog", runs=(spent,), now=200, judgements=(replace(judged(spent), scores=(score, good)),),
                     limits=Limits(gpu_hours=100.0))
        made = report.stop(facts, self.ENDED)
        assert (made.follow.repair, made.follow.forecast, made.follow.left) == ("pin", 124.0, 68.0)
        assert made.scores == (score,) and (made.gpu_hours, made.cap) == (32.0, 100.0)

    def test_an_open_verdict_is_told_with_what_left_it_open(self) -> None:
        done = run(20, "sweep", ENTRY, job(3), minutes=90)
        told = replace(judged(done), verdict=Verdict(verdict="inconclusive", reasons=("not-confirmed",)))
        open_ = report.stop(bump("proposal", "changelog", runs=(done,), judgements=(told,)), replace(self.ENDED, outcome=Outcome.UNCERTAIN))
        assert open_.reasons == ("not-confirmed",)

    def test_nothing_would_have_been_next_where_nothing_is_known(self) -> None:
        assert report.stop(bump("proposal"), replace(self.ENDED, wanted=None)).follow is None

    def test_without_a_cap_nothing_limits_what_is_left(self) -> None:
        assert report.stop(bump("proposal", limits=Limits()), self.ENDED).follow.left is None

    def test_the_last_words_list_every_run_in_the_order_they_began(self) -> None:
        runs = (run(40, "sweep", ENTRY, job(3), minutes=90, reason="label"), run(39, "sweep", ENTRY, conclusion="cancelled", minutes=80,
                reason="push"), GREEN)
        made = report.last_words(bump("proposal", "changelog", runs=runs), self.ENDED)
        assert [(line.id, line.reason) for line in made.runs] == [(10, "dispatch"), (39, "push"), (40, "label")]

    @pytest.mark.parametrize("outcome", Outcome)
    def test_the_last_words_follow_the_table_of_outcomes(self, outcome: Outcome) -> None:
        made, ending = report.last_words(bump("proposal"), replace(self.ENDED, outcome=outcome)), ENDINGS[outcome]
        assert (made.next, made.retry, made.closed, made.branch_kept) == (
            ending.next, ending.retry, ending.pull == "close", ending.branch == "kept")

    def test_a_pull_request_that_a_person_took_is_not_said_to_be_closed(self) -> None:
        assert not report.last_words(bump("proposal"), self.ENDED, theirs=True).closed

    @pytest.mark.parametrize(("outcome", "proven"), [
        ("validated", True), ("regressed", True), ("failed", True), ("incompatible", True), ("uncertain", False),
        ("budget-exhausted", False), ("handed-off", False), ("readiness-blocked", False), ("crashed", False)])
    def test_only_what_a_run_or_file_proved_is_proven(self, outcome: str, proven: bool) -> None:
        assert report.last_words(bump("proposal"), replace(self.ENDED, outcome=Outcome(outcome))).proven is proven

    def test_cleaning_up_names_the_runs_that_are_still_alive(self) -> None:
        going = run(20, "sweep", ENTRY, status="in_progress")
        assert report.finishing(bump("proposal", "changelog", runs=(GREEN, going)), self.ENDED).runs == (20,)


def test_a_family_is_counted_by_its_first_recipes_points() -> None:
    """The body speaks of one recipe; its siblings move with it and have their rows in the matrix."""
    two = subject(family=subject().family * 2)
    made = report.proposal(replace(bump("proposal"), subject=two), ended=None)
    assert made.concurrencies == (1, 2, 4) and made.evals == ("gsm8k",)
