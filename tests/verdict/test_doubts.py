"""Measurements that are doubted: cold ones, ones of other work; and what a sound one beside them is worth."""

from __future__ import annotations

import pytest
from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.verdict.compare import compare
from tests.verdict.made import METRICS, PUBLISHED, SMOKE, SWEPT, curve, row, seed


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def lengths(tokens: float, metric: str = "output_tokens", **other) -> list[Row]:
    return [row(conc, metric, tokens, "mean", unit="tokens", **other) for conc in (1, 2, 4, 8, 16)]


def fixed(rows: list[Row]) -> list[Row]:
    return [structs.replace(one, point=structs.replace(one.point, workload="8k1k")) for one in rows]


def flagged(rows: list[Row], conc: int, flag: str) -> list[Row]:
    return [structs.replace(one, flags=(flag,)) if one.point.concurrency == conc else one for one in rows]


def tail(rows: list[Row], factor: float, stat: str = "p99", **other) -> list[Row]:
    middle = next(one.value for one in rows if (one.point.concurrency, one.metric) == (1, "ttft"))
    return [*rows, row(1, "ttft", middle * factor, stat, **other)]


class TestAColdStart:
    @pytest.mark.parametrize("stat", ["p99", "p95", "p90"])
    def test_is_seen_in_whatever_tail_both_sides_have(self, stat) -> None:
        told = verdict(tail(curve(0.8), 3, stat), tail(curve(), 1.1, stat))
        assert told.verdict == "inconclusive" and "cold-run" in told.reasons

    def test_names_the_point_to_run_again(self) -> None:
        told = verdict(tail(curve(), 3), tail(curve(), 1.1), gpu_hours={1: 16.0})
        assert [(again.point.concurrency, again.gpu_hours, again.runs) for again in told.rerun] == [(1, 16.0, 1)]
        assert told.rerun[0].why.startswith("cold-run:")

    def test_is_replaced_by_a_warm_second_run_of_its_point(self) -> None:
        warm = [one for one in curve() if one.point.concurrency == 1]
        told = verdict(tail(curve(), 3), tail(curve(), 1.1), repeat=warm)
        assert told.verdict == "neutral" and "cold-run" not in told.reasons

    def test_confirms_nothing_as_a_repeat(self) -> None:
        """The smoke met a server still compiling: that it was slow too says nothing of the image."""
        slow = [structs.replace(one, value=one.value * 0.8) if one.metric == "tput_per_gpu" and one.point.concurrency == 1 else one
                for one in curve()]  # fmt: skip
        again = [one for one in slow if one.point.concurrency == 1]
        assert verdict(slow, curve(), repeat=again).verdict == "regressed"
        for cold in (tail(again, 3), flagged(again, 1, "cold-run")):
            told = verdict(slow, tail(curve(), 1.1), repeat=cold)
            assert told.verdict == "inconclusive" and [one.point.concurrency for one in told.rerun] == [1]

    def test_that_one_row_of_a_point_tells_is_that_of_all_its_rows(self) -> None:
        new = [structs.replace(one, flags=("cold-run",)) if (one.metric, one.point.concurrency) == ("ttft", 8) else one
               for one in curve(0.7)]  # fmt: skip
        told = verdict(new, curve(), repeat=curve(0.7))
        throughput = next(f for f in told.findings if f.metric == "tput_per_gpu" and f.point and f.point.concurrency == 8)
        assert throughput.n is None and told.verdict == "regressed", "four sound points twice, and one of them once"

    def test_of_the_baseline_asks_for_no_run_of_the_candidate(self) -> None:
        told = verdict(curve(), flagged(curve(), 2, "cold-run"))
        assert told.verdict == "inconclusive" and "cold-run:baseline" in told.reasons and told.rerun == ()

    def test_of_one_published_run_leaves_the_others(self) -> None:
        cold = [structs.replace(one, value=one.value / 9) if one.metric == "tput_per_gpu" else one for one in curve(run=1)]
        old = [*flagged([one for one in cold if one.point.concurrency == 2], 2, "cold-run"), *curve(run=2)]
        assert verdict(curve(), old).verdict == "neutral"


