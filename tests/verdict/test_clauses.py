"""Which clause a finding rests on, and what became of a suspicion: nobody looked again, or somebody did and saw nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.model.result import Row, Verdict
from bot.verdict.compare import compare
from bot.verdict.report import report
from bot.verdict.words import word
from tests.verdict.made import METRICS, curve

PRIMARIES = ("tput_per_gpu", "ttft", "itl")
CLEARED = "not-confirmed:cleared"


def slower(by: dict[int, float], rest: float = 1.0) -> list[Row]:
    """A sweep that is `rest` times as good, and at some points `by` so much."""
    return [structs.replace(one, value=one.value * (share if one.metric == "tput_per_gpu" else 1 / share))
            for one in curve(rest) for share in (by.get(one.point.concurrency, 1.0),)]


def verdict(new: list[Row], again: list[Row]) -> Verdict:
    return compare(new, curve(), repeat=again, metrics=METRICS)


def whole(told: Verdict):
    return {found.metric: found for found in told.findings if found.point is None}


def at(told: Verdict, conc: int):
    return [found for found in told.findings if found.point and found.point.concurrency == conc]


class TestACurve:
    def test_regressed_through_one_point_says_which_and_that_it_did_not_fall_itself(self) -> None:
        """A report listed "total tput +0.9 %" as worse than the baseline, because the point c64 was."""
        told = verdict(slower({8: 0.6}, rest=1.01), slower({8: 0.6}, rest=1.01))
        for metric, found in whole(told).items():
            assert (found.finding, found.how, found.by_points) == ("regressed", "points:c8", True)
            assert (found.delta > 0) == (metric == "tput_per_gpu"), "its own figure is the pool's, which gained"
            assert next(one for one in at(told, 8) if one.metric == metric).finding == "regressed"

    def test_regressed_through_several_points_names_them_all(self) -> None:
        long = [structs.replace(one, point=structs.replace(one.point, concurrency=conc)) for conc in range(1, 9)
                for one in curve(concs=(1,))]
        new = [structs.replace(one, value=one.value * (0.6 if one.metric == "tput_per_gpu" else 1 / 0.6))
               if one.point.concurrency in (1, 7) else one for one in long]
        told = compare(new, long, repeat=new, metrics=METRICS)
        assert {found.how for found in whole(told).values()} == {"points:c1,c7"}

    def test_regressed_as_a_whole_says_so_also_where_points_fell_too(self) -> None:
        told = verdict(curve(0.7), curve(0.7))
        assert told.verdict == "regressed" and {(found.how, found.by_points) for found in whole(told).values()} == {(None, False)}

    def test_that_is_not_regressed_names_no_points(self) -> None:
        for again in ([], slower({8: 1.0})):
            assert {found.how for found in whole(verdict(slower({8: 0.6}), again)).values()} == {None}

    def test_tells_it_to_programs_too(self) -> None:
        told = report(verdict(slower({8: 0.6}), slower({8: 0.6})))
        assert {found["how"] for found in told["findings"] if found["point"] is None} == {"points:c8"}

    @given(st.dictionaries(st.sampled_from([1, 2, 4, 8, 16]), st.floats(0.5, 1.1)), st.floats(0.9, 1.1))
    def test_never_is_regressed_with_a_gain_and_without_a_point_that_fell(self, by, rest) -> None:
        told = verdict(slower(by, rest), slower(by, rest))
        for found in whole(told).values():
            gained = found.delta * METRICS[found.metric].sign >= 0
            assert not (found.finding == "regressed" and gained) or found.by_points


class TestASuspicion:
    SUSPECT = slower({8: 0.6})

    def test_that_nobody_looked_at_again_is_not_confirmed(self) -> None:
        told = verdict(self.SUSPECT, [])
        assert "not-confirmed" in told.reasons and CLEARED not in told.reasons and told.rerun

    def test_that_a_repeat_did_not_show_again_is_cleared_and_its_point_says_so(self) -> None:
        told = verdict(self.SUSPECT, [one for one in curve() if one.point.concurrency == 8])
        assert told.verdict == "neutral" and CLEARED in told.reasons and "not-confirmed" not in told.reasons
        assert [CLEARED in found.reasons for found in at(told, 8)] == [True] * 3
        assert not [found for found in at(told, 4) if CLEARED in found.reasons]

    def test_cleared_beside_one_that_nobody_looked_at_leaves_both_told(self) -> None:
        told = verdict(slower({8: 0.6, 16: 0.6}), [one for one in curve() if one.point.concurrency == 8])
        assert {"not-confirmed", CLEARED} <= set(told.reasons)
        assert [[word(reason) for reason in found.reasons] for found in at(told, 16)] == [["not-confirmed"]] * 3

    @pytest.mark.parametrize("again", [slower({8: 0.6}), slower({8: 0.6, 16: 1.0})])
    def test_that_was_confirmed_is_neither(self, again) -> None:
        told = verdict(slower({8: 0.6, 16: 0.6}), again)
        assert told.verdict == "regressed" and not [reason for reason in told.reasons if word(reason) == "not-confirmed"]
