"""What to run again: which points, how often, at what cost, in which order; and when running again is of no use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.verdict.compare import compare
from bot.verdict.judge import Noise
from tests.verdict.made import METRICS, curve, row

CONCS = (1, 2, 4, 8, 16)
LONG = (1, 2, 3, 4, 6, 8, 12, 16)
"""Two slow points of five are a slow curve; of eight they are two points."""


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def throughput(factor: float, concs=CONCS, **other):
    return [row(conc, "tput_per_gpu", (900.0 + 50 * conc) * factor, **other) for conc in concs]


def history(runs: int):
    return [one for run in range(1, runs + 1) for one in throughput(1.0, run=run)]


def scaled(rows, conc, metric, factor):
    return [structs.replace(r, value=r.value * factor) if (r.point.concurrency, r.metric) == (conc, metric) else r for r in rows]


class TestAWideInterval:
    def test_says_how_many_more_runs_would_decide(self) -> None:
        """3.4 % down on ten published runs: one run leaves -5 % possible, a second one does not."""
        told = verdict(throughput(0.966), history(10))
        assert told.verdict == "inconclusive" and {again.runs for again in told.rerun} == {1}
        assert {again.why for again in told.rerun} == {"wide-interval:tput_per_gpu"} and len(told.rerun) == 5

    def test_needs_as_many_as_are_said(self) -> None:
        """The promise is kept: with so many more runs of the same result it is decided, with one fewer it is not."""
        old = history(10)
        told = verdict(throughput(0.962), old)
        more = told.rerun[0].runs
        assert more and more > 1
        for runs, decided in ((more - 1, False), (more, True)):
            again = [one for run in range(2, 2 + runs) for one in throughput(0.962, run=run)]
            assert (verdict(throughput(0.962, run=1), old, repeat=again).verdict != "inconclusive") is decided

    def test_that_a_single_published_run_leaves_asks_for_history_first(self) -> None:
        """However often the candidate ran, the one published run may have been 5 % lucky."""
        told = verdict(throughput(0.968), throughput(1.0))
        assert {(again.why, again.runs, again.history) for again in told.rerun} == {("history:tput_per_gpu", 1, 4)}
        again = throughput(0.968, run=2)
        for runs, expected in ((3, "inconclusive"), (4, "neutral")):
            assert verdict(throughput(0.968, run=1), history(runs), repeat=again).verdict == expected

    def test_of_noise_that_nothing_narrows_has_no_number(self) -> None:
        told = verdict(throughput(1.0), throughput(1.0), noise={"tput_per_gpu": Noise(sigma=0.3, tau=0.3)})
        assert {(again.runs, again.history) for again in told.rerun} == {(None, None)}

    def test_of_two_points_asks_for_a_second_look_at_both(self) -> None:
        told = verdict(throughput(1.0, (1, 2)), throughput(1.0, (1, 2)))
        assert [(again.point.concurrency, again.why, again.runs) for again in told.rerun] == [
            (1, "too-few-points:tput_per_gpu", 1), (2, "too-few-points:tput_per_gpu", 1)
        ]  # fmt: skip

    def test_waits_until_the_suspects_have_been_seen(self) -> None:
        """One point for a few GPU-hours first; the whole curve may then not be needed any more."""
        new = scaled(curve(), 8, "tput_per_gpu", 0.75)
        new = [structs.replace(one, value=one.value * 1.035) if one.metric == "itl" else one for one in new]
        told = verdict(new, curve())
        assert "wide-interval" in told.reasons
        assert [(again.point.concurrency, again.why) for again in told.rerun] == [(8, "suspect:tput_per_gpu")]


class TestTheOrder:
    def test_is_that_of_questions_answered_for_a_gpu_hour(self) -> None:
        new = scaled(scaled(curve(concs=LONG), 8, "tput_per_gpu", 0.75), 1, "tput_per_gpu", 0.75)
        cheap = verdict(new, curve(concs=LONG), gpu_hours={1: 2.0, 8: 30.0}).rerun
        dear = verdict(new, curve(concs=LONG), gpu_hours={1: 30.0, 8: 2.0}).rerun
        assert [again.point.concurrency for again in cheap] == [1, 8] and [again.point.concurrency for again in dear] == [8, 1]

    def test_puts_a_point_that_two_metrics_ask_about_first(self) -> None:
        new = scaled(scaled(curve(concs=LONG), 8, "tput_per_gpu", 0.75), 1, "tput_per_gpu", 0.75)
        told = verdict(scaled(new, 8, "itl", 1.3), curve(concs=LONG), gpu_hours=dict.fromkeys(LONG, 10.0)).rerun
        assert [(again.point.concurrency, again.why) for again in told] == [(8, "suspect:tput_per_gpu,itl"), (1, "suspect:tput_per_gpu")]

    def test_without_costs_is_that_of_the_curve(self) -> None:
        told = verdict(curve(0.7), curve(), gpu_hours={1: 5.0}).rerun
        assert [(again.point.concurrency, again.gpu_hours) for again in told] == [(1, 5.0), *((conc, None) for conc in CONCS[1:])]


class TestNothingIsRunAgain:
    @pytest.mark.parametrize("factor", [1.0, 1.5])
    def test_when_it_is_decided(self, factor) -> None:
        assert verdict(curve(factor), curve()).rerun == ()

    def test_when_a_second_run_has_confirmed_it(self) -> None:
        assert verdict(curve(0.8), curve(), repeat=curve(0.8)).rerun == ()

    @given(st.lists(st.floats(0.5, 2.0), min_size=5, max_size=5), st.integers(1, 4))
    def test_for_more_than_can_be_planned(self, factors, runs) -> None:
        new = [one for conc, factor in zip(CONCS, factors, strict=True) for one in throughput(factor, (conc,))]
        told = verdict(new, history(runs))
        assert all(again.runs is None or 1 <= again.runs <= 20 for again in told.rerun)
        assert bool(told.rerun) == (told.verdict == "inconclusive")
