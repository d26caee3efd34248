"""What one side does not have: no figure that is taken away, or is nothing, may leave a better verdict than it gave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.model.result import Row, Verdict
from bot.verdict.compare import compare
from bot.verdict.report import exit_code
from tests.verdict.made import METRICS, curve, row, score


def verdict(new: list[Row], old: list[Row] | None = None, **other) -> Verdict:
    return compare(new, curve() if old is None else old, metrics=METRICS, **other)


def without(rows: list[Row], metric: str, *concs: int) -> list[Row]:
    return [one for one in rows if one.metric != metric or concs and one.point.concurrency not in concs]


def nothing(rows: list[Row], metric: str, *concs: int) -> list[Row]:
    return [structs.replace(one, value=0.0) if one.metric == metric and one.point.concurrency in concs else one for one in rows]


def elsewhere(rows: list[Row], **other: object) -> list[Row]:
    return [structs.replace(one, point=structs.replace(one.point, **other)) for one in rows]


ALL = (1, 2, 4, 8, 16)


class TestAFigureOfNothing:
    @pytest.mark.parametrize("metric, primary", [("tput_per_gpu", "throughput"), ("ttft", "first-token"), ("itl", "token")])
    def test_at_every_point_leaves_the_verdict_open(self, metric, primary) -> None:
        """A throughput of 0 tok/s at all points was passed over, and the sweep was neutral."""
        told = verdict(nothing(curve(), metric, *ALL))
        assert told.verdict == "inconclusive" and exit_code(told) == 1 and f"partial-sweep:{primary}" in told.reasons
        assert {(one.point.concurrency, one.why) for one in told.rerun} == {(conc, f"partial-sweep:{metric}") for conc in ALL}

    def test_is_not_made_up_for_by_a_figure_that_would_stand_in(self) -> None:
        def beside(rows: list[Row]) -> list[Row]:
            return [*rows, *(structs.replace(one, metric="output_tput_per_gpu") for one in curve() if one.metric == "tput_per_gpu")]

        for concs in (ALL, (16,)):
            told = verdict(beside(nothing(curve(), "tput_per_gpu", *concs)), beside(curve()))
            assert told.verdict == "inconclusive" and any(reason.startswith("partial-sweep") for reason in told.reasons)

    def test_of_no_performance_at_all_beside_a_good_eval_is_not_good(self) -> None:
        told = verdict([score(4, 1283)], [*curve(), score(4, 1283)])
        assert told.verdict == "inconclusive" and "partial-sweep:c16" in told.reasons

    def test_at_one_point_leaves_it_open_and_names_the_point(self) -> None:
        told = verdict(nothing(curve(), "tput_per_gpu", 16))
        assert told.verdict == "inconclusive" and "partial-sweep:c16" in told.reasons and "partial-sweep:c8" not in told.reasons
        assert [(one.point.concurrency, one.why) for one in told.rerun] == [(16, "partial-sweep:tput_per_gpu")]

    def test_in_the_baseline_leaves_it_open_though_nothing_of_ours_would_mend_it(self) -> None:
        told = verdict(curve(), nothing(curve(), "tput_per_gpu", 16))
        assert told.verdict == "inconclusive" and "partial-sweep:c16" in told.reasons and told.rerun == ()


class TestAPointThatIsGone:
    def test_leaves_the_verdict_open_and_is_what_to_run(self) -> None:
        told = verdict([one for one in curve() if one.point.concurrency in (1, 2)])
        assert told.verdict == "inconclusive" and {one.point.concurrency for one in told.rerun} == {4, 8, 16}

    def test_past_saturation_is_told_and_limits_nothing(self) -> None:
        def queued(rows: list[Row]) -> list[Row]:
            return [structs.replace(one, value=one.value * 20) if (one.metric, one.point.concurrency) == ("ttft", 16) else one
                    for one in rows]

        told = verdict([one for one in curve() if one.point.concurrency < 16], queued(curve()))
        assert told.verdict == "neutral" and "partial-sweep:c16" in told.reasons

    @pytest.mark.parametrize("other", [{"recipe": "sibling"}, {"topology": "TP16"}, {"workload": "1024/8192"}])
    def test_of_another_curve_than_was_run_is_no_gap(self, other) -> None:
        own = {"topology": "TP8", "workload": "8192/1024"}
        told = verdict(elsewhere(curve(), **own), [*elsewhere(curve(), **own), *elsewhere(curve(concs=(64,)), **own | other)])
        assert told.verdict == "neutral" and "partial-sweep:c64" in told.reasons and told.rerun == ()

    def test_of_the_baseline_alone_is_told_and_limits_nothing(self) -> None:
        told = verdict(curve(), [one for one in curve() if one.point.concurrency < 16])
        assert told.verdict == "neutral" and "partial-sweep:c16" in told.reasons


class TestAPrimaryThatIsGone:
    def test_from_the_new_run_leaves_the_verdict_open(self) -> None:
        told = verdict(without(curve(), "ttft"))
        assert told.verdict == "inconclusive" and "partial-sweep:first-token" in told.reasons

    def test_from_the_baseline_is_told_and_limits_nothing(self) -> None:
        told = verdict(curve(), without(curve(), "ttft"))
        assert told.verdict == "neutral" and "partial-sweep:first-token" in told.reasons

    def test_because_the_sides_tell_two_statistics_is_open_and_no_reason_to_run_anything(self) -> None:
        means = [structs.replace(one, stat="mean") if one.metric == "ttft" else one for one in curve()]
        told = verdict(curve(), means)
        assert told.verdict == "inconclusive" and "partial-sweep:first-token" in told.reasons and told.rerun == ()

    def test_that_neither_side_has_is_not_mentioned(self) -> None:
        told = verdict(without(curve(), "ttft"), without(curve(), "ttft"))
        assert told.verdict == "neutral" and "partial-sweep:first-token" not in told.reasons


class TestPerformanceThatNobodyKnows:
    @pytest.mark.parametrize("name", ["throughput_per_gpu", "time_to_first_token"])
    def test_is_never_neutral_beside_a_good_eval(self, name) -> None:
        given = [row(conc, name, 5.0, unit="s") for conc in ALL]
        told = verdict([*given, score(16, 1283)], [*given, score(16, 1283)])
        assert told.verdict == "inconclusive" and "too-few-points" in told.reasons

    def test_is_not_what_an_eval_alone_is(self) -> None:
        assert verdict([score(16, 1283)], [score(16, 1283)]).verdict == "neutral"


class TestTakingAnythingAway:
    @given(st.floats(0.5, 1.0), st.lists(st.tuples(st.sampled_from(("tput_per_gpu", "ttft", "itl")), st.sampled_from(ALL)), min_size=1))
    def test_never_gives_a_good_verdict(self, factor, gone) -> None:
        kept = [one for one in curve(factor) if (one.metric, one.point.concurrency) not in gone]
        assert exit_code(verdict(kept)) == 1
