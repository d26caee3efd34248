"""Noise: the floors of metrics.yaml with what they rest on, and what a ledger of A/A pairs makes of them."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.results.metrics import Metric
from bot.verdict.compare import compare
from bot.verdict.noise import Noise, NoiseSeen, estimate, floor, floored, noise, seen, spread
from tests.verdict import casebook
from tests.verdict.made import METRICS, curve, row

FLOOR = Noise(sigma=0.01, tau=0.01)
# Neither step changed what it measured much: what the points differ by beside their own pool is noise.
NULLS = ((3200, ()), (3334, ()), (3063, (16,)))


def told(metric: str, effects: tuple[float, ...], **other) -> NoiseSeen:
    return NoiseSeen(**{"hardware": "h200", "engine": "sglang", "metric": metric, "stat": METRICS[metric].stat, "workload": None,
                        "effects": effects} | other)  # fmt: skip


class TestTheFloorsOfTheCasebook:
    """metrics.yaml keeps the numbers; here they are derived again from the figures of the pull requests it names."""

    @pytest.mark.parametrize(
        "metric, spellings, stat, workload",
        [
            ("output_tput_per_gpu", ("out_tput_per_gpu",), None, "agentic"),
            ("ttft", ("ttft_mean_ms",), "mean", None),
            ("tpot", ("tpot_mean_ms",), "mean", None),
        ],
    )
    def test_are_what_their_sources_show(self, metric, spellings, stat, workload) -> None:
        sweeps = [casebook.effects(pull, name, without) for pull, without in NULLS for name in spellings]
        kept = next(one for one in METRICS[metric].floors if (one.stat, one.workload) == (stat, workload))
        shown = estimate(sweeps, None)
        assert shown.pairs == kept.pairs == 23
        assert shown.sigma == pytest.approx(kept.sigma, abs=5e-4)

    def test_are_louder_for_a_mean_than_for_a_median(self) -> None:
        assert floor(METRICS["ttft"], "mean").sigma > floor(METRICS["ttft"], "p50").sigma == 0.03
        assert floor(METRICS["tpot"], "mean").sigma > floor(METRICS["itl"], "p50").sigma == 0.008

    def test_are_louder_for_agentic_sessions(self) -> None:
        metric = METRICS["tput_per_gpu"]
        assert floor(metric, None, "agentic-coding").sigma > floor(metric, None, "8k1k").sigma == floor(metric, None).sigma == 0.01

    def test_reach_the_verdict(self) -> None:
        rows = [row(conc, "ttft", 3.0, stat) for conc in (1, 2, 4, 8) for stat in ("p50",)]
        means = [row(conc, "ttft", 3.0, "mean") for conc in (1, 2, 4, 8)]
        widths = [compare(side, side, metrics=METRICS).findings[0].interval for side in (rows, means)]
        assert widths[1][1] > widths[0][1]

    @pytest.mark.parametrize("metric", [one for one in METRICS.values() if one.floors], ids=lambda one: one.id)
    def test_say_where_they_are_from(self, metric) -> None:
        assert all("#" in one.source and one.pairs > 0 for one in metric.floors)


class TestWhatPairsShow:
    @given(st.lists(st.lists(st.floats(-0.001, 0.001), min_size=1, max_size=6), max_size=4))
    def test_never_goes_below_the_floor(self, sweeps) -> None:
        shown = estimate(sweeps, FLOOR)
        assert shown.sigma >= FLOOR.sigma and shown.tau >= FLOOR.tau

    def test_rises_with_them(self) -> None:
        generator = random.Random(6)
        sweeps = [[generator.gauss(shift, 0.03 * math.sqrt(2)) for _ in range(6)] for shift in (0.06, -0.07, 0.05, -0.06, 0.04) * 4]
        shown = estimate(sweeps, FLOOR)
        assert shown.sigma == pytest.approx(0.03, rel=0.15) and shown.tau == pytest.approx(0.06 / math.sqrt(2), rel=0.35)
        assert shown.pairs == 120

    def test_of_one_wild_value_in_ten_stays_what_the_others_show(self) -> None:
        quiet = [0.01, -0.012, 0.008, -0.01, 0.011, -0.009, 0.012, -0.011, 0.01, -0.4]
        assert spread(quiet) < 0.02

    def test_sees_a_tail_that_the_middle_does_not(self) -> None:
        assert spread([0.001] * 7 + [0.2] * 3) > 0.1

    def test_of_few_pairs_leans_on_the_floor(self) -> None:
        two = estimate([[0.1, -0.1]], FLOOR).sigma
        many = estimate([[0.1, -0.1] * 10], FLOOR).sigma
        assert FLOOR.sigma < two < many

    def test_says_nothing_of_sweeps_while_there_are_fewer_than_three(self) -> None:
        assert estimate([[0.2] * 5, [-0.2] * 5], FLOOR).tau == FLOOR.tau
        assert estimate([[0.2] * 5, [-0.2] * 5, [0.1] * 5], FLOOR).tau > 0.05

    def test_of_nothing_is_the_floor_and_without_one_nothing(self) -> None:
        assert estimate([], FLOOR) == FLOOR and estimate([[]], None) is None


class TestTheLedger:
    def test_keeps_the_differences_of_every_metric_that_can_decide(self) -> None:
        records = seen(curve(run=1), curve(1.02, run=2), metrics=METRICS, hardware="h200", engine="sglang", source="runs 1, 2")
        assert [(one.metric, one.stat, len(one.effects)) for one in records] == [
            ("itl", "p50", 5), ("tput_per_gpu", None, 5), ("ttft", "p50", 5)
        ]  # fmt: skip
        (shift,) = {round(effect, 9) for effect in records[1].effects}
        assert shift == pytest.approx(math.log(1.02))

    def test_leaves_out_what_a_cold_run_measured(self) -> None:
        cold = [row(1, "ttft", 9.0, flags=("cold-run",))]
        assert seen(cold, curve(), metrics=METRICS, hardware="h200", engine="sglang") == ()

    def test_gives_what_compare_takes(self) -> None:
        records = [told("ttft", (0.2, -0.25, 0.22, -0.21, 0.2)) for _ in range(4)]
        loud = noise(records, METRICS)
        assert set(loud) == {"ttft"} and loud["ttft"].pairs == 20 and loud["ttft"].sigma > 0.1
        assert compare(curve(), curve(), metrics=METRICS).verdict == "neutral"
        assert "wide-interval" in compare(curve(0.95), curve(), metrics=METRICS, noise=loud).reasons

    def test_leaves_other_workloads_out_when_it_is_asked_for_one(self) -> None:
        records = [told("itl", (0.3, -0.3, 0.3), workload="agentic-coding"), told("itl", (0.001, -0.001), workload="8k1k")]
        assert noise(records, METRICS, workload="8k1k")["itl"].sigma == 0.008 < noise(records, METRICS)["itl"].sigma

    def test_passes_over_metrics_that_nobody_knows_any_more(self) -> None:
        assert noise([structs.replace(told("itl", (0.1,)), metric="gone")], METRICS) == {}

    def test_cannot_quiet_a_verdict(self) -> None:
        assert floored(METRICS["itl"], "p50", None, Noise(sigma=0.0, tau=0.0)) == Noise(sigma=0.008, tau=0.008)

    def test_speaks_alone_for_a_metric_without_a_floor(self) -> None:
        bare = Metric(id="x", unit="s", direction="down", decimals=1, name=METRICS["ttft"].name)
        assert floored(bare, None, None, None) is None
        assert floored(bare, None, None, Noise(sigma=0.1, tau=0.2)) == Noise(sigma=0.1, tau=0.2)
