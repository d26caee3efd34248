"""The seed's figures as golden values: whoever changes a formula sees which of them moves."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.verdict import statistics as s
from tests.verdict.made import PUBLISHED, SWEPT

COLUMN = {"tput": (0, 1), "output": (1, 1), "ttft": (2, -1), "intvty": (4, 1)}
EFFECTS = st.lists(st.floats(-2, 2), min_size=1, max_size=9)


def effects(metric: str) -> list[float]:
    index, sign = COLUMN[metric]
    return [s.log_ratio(SWEPT[conc][index], PUBLISHED[conc][index], sign) for conc in SWEPT]


def percent(interval: tuple[float, float]) -> tuple[float, float]:
    return tuple(round(100 * end, 1) for end in interval)


class TestHodgesLehmann:
    @pytest.mark.parametrize(
        "metric, points, pool",
        [
            ("tput", [5.7, 6.2, 4.3, 7.1], 5.8),
            ("output", [4.5, 8.4, 3.5, 10.5], 6.7),
            ("ttft", [30.6, 43.5, 38.5, 68.7], 42.3),
            ("intvty", [4.6, 5.0, 7.6, 6.2], 5.8),
        ],
    )
    def test_of_the_seeds_sweep(self, metric, points, pool) -> None:
        assert [round(100 * effect, 1) for effect in effects(metric)] == points
        assert round(100 * s.hodges_lehmann(effects(metric)), 1) == pool

    def test_does_not_follow_one_wild_point_in_five(self) -> None:
        assert abs(s.hodges_lehmann([0.0, 0.001, -0.001, 0.002, -0.4])) < 0.002

    @given(EFFECTS, st.randoms(use_true_random=False))
    def test_knows_no_order(self, values, random) -> None:
        mixed = list(values)
        random.shuffle(mixed)
        assert s.hodges_lehmann(mixed) == s.hodges_lehmann(values)

    @given(EFFECTS)
    def test_lies_among_its_values_and_turns_with_their_sign(self, values) -> None:
        pooled = s.hodges_lehmann(values)
        assert min(values) - 1e-12 <= pooled <= max(values) + 1e-12
        assert s.hodges_lehmann([-value for value in values]) == pytest.approx(-pooled)

    def test_of_nothing_is_no_number(self) -> None:
        with pytest.raises(ValueError, match="no values"):
            s.hodges_lehmann([])


class TestAChange:
    def test_is_finite_whatever_stood_there(self) -> None:
        assert s.change(110.0, 100.0) == 110.0 / 100.0 - 1
        assert math.isfinite(s.change(1e300, 1e-300)) and math.isfinite(s.log_ratio(1e-300, 1e300, 1))


class TestTheStandardError:
    @pytest.mark.parametrize("history, runs, quiet, noisy", [(1, 1, 2.6, 4.2), (10, 1, 2.0, 3.2), (3, 3, 1.7, 2.8)])
    def test_gives_the_half_widths_of_each_design(self, history, runs, quiet, noisy) -> None:
        widths = [
            100 * s.Z_ONE_SIDED * s.pooled_se(sigma=sigma, tau=tau, points=5, runs=runs, history=history)
            for sigma, tau in ((0.01, 0.01), (0.022, 0.015))
        ]
        assert widths == [pytest.approx(quiet, abs=0.06), pytest.approx(noisy, abs=0.06)]

    def test_shares_five_percent_among_the_tests(self) -> None:
        assert round(s.Z_FAMILY, 2) == 2.13
        assert s.bonferroni_z(1) == pytest.approx(s.Z_FAMILY) and s.bonferroni_z(8) > s.bonferroni_z(4)


class TestShares:
    @pytest.mark.parametrize(
        "counted, low, high",
        [
            ((1077, 1319), 79.5, 83.6),
            ((1054, 1319), 77.7, 82.0),
            ((1071, 1319), 79.0, 83.2),
            ((1199, 1319), 89.2, 92.3),
            ((3202, 3957), 79.7, 82.1),
            ((1, 2), 9.5, 90.5),
            ((1, 233), 0.1, 2.4),
            ((7, 241), 1.4, 5.9),
            ((0, 5), 0.0, 43.4),
        ],
    )
    def test_have_wilsons_interval(self, counted, low, high) -> None:
        assert percent(s.wilson(*counted)) == (low, high)

    def test_agree_with_scipys(self) -> None:
        from scipy.stats import binomtest

        for correct, n in ((0, 1), (1, 2), (1071, 1319), (1319, 1319)):
            told = binomtest(correct, n).proportion_ci(method="wilson")
            assert s.wilson(correct, n) == pytest.approx((told.low, told.high), abs=1e-6)

    @pytest.mark.parametrize(
        "new, old, low, high",
        [
            ((1077, 1319), (1283, 1319), -17.9, -13.4),
            ((1054, 1319), (1283, 1319), -19.7, -15.0),
            ((1071, 1319), (1283, 1319), -18.4, -13.8),
            ((219, 1319), (0, 1319), 14.7, 18.7),
            ((7, 241), (1, 233), 0.0, 5.5),
        ],
    )
    def test_differ_by_newcombes_interval(self, new, old, low, high) -> None:
        assert percent(s.newcombe(new, old)) == (low, high)

    def test_of_too_many_right_answers_are_none(self) -> None:
        with pytest.raises(ValueError, match="no share"):
            s.wilson(3, 2)


class TestThePairedInterval:
    def test_is_half_as_wide_as_that_of_two_shares(self) -> None:
        """BF16 beside FP8 on the same 1319 questions: 14 and 9 discordant ones, a standard error of 0.36 points."""
        low, high = s.newcombe_paired(1260, 14, 9, 36)
        alone = s.newcombe((1274, 1319), (1269, 1319))
        assert high - low == pytest.approx(2 * 1.96 * 0.0036, rel=0.1) and high - low < 0.6 * (alone[1] - alone[0])

    def test_is_the_published_example(self) -> None:
        """Newcombe 1998: 36, 12, 2, 0 of 50 give 0.0569 to 0.3404 by method 10."""
        assert s.newcombe_paired(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)

    @given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(1, 99))
    def test_turns_with_its_sides_and_stays_among_differences(self, both, new, old, neither) -> None:
        low, high = s.newcombe_paired(both, new, old, neither)
        turned = s.newcombe_paired(both, old, new, neither)
        assert (low, high) == pytest.approx((-turned[1], -turned[0]))
        assert -1 <= low <= (new - old) / (both + new + old + neither) <= high <= 1


class TestExactTests:
    def test_say_what_the_seed_computed(self) -> None:
        assert s.fisher((7, 241), (1, 233)) == pytest.approx(0.068, abs=5e-4)
        assert s.fisher((2, 241), (1, 233)) == 1.0
        assert s.fisher((0, 241), (7, 241)) == pytest.approx(0.015, abs=5e-4)
        assert -71 < math.log10(s.fisher((219, 1319), (0, 1319))) < -69

    def test_count_conversations_and_not_the_requests_in_them(self) -> None:
        """Six of the seven invalid requests were one conversation: two against one are no difference. By requests the smoke
        and the sweep of one image, which are the same system, differ at p = 0.015."""
        low, high = s.newcombe((2, 241), (1, 233))
        assert percent((low, high)) == (-1.7, 2.6) and round(100 * (2 / 241 - 1 / 233), 2) == 0.4

    def test_see_one_cause_behind_three_points(self) -> None:
        assert s.homogeneous([(1077, 1319), (1054, 1319), (1071, 1319)]) == pytest.approx(0.50, abs=0.005)
        assert s.homogeneous([(3, 3), (5, 5)]) == 1.0

    def test_know_how_much_luck_a_gate_allows(self) -> None:
        assert [round(s.at_least(correct, 1319, 0.90), 2) for correct in (1199, 1191, 1196)] == [0.15, 0.38, 0.22]

    def test_of_paired_answers(self) -> None:
        assert (s.mcnemar(6, 6), round(s.mcnemar(14, 9), 2), s.mcnemar(0, 0)) == (1.0, 0.40, 1.0)


class TestTheImport:
    def test_of_the_room_costs_no_scipy(self) -> None:
        code = "import sys, bot.verdict.compare, bot.verdict.gates, bot.results, bot.baseline; print('scipy' in sys.modules)"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert told.stdout.strip() == "False"