class TestOtherWork:
    @pytest.mark.parametrize("factor, mismatch", [(1.0, False), (1.009, False), (1.02, True), (0.98, True)])
    def test_is_input_that_differs_by_more_than_a_hundredth(self, factor, mismatch) -> None:
        new = curve(1.3) + lengths(8000 * factor, "input_tokens")
        told = verdict(new, curve() + lengths(8000, "input_tokens"))
        assert ("workload-mismatch" in told.reasons) is mismatch and (told.verdict == "inconclusive") is mismatch
        assert not mismatch or told.rerun == ()

    def test_is_output_cut_short_however_fast_it_came(self) -> None:
        """A faster but wrong server: +30 % throughput, a tenth fewer tokens an answer."""
        told = verdict(curve(1.3) + lengths(450), curve() + lengths(500))
        assert told.verdict == "inconclusive" and "workload-mismatch" in told.reasons
        found = next(found for found in told.findings if found.metric == "output_tokens")
        assert (found.delta, found.finding, found.reasons) == (pytest.approx(-0.1), "inconclusive", ("workload-mismatch",))

    def test_is_told_and_judges_nothing_where_an_agents_answers_vary_a_little(self) -> None:
        told = verdict(curve() + lengths(485), curve() + lengths(500))
        assert told.verdict == "neutral"
        assert {found.finding for found in told.findings if found.metric == "output_tokens"} == {"neutral"}

    def test_is_any_other_length_where_lengths_are_ordered(self) -> None:
        told = verdict(fixed(curve() + lengths(985)), fixed(curve() + lengths(1000)))
        assert told.verdict == "inconclusive" and "workload-mismatch" in told.reasons

    def test_is_not_more_requests_in_the_same_time(self) -> None:
        """The seed profiled 900 requests where the baseline had 840: it was that much faster."""
        assert "workload-mismatch" not in verdict(seed(SWEPT), seed(PUBLISHED)).reasons
        assert "workload-mismatch" not in verdict(seed(SMOKE), seed(PUBLISHED)).reasons

    def test_is_a_tenth_of_the_requests_at_the_same_rate(self) -> None:
        few = [structs.replace(one, value=one.value / 10) if one.metric == "profiled_requests" else one for one in seed(SWEPT)]
        assert "workload-mismatch" in verdict(few, seed(PUBLISHED)).reasons

    def test_of_as_many_requests_may_take_its_time(self) -> None:
        """A fixed number of requests at half the rate takes twice as long: that is a regression, and no other workload."""
        new = curve(0.6) + [row(conc, "profiled_requests", 100) for conc in (1, 2, 4, 8, 16)]
        old = curve() + [row(conc, "profiled_requests", 100) for conc in (1, 2, 4, 8, 16)]
        assert verdict(new, old, repeat=curve(0.6)).verdict == "regressed"

    def test_as_a_repeat_is_no_repeat(self) -> None:
        fast = curve(0.7) + lengths(400)
        told = verdict(curve(0.7) + lengths(500), curve() + lengths(500), repeat=fast)
        assert told.verdict == "inconclusive" and len(told.rerun) == 5


class TestAnImageNotProven:
    def test_at_one_point_asks_for_that_point_on_another_node(self) -> None:
        told = verdict(flagged(curve(), 4, "image-not-proven"), curve())
        assert told.verdict == "inconclusive" and [again.point.concurrency for again in told.rerun] == [4]

    def test_at_every_point_asks_for_none(self) -> None:
        new = [structs.replace(one, flags=("image-not-proven",)) for one in curve()]
        assert verdict(new, curve()).rerun == ()


class TestRowsThatContradict:
    def test_in_the_baseline_are_refused_with_point_and_run(self) -> None:
        with pytest.raises(BadInput, match=r"the baseline has tput_per_gpu at kimik3-gb200 concurrency 8 twice in run 7: 650 and 1300"):
            verdict(curve(), curve(run=7) + [row(8, "tput_per_gpu", 650.0, run=7)])

    def test_in_the_baseline_that_agree_count_once(self) -> None:
        assert "baseline-single" in verdict(curve(), curve(run=7) * 2).reasons

    def test_in_the_repeat_are_refused(self) -> None:
        with pytest.raises(BadInput, match="the repeat has"):
            verdict(curve(run=1), curve(), repeat=curve(run=2) + curve(0.9, run=2))

    def test_give_no_confirmation_when_a_sweep_is_named_as_its_own_repeat(self) -> None:
        told = verdict(curve(0.7, run=3), curve(), repeat=curve(0.7, run=3))
        assert told.verdict == "inconclusive" and "not-confirmed" in told.reasons

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -3.0])
    def test_with_what_no_measurement_is_make_a_point_missing(self, value) -> None:
        new = [structs.replace(one, value=value) if one.point.concurrency == 8 else one for one in curve()]
        told = verdict(new, curve())
        assert "partial-sweep:c8" in told.reasons
        assert verdict(curve(), new).verdict in ("neutral", "inconclusive")
        assert verdict(curve(), [structs.replace(one, value=value) for one in curve()]).verdict == "inconclusive"


class TestCosts:
    def test_are_those_of_the_point_where_topologies_share_a_concurrency(self) -> None:
        def rows(factor=1.0):
            return [structs.replace(one, point=structs.replace(one.point, topology=name)) for one in curve(factor)
                    for name in ("TP8", "TP16")]  # fmt: skip

        cells = {Cell(recipe="kimik3-gb200", concurrency=1, topology="TP8"): 8.0, 1: 16.0}
        told = verdict(rows(0.7), rows(), gpu_hours=cells)
        assert {(again.point.topology, again.gpu_hours) for again in told.rerun if again.point.concurrency == 1} == {
            ("TP8", 8.0), ("TP16", 16.0)
        }  # fmt: skip
