"""Answers told apart: question by question, cut or finished; and scores of several points looked at as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.model.result import Samples
from bot.verdict.answers import closes, findings, told, uncut
from bot.verdict.compare import compare
from bot.verdict.evals import judgement_paired
from bot.verdict.paired import Paired, paired
from tests.verdict.made import METRICS, PUBLISHED_SCORES, RECIPE, curve, score

N = 1319
# The seed's c16: 219 answers had no final line, 29 were wrong, 1071 right; the baseline had 1283 right and none cut.
SEED = Samples(concurrency=16, task="gsm8k", n=N, correct=1071, cut=219, wrong=29, median_length=258.0, recipe=RECIPE)


def answered(marks: str, conc: int = 16, prints: str | None = None, task: str = "gsm8k") -> Samples:
    asked = len(marks.replace("-", ""))
    return Samples(
        concurrency=conc,
        task=task,
        n=asked,
        correct=marks.count("r"),
        cut=marks.count("c"),
        wrong=marks.count("w"),
        median_length=200.0,
        recipe=RECIPE,
        marks=marks,
        prints="".join(f"{place % 65536:04x}" for place in range(len(marks))) if prints is None else prints,
    )


def scored(samples: Samples, stat: str = "strict"):
    return score(samples.concurrency, samples.correct, samples.n, stat=stat)


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def compared(mine: Samples, theirs: Samples):
    given = verdict([scored(mine)], [scored(theirs)], samples=[mine], baseline_samples=[theirs])
    return next(found for found in given.findings if found.metric == "eval")


class TestTheSameQuestions:
    """A real pair for scale: 14 questions only one image got, 9 only the other, of 1319: McNemar p = 0.40."""

    OLD = answered("r" * 1269 + "w" * 14 + "r" * 9 + "w" * 27)
    NEW = answered("r" * 1269 + "r" * 14 + "w" * 9 + "w" * 27)

    def test_show_neutral_where_two_shares_would_show_nothing(self) -> None:
        """Twenty-five more wrong ones, all on the same questions, are 1.9 points: in pairs that is surely less than 2.5."""
        old = answered("r" * 1283 + "w" * 36)
        new = answered("r" * 1267 + "w" * 52)
        found = compared(new, old)
        alone = verdict([scored(new)], [scored(old)]).findings[0]
        assert (found.how, found.finding) == ("paired", "neutral") and (alone.how, alone.finding) == ("unpaired", "inconclusive")

    def test_have_half_the_standard_error(self) -> None:
        found, alone = compared(self.NEW, self.OLD), verdict([scored(self.NEW)], [scored(self.OLD)]).findings[0]
        widths = [one.interval[1] - one.interval[0] for one in (found, alone)]
        assert widths[0] < 0.6 * widths[1] and found.finding == "neutral"

    def test_are_those_with_the_same_print_at_the_same_place(self) -> None:
        other = "".join(f"{place % 65536:04x}" for place in range(1000)) + "ffff" * 319
        both = paired(structs.replace(self.NEW, prints=other), self.OLD)
        assert both.n == 1000
        assert paired(structs.replace(self.NEW, prints="ffff" * N), self.OLD) is None, "another selection of questions"
        assert paired(structs.replace(self.NEW, prints="----" * N), self.OLD) is None, "a print that is not there equals none"

    def test_are_asked_of_both(self) -> None:
        assert paired(answered("rrrr--"), answered("rwr-rr")) == Paired(2, 1, 0, 0)

    def test_cannot_be_told_from_counts_alone(self) -> None:
        assert paired(SEED, self.OLD) is None and paired(None, self.OLD) is None
        assert paired(structs.replace(self.NEW, marks=""), self.OLD) is None

    def test_speak_only_for_the_score_that_they_give(self) -> None:
        """Answers of another run are no answers of this score; nor do strict marks speak for a flexible score."""
        given = verdict([score(16, 1200)], [scored(self.OLD)], samples=[self.NEW], baseline_samples=[self.OLD])
        assert given.findings[0].how == "unpaired"
        loose = verdict([scored(self.NEW, "flexible")], [scored(self.OLD, "flexible")], samples=[self.NEW],
                        baseline_samples=[self.OLD])  # fmt: skip
        assert loose.findings[0].how == "unpaired"

    @given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
    def test_turned_round_are_judged_the_other_way(self, both, one, other, neither) -> None:
        if both + one + other + neither == 0:
            return
        mine = judgement_paired(Paired(both, one, other, neither), 0.02)
        theirs = judgement_paired(Paired(both, other, one, neither), 0.02)
        assert (mine == "improved") == (theirs == "regressed")


class TestCutAnswers:
    def whole(self) -> Samples:
        return structs.replace(SEED, correct=1283, cut=0, wrong=36)

    def test_of_the_seed_are_a_finding_of_their_own(self) -> None:
        (found,) = findings([SEED], [self.whole()])
        assert (found.metric, found.finding, found.how) == ("cut_answers", "regressed", "unpaired")
        assert (round(found.delta, 3), tuple(round(end, 3) for end in found.interval)) == (0.166, (0.147, 0.187))

    def test_leave_the_others_as_right_as_ever(self) -> None:
        """On the 1100 that were finished .9736 were right, of the baseline's .9727: the model is unchanged, the tail is cut."""
        assert closes(SEED) and uncut(SEED) == (1071, 1100)
        for old in (told([SEED], [self.whole()]), told([SEED], [], PUBLISHED_SCORES)):
            found = next(one for one in old if one.metric == "uncut_answers")
            assert (round(found.baseline, 4), round(found.new, 4), found.n, found.finding) == (0.9727, 0.9736, 1100, "neutral")

    def test_void_what_was_gained_by_them(self) -> None:
        given = verdict(curve(1.5), curve(), samples=[SEED], baseline_samples=[self.whole()])
        assert given.verdict == "regressed" and all(one.void for one in given.findings if one.metric == "tput_per_gpu")

    def test_without_the_baselines_answers_are_told_as_a_count_and_judged_by_nobody(self) -> None:
        given = verdict(curve(), curve(), samples=[structs.replace(SEED, cut=3, correct=1287)])
        found = next(one for one in given.findings if one.metric == "cut_answers")
        assert (found.baseline, found.delta, found.new, found.n) == (None, None, 3 / N, N) and given.verdict == "neutral"

    def test_that_are_none_are_not_mentioned(self) -> None:
        assert told([self.whole()], []) == ()

    def test_of_a_few_more_are_neutral_when_that_is_shown(self) -> None:
        assert findings([structs.replace(SEED, cut=5)], [self.whole()])[0].finding == "neutral"
        assert findings([structs.replace(SEED, n=60, cut=1)], [structs.replace(SEED, n=60, cut=0)])[0].finding == "inconclusive"

    def test_that_are_no_more_than_before_limit_nothing_however_few_the_questions(self) -> None:
        assert findings([structs.replace(SEED, n=30, cut=0)], [structs.replace(SEED, n=30, cut=0)])[0].finding == "neutral"
        assert findings([structs.replace(SEED, n=2, cut=1)], [structs.replace(SEED, n=2, cut=0)]) == ()

    def test_are_paired_where_the_questions_are(self) -> None:
        (found,) = findings([answered("r" * 1200 + "c" * 119)], [answered("r" * 1283 + "w" * 36)])
        assert found.how == "paired" and found.finding == "regressed"

    def test_that_became_fewer_are_no_merit(self) -> None:
        assert findings([self.whole()], [SEED])[0].finding == "neutral"


