"""A first sample of an eval beside the whole of it, and an eval that is not there any more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.model.result import Samples
from bot.verdict.compare import compare
from bot.verdict.evals import findings
from tests.verdict.made import METRICS, PUBLISHED_SCORES, curve, score
from tests.verdict.test_answers import answered, scored

WHOLE = answered("w" * 36 + "r" * 1283)


def judged(new: Samples, old: Samples, *more):
    return compare([*curve(), scored(new), *(one for one, _ in more)], [*curve(), scored(old), *(one for _, one in more)],
                   metrics=METRICS, samples=[new], baseline_samples=[old])


def evals(told):
    return [found for found in told.findings if found.metric == "eval"]


class TestTheFirstHundred:
    FIRST = answered("w" * 8 + "r" * 92)

    def test_are_compared_with_the_baselines_answers_to_the_same_hundred(self) -> None:
        """92 of a hundred, of which the baseline had 64: the table said .9727 and a fall beside an interval of a gain."""
        (found,) = evals(judged(self.FIRST, WHOLE))
        assert (found.how, found.n, found.baseline, found.new) == ("paired", 100, 0.64, 0.92)
        assert found.interval[0] < found.delta < found.interval[1] and found.finding == "improved"

    def test_are_no_fall_under_a_filter_that_kept_no_answers_of_its_own(self) -> None:
        told = judged(self.FIRST, WHOLE, (score(16, 92, 100, stat="flexible"), score(16, 1283, stat="flexible")))
        assert told.verdict != "regressed" and [found.stat for found in evals(told)] == ["strict"]
        assert "eval-not-comparable:gsm8k:1319:100" in told.reasons

    def test_that_fell_are_worse_also_where_the_whole_score_is_no_better(self) -> None:
        (found,) = evals(judged(answered("w" * 40 + "r" * 60), answered("r" * 100 + "w" * 500 + "r" * 300)))
        assert (found.baseline, found.new, found.finding) == (1.0, 0.6, "regressed")

    def test_that_were_cut_are_counted_among_the_same_hundred(self) -> None:
        told = judged(answered("c" * 30 + "r" * 70), answered("c" * 10 + "r" * 1309))
        found = next(one for one in told.findings if one.metric == "cut_answers")
        assert (found.baseline, found.new, found.n) == (0.1, 0.3, 100) and found.interval[0] < found.delta < found.interval[1]

    @given(st.text("rwc", min_size=20, max_size=60), st.text("rwc", min_size=20, max_size=60))
    def test_never_stand_outside_their_own_interval(self, new, old) -> None:
        told = judged(answered(new), answered(old))
        for found in told.findings:
            if found.metric in ("eval", "cut_answers") and found.interval:
                assert found.interval[0] - 1e-9 <= found.delta <= found.interval[1] + 1e-9
                assert found.delta == pytest.approx(found.new - found.baseline)


class TestAHundredOfNobodyKnowsWhich:
    @pytest.mark.parametrize("right, verdict", [(93, "neutral"), (92, "regressed")])
    def test_are_worse_where_a_first_sample_would_be_an_alarm(self, right, verdict) -> None:
        told = compare([*curve(), score(16, right, 100)], [*curve(), *PUBLISHED_SCORES], metrics=METRICS)
        assert told.verdict == verdict and "eval-not-comparable:gsm8k:1319:100" in told.reasons


class TestAnEvalLeftOpen:
    @pytest.mark.parametrize("correct, n, runs", [(98, 100, 1), (1262, 1319, None)])
    def test_says_how_many_more_questions_would_decide(self, correct, n, runs) -> None:
        told = compare([score(16, correct, n)], [score(16, round(1283 / 1319 * n), n)] if n < 1319 else PUBLISHED_SCORES, metrics=METRICS)
        (again,) = told.rerun
        assert told.verdict == "inconclusive" and (again.why, again.point.concurrency, again.runs) == ("questions:eval", 16, runs)

    def test_is_not_asked_again_while_a_suspicion_is(self) -> None:
        told = compare([*curve(0.7), score(16, 1262)], [*curve(), *PUBLISHED_SCORES], metrics=METRICS)
        assert told.rerun and not [one for one in told.rerun if "questions" in one.why]

    def test_that_is_settled_asks_for_nothing(self) -> None:
        assert compare([score(16, 1283)], PUBLISHED_SCORES, metrics=METRICS).rerun == ()


class TestAnEvalThatIsGone:
    def test_altogether_is_said(self) -> None:
        """Taking the bad eval away left a good verdict and no word of it."""
        assert "eval-not-comparable:gsm8k:gone" in compare(curve(), [*curve(), *PUBLISHED_SCORES], metrics=METRICS).reasons

    def test_is_not_said_of_a_run_that_measured_nothing_at_all(self) -> None:
        assert findings([], PUBLISHED_SCORES) == ((), ())

    def test_is_not_said_where_another_filter_of_it_was_measured(self) -> None:
        told = compare([*curve(), structs.replace(score(16, 1283), stat="flexible")], [*curve(), *PUBLISHED_SCORES], metrics=METRICS)
        assert not [reason for reason in told.reasons if reason.endswith(":gone")]
