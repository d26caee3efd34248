"""The rule on plain numbers: clauses, what a second run makes of them, and what must hold of every curve."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.verdict.noise import Noise
from bot.verdict.rule import Point, rule
from bot.verdict.words import ORDER

QUIET = Noise(sigma=0.01, tau=0.01)
EFFECT = st.floats(-0.6, 0.6)
CURVES = st.lists(st.tuples(EFFECT, st.none() | EFFECT, st.sampled_from([1, 3, 10])), min_size=1, max_size=8)


def ruled(*points: Point, margin: float = 0.05, noise: Noise = QUIET):
    return rule(points, margin=margin, noise=noise)


def flat(effect: float, *again: float, points: int = 5, history: int = 1) -> list[Point]:
    return [Point(effect, again, history)] * points


def drawn(curve) -> list[Point]:
    return [Point(first, () if again is None else (again,), history) for first, again, history in curve]


class TestThePoolClause:
    def test_holds_at_the_margin_when_it_is_surely_below_nothing(self) -> None:
        assert ruled(*flat(-0.05)).suspects == frozenset(range(5))
        assert not ruled(*flat(-0.0499)).raised
        assert not ruled(*flat(-0.05), noise=Noise(sigma=0.03, tau=0.02)).raised, "2.13 standard errors reach past nothing"

    def test_needs_three_points(self) -> None:
        assert ruled(*flat(-0.08, -0.08, points=3, history=10)).finding == "regressed"
        for points in (1, 2):
            told = ruled(*flat(-0.08, -0.08, points=points, history=10))
            assert told.finding == "inconclusive" and not told.raised, "each point stands for itself there, at twice the margin"
            assert ruled(*flat(-0.12, -0.12, points=points, history=10)).finding == "regressed"

    def test_does_not_follow_one_slow_point_in_five(self) -> None:
        told = ruled(*flat(0.0, points=4), Point(-0.3))
        assert told.suspects == {4} and told.finding == "inconclusive"

    def test_is_confirmed_by_a_second_sweep_and_not_by_a_part_of_one(self) -> None:
        assert ruled(*flat(-0.07, -0.06)).finding == "regressed" and ruled(*flat(-0.07, -0.06)).pool_confirmed
        part = ruled(*flat(-0.07, -0.06, points=4), Point(-0.07))
        assert part.finding == "inconclusive" and part.suspects == frozenset(range(5))

    def test_is_cleared_by_a_second_sweep(self) -> None:
        told = ruled(*flat(-0.06, 0.02))
        assert (told.finding, told.reasons, told.suspects) == ("neutral", ("not-confirmed:cleared",), frozenset())

    def test_of_several_repeats_is_not_decided_by_the_slow_one(self) -> None:
        assert ruled(*flat(-0.07, -0.07, 0.0, 0.0)).finding != "regressed"
        assert ruled(*flat(-0.07, -0.07, -0.06, 0.0)).finding == "regressed"


class TestThePointClause:
    def test_holds_at_twice_the_margin(self) -> None:
        assert ruled(*flat(0.0, points=4), Point(-0.1)).suspects == {4}
        assert not ruled(*flat(0.0, points=4), Point(-0.099)).raised

    def test_must_hold_twice_at_the_same_point(self) -> None:
        slow, fine = Point(-0.2, (-0.19,)), Point(-0.2, (-0.02,))
        assert ruled(*flat(0.0, points=4), slow).confirmed == {4}
        assert ruled(*flat(0.0, points=4), fine).finding == "neutral"
        elsewhere = ruled(*flat(0.0, points=3), Point(-0.2, (0.0,)), Point(0.0, (-0.2,)))
        assert not elsewhere.confirmed and elsewhere.finding != "regressed", "slow once here, once there: so are excursions"

    def test_needs_more_of_a_long_curve_and_of_a_loud_one(self) -> None:
        loud = Noise(sigma=0.03, tau=0.02)
        assert not ruled(*flat(0.0, points=4), Point(-0.12), noise=loud).raised
        assert ruled(*flat(0.0, points=4), Point(-0.12, (), 10), noise=Noise(sigma=0.02, tau=0.01)).raised

    def test_of_three_looks_needs_two(self) -> None:
        assert ruled(*flat(0.0, points=4), Point(-0.2, (-0.2, 0.0))).finding == "regressed"
        assert ruled(*flat(0.0, points=4), Point(-0.15, (-0.15, 0.0, 0.0))).finding != "regressed"


class TestAColdFirstRun:
    def test_is_never_regressed_though_the_warm_one_is_slow_too(self) -> None:
        told = ruled(*flat(-0.6, -0.2))
        assert told.finding == "inconclusive" and told.reasons == ("cold-run",) and len(told.suspects) == 5

    def test_is_left_out_once_two_warm_ones_stand_without_it(self) -> None:
        assert ruled(*flat(-0.6, 0.0, 0.01)).finding == "neutral"
        assert ruled(*flat(-0.6, -0.2, -0.21)).finding == "regressed"

    def test_is_not_what_one_slow_point_is(self) -> None:
        assert "cold-run" not in ruled(*flat(0.0, 0.0, points=4), Point(-0.4, (0.0,))).reasons


class TestTheRest:
    @pytest.mark.parametrize(
        "effect, finding", [(0.06, "improved"), (0.04, "neutral"), (0.0, "neutral"), (-0.02, "neutral"), (-0.03, "inconclusive")]
    )
    def test_is_what_the_interval_shows(self, effect, finding) -> None:
        assert ruled(*flat(effect)).finding == finding

    def test_gains_from_history(self) -> None:
        assert ruled(*flat(-0.028)).finding == "inconclusive" and ruled(*flat(-0.028, history=10)).finding == "neutral"

    def test_of_one_or_two_points_is_too_little(self) -> None:
        assert ruled(*flat(0.0, points=2)).reasons == ("too-few-points",)
        assert ruled(*flat(0.0, 0.0, points=2)).finding == "neutral", "measured twice they are four measurements"


class TestEveryCurve:
    @given(CURVES, st.floats(0.0, 0.5))
    def test_that_is_made_worse_is_never_judged_better(self, curve, worse) -> None:
        lower = [(first - worse, None if again is None else again - worse, history) for first, again, history in curve]
        before, after = ruled(*drawn(curve)), ruled(*drawn(lower))
        assert ORDER.index(after.finding) >= ORDER.index(before.finding) or after.finding == before.finding

    @given(CURVES)
    def test_is_neutral_only_where_that_is_shown(self, curve) -> None:
        told = ruled(*drawn(curve))
        if told.finding == "neutral":
            assert told.pool - 1.645 * told.se > -0.05 and not told.suspects

    @given(CURVES)
    def test_that_was_measured_once_is_never_regressed(self, curve) -> None:
        assert ruled(*[Point(first, (), history) for first, _, history in curve]).finding != "regressed"

    @given(CURVES)
    def test_that_raises_a_clause_mirrored_is_an_improvement(self, curve) -> None:
        """The same evidence, turned round: what would be a suspect pool is a gain."""
        told = ruled(*[Point(first, (), history) for first, _, history in curve])
        turned = ruled(*[Point(-first, (), history) for first, _, history in curve])
        if told.finding == "improved":
            assert turned.raised and turned.pool == pytest.approx(-told.pool)

    @given(CURVES)
    def test_that_is_repeated_as_it_was_stays_as_bad(self, curve) -> None:
        once = ruled(*[Point(first, (), history) for first, _, history in curve])
        twice = ruled(*[Point(first, (first,), history) for first, _, history in curve])
        thrice = ruled(*[Point(first, (first, first), history) for first, _, history in curve])
        assert twice.finding == "regressed" if once.raised else twice.finding != "regressed"
        assert thrice.finding == "regressed" if twice.finding == "regressed" else True

    @given(CURVES, st.randoms(use_true_random=False))
    def test_knows_no_order_of_its_points(self, curve, random) -> None:
        points = drawn(curve)
        mixed = list(points)
        random.shuffle(mixed)
        one, other = ruled(*points), ruled(*mixed)
        assert (one.finding, one.pool, len(one.suspects)) == (other.finding, other.pool, len(other.suspects))