class TestSeveralConcurrencies:
    def test_that_agree_are_looked_at_as_one(self) -> None:
        given = verdict([score(2, 1270), score(4, 1272), score(16, 1269)], PUBLISHED_SCORES)
        pooled = next(found for found in given.findings if found.point is None)
        assert (pooled.n, pooled.how, pooled.recipe) == (3 * N, "pooled", RECIPE)
        alone = given.findings[0].interval
        assert pooled.interval[1] - pooled.interval[0] < alone[1] - alone[0]

    def test_that_do_not_agree_are_not(self) -> None:
        given = verdict([score(2, 1283), score(4, 1283), score(16, 1200)], PUBLISHED_SCORES)
        assert all(found.point for found in given.findings) and given.verdict == "regressed"


class TestAnotherSuite:
    def test_of_fewer_questions_may_be_worse_and_is_never_shown_to_be_as_good(self) -> None:
        given = verdict([score(16, 600, 600)], PUBLISHED_SCORES)
        assert given.verdict == "inconclusive" and "eval-not-comparable:gsm8k:1319:600" in given.reasons
        assert verdict([score(16, 480, 600)], PUBLISHED_SCORES).verdict == "regressed"

    @pytest.mark.parametrize("told", [score(16, 980, 1000), score(16, 190, 198, task="gpqa"), score(16, 1283, stat="other")])
    def test_by_its_size_its_name_or_its_filter_is_a_reason_and_no_finding(self, told) -> None:
        given = verdict([*curve(), told], [*curve(), *PUBLISHED_SCORES])
        assert given.verdict == "neutral" and not [found for found in given.findings if found.metric == "eval"]
        (why, *_) = [reason for reason in given.reasons if reason.startswith("eval-not-comparable") and not reason.endswith(":gone")]
        assert why.removeprefix("eval-not-comparable:") in ("gsm8k:1319:1000", "gpqa", "gsm8k/other")

    def test_that_is_gone_is_a_reason(self) -> None:
        given = verdict([*curve(), score(1, 30, 30, task="smoke")], [*curve(), *PUBLISHED_SCORES])
        assert {"eval-not-comparable:gsm8k:gone", "eval-not-comparable:smoke"} <= set(given.reasons)

    @pytest.mark.parametrize("n", [0, -5, None])
    def test_without_a_number_of_questions_is_tested_by_nothing(self, n) -> None:
        given = verdict([structs.replace(score(16, 1000), n=n, correct=None)], PUBLISHED_SCORES)
        assert given.verdict == "inconclusive"

    def test_with_a_score_that_is_no_number_is_none(self) -> None:
        assert verdict([structs.replace(score(16, 1000), value=float("nan"))], PUBLISHED_SCORES).verdict == "inconclusive"
