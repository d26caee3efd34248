"""Gates: scores, failed requests, coverage. They hold or not whatever the baseline was."""

from __future__ import annotations

import pytest

from bot.model.result import Accounting, Samples
from bot.strict import load
from bot.verdict.gates import Thresholds, coverage, failed_requests, scores
from tests.verdict.made import PUBLISHED_SCORES, RECIPE, SCORES, SWEPT, row, score, seed

GSM8K = {"gsm8k": 0.90}


class TestScores:
    def test_of_the_seed_fail_strictly_and_pass_flexibly(self) -> None:
        told = scores(SCORES, GSM8K, PUBLISHED_SCORES)
        assert [(s.concurrency, s.metric, s.passed) for s in told] == [
            (2, "strict", False),
            (2, "flexible", True),
            (4, "strict", False),
            (4, "flexible", True),
            (16, "strict", False),
            (16, "flexible", True),
        ]
        assert {round(s.baseline, 4) for s in told if s.metric == "strict"} == {0.9727}
        assert {round(s.baseline, 4) for s in told if s.metric == "flexible"} == {0.9719}

    def test_both_gate(self) -> None:
        told = scores([score(16, 1250), score(16, 1100, stat="flexible")], GSM8K, [])
        assert [s.passed for s in told] == [True, False]

    def test_at_the_threshold_pass(self) -> None:
        assert scores([score(16, 9, 10)], GSM8K, [])[0].passed is True

    def test_of_another_suite_have_no_baseline_and_say_what_was_published(self) -> None:
        (told,) = scores([score(1, 1, 2, task="kimi_tool_call_schema")], GSM8K, PUBLISHED_SCORES)
        assert (told.baseline, told.missing, told.passed, told.threshold) == (None, "eval-not-comparable:gsm8k", None, None)

    def test_of_an_unknown_suite_take_the_default(self) -> None:
        assert scores([score(1, 1, 2, task="x")], GSM8K, [], default=0.85)[0].passed is False

    def test_carry_what_became_of_the_answers(self) -> None:
        counted = Samples(concurrency=16, task="gsm8k", n=1319, correct=1071, cut=219, wrong=29, median_length=258)
        told = scores(SCORES, GSM8K, PUBLISHED_SCORES, [counted])
        assert {s.concurrency for s in told if s.samples == counted} == {16}

    def test_do_not_depend_on_their_order(self) -> None:
        assert scores(SCORES[::-1], GSM8K, PUBLISHED_SCORES[::-1]) == scores(SCORES, GSM8K, PUBLISHED_SCORES)

    def test_that_pass_may_have_been_lucky(self) -> None:
        """Every flexible score of the seed passes, and every one has .90 in its interval: against the gate it is open."""
        told = [one for one in scores(SCORES, GSM8K, []) if one.metric == "flexible"]
        assert [(one.passed, one.straddles) for one in told] == [(True, True)] * 3
        assert [round(end, 3) for end in told[0].interval] == [0.892, 0.923]

    def test_that_are_far_from_the_threshold_were_not(self) -> None:
        assert [one.straddles for one in scores([score(16, 1283), score(16, 1071, stat="flexible")], GSM8K, [])] == [False, False]
        assert not scores([score(16, 1283)], {}, [])[0].straddles


class TestThresholds:
    FILE = "default: {gsm8k: 0.90, swebench_lite: 0.50}\nmodels:\n  glm5: {gsm8k: 0.94}\n"

    @pytest.mark.parametrize("model, gsm8k", [("glm5", 0.94), ("kimik3", 0.90)])
    def test_are_the_models_own_before_the_default(self, model, gsm8k) -> None:
        assert load(Thresholds, self.FILE, file="thresholds.yaml").of(model) == {"gsm8k": gsm8k, "swebench_lite": 0.50}


class TestFailedRequests:
    def counted(self, invalid, profiled, conc=1):
        return Accounting(
            concurrency=conc, total=invalid + profiled + 11, profiled=profiled, warmup_invalid=10, profiling_invalid=invalid
        )

    @pytest.mark.parametrize(
        "invalid, profiled, strict, live",
        [
            (7, 234, True, True),
            (10, 90, True, True),
            (11, 89, False, True),
            (25, 75, False, True),
            (26, 74, False, False),
            (0, 0, False, False),
        ],
    )
    def test_are_gated_strictly_and_reported_against_the_live_limit(self, invalid, profiled, strict, live) -> None:
        (told,) = failed_requests([self.counted(invalid, profiled)], live=0.25)
        assert (told.passed, told.live_passed, told.limit) == (strict, live, 0.10)

    def test_leave_warm_up_out(self) -> None:
        assert failed_requests([self.counted(0, 20)])[0].share == 0.0


class TestCoverage:
    def test_names_what_was_not_measured(self) -> None:
        assert coverage(seed(SWEPT), [(RECIPE, conc) for conc in (1, 2, 4, 8, 16)]) == ((RECIPE, 16),)
        assert coverage([row(1, "tput_per_gpu", 0.0)], [(RECIPE, 1)]) == ((RECIPE, 1),)
