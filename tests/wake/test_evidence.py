"""What a run's artifacts say: failures, scores, gates and the verdict, each attempt once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.errors import Missing
from bot.model.bump import Judged
from bot.model.result import Baseline, Cell, Row
from bot.wake.evidence import NO_LOG
from tests.fakes.facts import bump, subject
from tests.wake.made import Forge, artifact, job, judged, log, look, result, score, tputs, zipped

EXPECTED = [point.concurrency for recipe in subject().family for point in recipe.points if point.kind == "throughput"]


class TestAFailedJob:
    def test_is_told_by_the_first_error_of_its_log(self) -> None:
        found = judged([job(conclusion="failure")], log())
        (failure,) = found.failures
        assert failure.triage.class_ == "oom" and (failure.job, failure.attempt, failure.minutes) == ("throughput c4", 1, 60.0)

    @pytest.mark.parametrize("held", [
        [], [(artifact(3, "server_logs_r_conc4_n0"), b"no zip")], [log(3, conc=8)],
        [(artifact(3, "server_logs_r_conc4_n0"), Missing("gone"))]], ids=["none", "rubbish", "other", "gone"])
    def test_without_a_readable_log_failed_for_an_unknown_reason(self, held: list) -> None:
        (failure,) = judged([job(conclusion="failure")], *held).failures
        assert (failure.triage.class_, failure.triage.first_error, failure.triage.confidence) == (None, None, "unknown")
        assert NO_LOG in failure.triage.notes

    def test_with_one_readable_log_is_told_by_that(self) -> None:
        rubbish = artifact(2, "server_logs_bad_conc4"), zipped({"x.tar.gz": b"rubbish"})
        found = judged([job(conclusion="failure")], rubbish, log())
        assert found.failures[0].triage.class_ == "oom"
        assert any("server_logs_bad_conc4" in note for note in found.failures[0].triage.notes) and found.notes

    def test_may_bring_results_that_do_not_hold_as_well(self) -> None:
        found = judged([job(conclusion="failure")], log(), (artifact(1, "bmk_r_conc4"), b"no zip"))
        assert found.failures[0].triage.class_ == "oom" and found.rows == ()

    def test_whose_scores_break_a_gate_failed_by_that(self) -> None:
        of = bump("proposal", plan=replace(subject().plan, thresholds={"gsm8k": 0.9}))
        held = score(strict=0.7), log(3, name="eval_server_logs_conc4")
        found = judged([job(2, role="eval", conclusion="failure")], *held, of=of)
        assert found.failures[0].triage.class_ == "eval-gate" and [one.passed for one in found.scores] == [False, False]

    def test_that_was_cancelled_before_it_began_took_no_time(self) -> None:
        (failure,) = judged([job(conclusion="cancelled", begins=None)]).failures
        assert (failure.triage.class_, failure.minutes) == ("cancelled-by-concurrency", 0.0)

    @pytest.mark.parametrize("conclusion", ["failure", "timed_out", "startup_failure", "action_required", None])
    def test_is_one_whatever_word_the_forge_has_for_it(self, conclusion: str | None) -> None:
        one = replace(job(), conclusion=conclusion)
        assert len(judged([one]).failures) == 1

    @pytest.mark.parametrize("conclusion", ["success", "skipped", "neutral"])
    def test_is_none_that_passed_or_was_skipped(self, conclusion: str) -> None:
        found = judged([job(conclusion=conclusion)], log())
        assert found.failures == () and found.notes == ()


class TestASecondAttempt:
    FIRST, SECOND = job(1, conclusion="failure"), job(2, attempt=2, begins=70, ends=130)

    def first(self) -> Judged:
        found = judged([self.FIRST], result(1, tput=900.0), log())
        assert found is not None and tputs(found) == [900.0]
        return found

    def test_replaces_the_first_s_rows(self) -> None:
        held = result(1, tput=900.0), log(), result(4, tput=950.0, minutes=130)
        found = judged([self.FIRST, self.SECOND], *held, known=[self.first()])
        assert tputs(found) == [950.0] and {row.attempt for row in found.rows} == {2} and found.seen == (1, 2)
        assert [failure.attempt for failure in found.failures] == [1]

    def test_looked_at_together_gives_the_same(self) -> None:
        held = result(4, tput=950.0, minutes=130), result(1, tput=900.0), log()
        one_look = judged([self.SECOND, self.FIRST], *held)
        assert one_look == judged([self.FIRST, self.SECOND], *held, known=[self.first()])

    def test_that_failed_without_results_leaves_none_of_the_first_s(self) -> None:
        again = replace(self.SECOND, conclusion="failure")
        found = judged([self.FIRST, again], result(1), log(), log(5, minutes=130), known=[self.first()])
        assert found.rows == () == found.accounting and [failure.attempt for failure in found.failures] == [1, 2]

    def test_of_an_eval_replaces_its_scores_and_no_throughput(self) -> None:
        jobs = [job(1), job(2, role="eval", conclusion="failure"), job(3, role="eval", attempt=2, begins=70, ends=130)]
        held = result(1), score(2, strict=0.5), score(3, strict=0.96, minutes=130)
        found = judged(jobs, *held)
        assert tputs(found) == [900.0] and {one.value for one in found.scores} == {0.96}
        assert {row.value for row in found.rows if row.metric == "eval"} == {0.96}

    def test_leaves_the_other_jobs_as_they_were(self) -> None:
        other = job(7, concurrency=8)
        found = judged([self.FIRST, other, self.SECOND], result(1), result(8, 8, 500.0), result(4, tput=950.0, minutes=130), log())
        assert sorted(tputs(found)) == [500.0, 950.0]

    def test_of_one_of_two_jobs_at_a_point_takes_nothing_from_the_other(self) -> None:
        sibling = job(7, name="throughput mtp c4")
        again = replace(self.SECOND, conclusion="failure")
        found = judged([self.FIRST, sibling, again], result(1))
        assert tputs(found) == [900.0]


class TestWhatWasJudged:
    def test_is_not_read_again(self) -> None:
        forge = Forge([result()])
        first = look(forge, [job()])
        assert look(forge, [job()], known=[first]) == first and forge.fetched == [1]

    def test_grows_by_the_jobs_that_ended_since(self) -> None:
        forge = Forge([result(), result(2, 8, 500.0)])
        first = look(forge, [job(), job(2, concurrency=8, ends=None)], status="in_progress")
        assert (tputs(first), first.seen) == ([900.0], (1,))
        assert sorted(tputs(look(forge, [job(), job(2, concurrency=8)], known=[first]))) == [500.0, 900.0]
        assert forge.fetched == [1, 2]

    def test_is_nothing_while_no_measuring_job_has_ended(self) -> None:
        assert judged([]) is None
        assert judged([job(ends=None), job(2, role="other", concurrency=None, gpus=0)], result(), status="in_progress") is None

    def test_leaves_out_jobs_without_a_gpu_that_measure_nothing(self) -> None:
        found = judged([job(), job(2, role="other", concurrency=None, gpus=0, conclusion="failure", name="collect")], result())
        assert (found.seen, found.failures) == ((1,), ())

    def test_of_a_measuring_job_without_a_gpu_counts_like_any_other(self) -> None:
        assert tputs(judged([job(gpus=0)], result())) == [900.0]

    def test_can_be_kept_in_the_ledger(self) -> None:
        found = judged([job(conclusion="failure")], result(), log(), (artifact(5, "bmk_\ud800_conc4"), b"no zip"))
        assert msgspec.json.decode(msgspec.json.encode(found), type=Judged) == found


class TestTheVerdict:
    def of(self, *rows: Row, unit: str = "tok/s/GPU") -> Any:
        known = rows or (Row(point=Cell(recipe="r", concurrency=4), metric="tput_per_gpu", value=900.0, unit=unit),)
        baseline = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=known)
        return bump("proposal", plan=replace(subject().plan, baseline=baseline))

    def test_of_a_sweep_is_made_against_the_baseline(self) -> None:
        assert judged([job()], result(), of=self.of(), stage="sweep").verdict is not None
        assert judged([job()], result(), of=self.of(), stage="smoke").verdict is None

    def test_that_cannot_be_made_is_none_and_a_note(self) -> None:
        found = judged([job()], result(), of=self.of(unit="s"), stage="sweep")
        assert found.verdict is None and any("no verdict" in note for note in found.notes) and tputs(found) == [900.0]

    @pytest.mark.parametrize(("image", "proven"), [
        ("vllm/vllm-openai:new", True),
        ("docker.io/vllm/vllm-openai:new", True),
        ("vllm/vllm-openai:old", False),
        ("not an image", False),
        (None, False),
    ])
    def test_rests_on_results_that_name_the_candidate(self, image: str | None, proven: bool) -> None:
        verdict = judged([job()], result(image=image), of=self.of(), stage="sweep").verdict
        assert (verdict.reasons[0].partition(":")[0] == "image-not-proven") is not proven
        assert proven or verdict.verdict == "inconclusive"


class TestTheGates:
    """Seed 004: a point may be green and still stand on requests that failed, or be absent and fail nothing."""

    def test_hold_when_every_point_was_measured_with_few_failures(self) -> None:
        every = [job(number, concurrency=conc) for number, conc in enumerate(EXPECTED, 1)]
        rows = [result(number, conc) for number, conc in enumerate(EXPECTED, 1)]
        assert judged(every, *rows, stage="sweep").gates == ()

    def test_name_a_point_that_a_finished_sweep_lacks(self) -> None:
        missing = tuple(f"coverage:c{conc}" for conc in EXPECTED if conc != 4)
        assert missing and judged([job()], result(), stage="sweep").gates == missing

    def test_wait_for_points_while_a_sweep_runs_and_ask_a_smoke_for_none(self) -> None:
        assert judged([job()], result(), stage="sweep", status="in_progress").gates == ()
        assert judged([job()], result(), stage="smoke").gates == ()

    @pytest.mark.parametrize(("limit", "gates"), [(None, ()), (0.02, ("failed-requests:c4",)), (0.0, ("failed-requests:c4",)), (0.5, ())])
    def test_take_the_recipes_own_limit_of_failed_requests(self, limit: float | None, gates: tuple[str, ...]) -> None:
        failed = {"records_total": 105, "records_profiled": 100, "records_dropped_total": 5, "records_warmup_dropped": 0,
                  "records_error_dropped": 5}
        facts = bump("proposal", family=(replace(subject().family[0], failed_requests=limit),))
        assert judged([job()], result(request_accounting=failed), of=facts).gates == gates

    def test_name_a_point_where_too_many_requests_failed(self) -> None:
        failed = {"records_total": 252, "records_profiled": 100, "records_dropped_total": 152, "records_warmup_dropped": 0,
                  "records_error_dropped": 152}
        found = judged([job()], result(request_accounting=failed), stage="smoke")
        assert found.gates == ("failed-requests:c4",)
