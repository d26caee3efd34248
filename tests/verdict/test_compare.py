"""Verdicts: what a curve, its repeats, its evals and its errors come to, and the reasons that limit it."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.verdict.compare import compare
from bot.verdict.curves import saturation
from bot.verdict.judge import Noise
from bot.verdict.report import exit_code, report
from bot.verdict.words import known, word, worst
from tests.verdict.made import METRICS, PUBLISHED, SWEPT, curve, row, seed


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def pooled(told, metric):
    return next(found for found in told.findings if found.metric == metric and found.point is None)


def at(told, metric, conc):
    return next(found for found in told.findings if found.metric == metric and found.point and found.point.concurrency == conc)


def replaced(rows: list[Row], conc: int, metric: str, factor: float) -> list[Row]:
    return [structs.replace(r, value=r.value * factor) if (r.point.concurrency, r.metric) == (conc, metric) else r for r in rows]


class TestAWholeCurve:
    @pytest.mark.parametrize(
        "factor, expected", [(1.0, "neutral"), (0.99, "neutral"), (1.02, "neutral"), (1.5, "improved"), (0.7, "inconclusive")]
    )
    def test_against_one_run(self, factor, expected) -> None:
        told = verdict(curve(factor), curve())
        assert told.verdict == expected and "baseline-single" in told.reasons
        assert exit_code(told) == (0 if expected in ("neutral", "improved") else 1)

    def test_that_is_slower_is_regressed_only_when_a_second_run_is_too(self) -> None:
        first = verdict(curve(0.7), curve())
        assert first.verdict == "inconclusive" and "not-confirmed" in first.reasons
        assert {again.point.concurrency for again in first.rerun} == {1, 2, 4, 8, 16}
        second = verdict(curve(0.7), curve(), repeat=curve(0.72))
        assert second.verdict == "regressed" and second.rerun == () and "not-confirmed" not in second.reasons

    def test_that_was_slow_once_is_not_regressed(self) -> None:
        told = verdict(curve(0.93), curve(), repeat=curve(1.04))
        assert told.verdict == "neutral" and "not-confirmed:cleared" in told.reasons and told.rerun == ()
        assert "not-confirmed" not in told.reasons, "a second run looked, and nobody may read that none did"

    def test_that_was_slow_once_and_not_again_may_stay_open(self) -> None:
        told = verdict(curve(0.92), curve(), repeat=curve(1.0))
        assert told.verdict == "inconclusive" and {"not-confirmed:cleared", "wide-interval"} <= set(told.reasons)

    def test_needs_the_whole_sweep_again_for_the_pool(self) -> None:
        """-7 % everywhere raises the pool and no point; the smoke's two points cannot confirm it."""
        told = verdict(curve(0.93), curve(), repeat=curve(0.93, (1, 2)))
        assert told.verdict == "inconclusive" and len(told.rerun) == 5

    def test_is_not_confirmed_by_another_image(self) -> None:
        new, again = curve(0.7, run=2, image="a/b:new"), curve(0.7, run=3, image="docker.io/a/b:new@sha256:0")
        assert verdict(new, curve(), repeat=again).verdict == "regressed"
        for other in ("a/b:old", "a/c:new"):
            told = verdict(new, curve(), repeat=curve(0.7, run=3, image=other))
            assert told.verdict == "inconclusive" and "not-confirmed" in told.reasons

    def test_takes_what_a_load_generator_repeats_on_one_server_for_one_run(self) -> None:
        def three(factor: float, run: int | None) -> list[Row]:
            return [structs.replace(row, repeat=number, run=run) for number in (1, 2, 3) for row in curve(factor)]

        assert "baseline-single" in verdict(curve(), three(1.0, run=7)).reasons
        assert "baseline-single" in verdict(curve(), three(1.0, run=None)).reasons
        assert "baseline-single" not in verdict(curve(), [*three(1.0, run=None), *three(1.0, run=None)]).reasons
        assert verdict(three(0.7, run=None), curve()).verdict == "inconclusive", "the others confirm nothing"

    def test_takes_an_earlier_run_of_the_same_head_as_a_repeat(self) -> None:
        new = curve(0.7, run=1, head="a" * 40) + curve(0.7, run=2, head="a" * 40)
        assert verdict(new, curve()).verdict == "regressed"

    def test_of_two_heads_is_refused(self) -> None:
        with pytest.raises(BadInput, match="two heads"):
            verdict(curve(run=1, head="a" * 40) + curve(run=2, head="b" * 40), curve())

    def test_with_a_point_twice_in_one_run_is_refused(self) -> None:
        with pytest.raises(BadInput, match="twice in run 1"):
            verdict(curve(run=1) + curve(run=1), curve())

    def test_takes_values_without_a_run_as_repetitions(self) -> None:
        one, three = (verdict(curve() * times, curve()) for times in (1, 3))
        width = [found.interval[1] - found.interval[0] for found in (pooled(one, "tput_per_gpu"), pooled(three, "tput_per_gpu"))]
        assert width[1] < width[0] and three.verdict == "neutral"

    def test_is_compared_with_the_median_of_the_published_runs(self) -> None:
        old = curve(run=1) + curve(run=2) + curve(0.5, run=3)
        told = verdict(curve(), old)
        assert told.verdict == "neutral" and "baseline-single" not in told.reasons

    def test_is_not_compared_with_runs_of_another_image(self) -> None:
        old = curve(run=2, image="new") + curve(0.5, run=1, image="old")
        assert verdict(curve(), old).verdict == "neutral"


class TestOnePoint:
    def test_that_is_far_worse_is_a_suspect_though_the_pool_is_not(self) -> None:
        told = verdict(replaced(curve(), 8, "tput_per_gpu", 0.84), curve())
        assert told.verdict == "inconclusive" and [again.point.concurrency for again in told.rerun] == [8]
        assert at(told, "tput_per_gpu", 8).finding == "inconclusive" and at(told, "tput_per_gpu", 4).finding == "neutral"

    def test_that_is_far_worse_twice_is_regressed(self) -> None:
        bad = replaced(curve(), 8, "tput_per_gpu", 0.84)
        told = verdict(bad, curve(), repeat=[r for r in bad if r.point.concurrency == 8])
        assert told.verdict == "regressed" and at(told, "tput_per_gpu", 8).finding == "regressed"

    def test_that_a_repeat_clears_is_no_alarm(self) -> None:
        bad = replaced(curve(), 8, "tput_per_gpu", 0.75)
        told = verdict(bad, curve(), repeat=[r for r in curve() if r.point.concurrency == 8])
        assert told.verdict == "neutral" and told.rerun == ()

    def test_just_inside_twice_the_margin_is_none(self) -> None:
        assert verdict(replaced(curve(), 8, "tput_per_gpu", 0.91), curve()).verdict == "neutral"

    def test_far_better_than_its_curve_may_be_the_baselines_slow_moment(self) -> None:
        """One published run: one null sweep in seven shows such a point. With three behind it, it is a gain."""
        new = replaced(curve(), 8, "tput_per_gpu", 1.25)
        found = at(verdict(new, curve()), "tput_per_gpu", 8)
        assert (found.finding, found.reasons) == ("inconclusive", ("baseline-single",))
        assert at(verdict(new, curve() * 3), "tput_per_gpu", 8).finding == "improved"
        assert at(verdict(curve(1.25), curve()), "tput_per_gpu", 8).finding == "improved"

    def test_that_is_not_shown_to_be_as_good_is_open_beside_a_neutral_curve(self) -> None:
        told = verdict(replaced(curve(), 8, "tput_per_gpu", 0.92), curve())
        found = at(told, "tput_per_gpu", 8)
        assert (found.finding, found.reasons) == ("inconclusive", ("wide-interval",))
        assert told.verdict == "neutral" and "wide-interval" not in told.reasons

    def test_alone_carries_no_good_news(self) -> None:
        told = verdict(curve(1.5, (1,)), curve())
        assert told.verdict == "inconclusive" and "too-few-points" in told.reasons

    def test_costs_what_it_is_said_to_cost(self) -> None:
        bad = replaced(curve(), 8, "tput_per_gpu", 0.75)
        assert verdict(bad, curve(), gpu_hours={8: 30.7}).rerun[0].gpu_hours == 30.7
        assert verdict(bad, curve()).rerun[0].gpu_hours is None


class TestNoise:
    def test_of_the_ledger_widens_the_interval_and_never_narrows_it(self) -> None:
        def width(noise):
            low, high = pooled(verdict(curve(), curve(), noise=noise), "tput_per_gpu").interval
            return high - low

        loud, quiet = {"tput_per_gpu": Noise(sigma=0.05, tau=0.05)}, {"tput_per_gpu": Noise(sigma=0.0001, tau=0.0001)}
        assert width(loud) > width(None) == width(quiet)

    def test_too_loud_to_show_anything_is_inconclusive(self) -> None:
        told = verdict(curve(), curve(), noise={"tput_per_gpu": Noise(sigma=0.05, tau=0.05)})
        assert told.verdict == "inconclusive" and "wide-interval" in told.reasons


class TestStandIns:
    def test_are_named(self) -> None:
        rows = [
            row(conc, metric, 3.0, stat, unit=unit)
            for conc in (1, 2, 4, 8)
            for metric, stat, unit in (("output_tput_per_gpu", None, "tok/s/GPU"), ("ttft", "mean", "s"), ("tpot", "mean", "s"))
        ]
        told = verdict(rows, rows)
        assert {reason for reason in told.reasons if word(reason) == "stand-in"} == {
            "stand-in:output_tput_per_gpu",
            "stand-in:ttft-mean",
            "stand-in:tpot-mean",
        }
        assert told.verdict == "neutral"

    def test_do_not_speak_while_the_first_choice_can(self) -> None:
        new = curve() + [row(conc, "ttft", 99.0, "mean") for conc in (1, 2, 4, 8, 16)]
        old = curve() + [row(conc, "ttft", 1.0, "mean") for conc in (1, 2, 4, 8, 16)]
        assert verdict(new, old).verdict == "neutral"


class TestSaturation:
    def test_begins_at_five_times_the_lowest_ttft_of_the_curve(self) -> None:
        old = [row(conc, "ttft", value) for conc, value in ((1, 2.2), (2, 2.0), (4, 9.99), (8, 10.0))]
        assert {cell.concurrency for cell in saturation(old, METRICS)} == {8}

    def test_is_reported_apart(self) -> None:
        told = verdict(replaced(seed(PUBLISHED), 16, "tput_per_gpu", 0.6), seed(PUBLISHED))
        assert told.verdict == "neutral" and "saturated" in told.reasons
        assert at(told, "tput_per_gpu", 16).reasons == ("saturated",) and pooled(told, "tput_per_gpu").n == 3

    def test_is_measured_within_one_topology(self) -> None:
        near, far = (Cell(recipe="r", concurrency=1, topology=name) for name in ("TP8", "TP16"))
        assert saturation([row(1, "ttft", 1.0, cell=near), row(1, "ttft", 9.0, cell=far)], METRICS) == frozenset()


class TestMatching:
    def test_never_pairs_another_topology(self) -> None:
        def rows(topology):
            return [structs.replace(r, point=structs.replace(r.point, topology=topology)) for r in curve()]

        told = verdict(rows("TP8"), rows("TP16"))
        assert told.verdict == "inconclusive" and "workload-mismatch" in told.reasons
        assert verdict(rows("TP8"), rows("TP8")).verdict == verdict(rows("TP8"), rows(None)).verdict == "neutral"

    def test_does_not_choose_between_two_that_fit(self) -> None:
        old = [structs.replace(r, point=structs.replace(r.point, topology=name)) for r in curve() for name in ("TP8", "TP16")]
        assert verdict(curve(), old).verdict == "inconclusive"

    def test_pays_no_heed_to_fingerprints_which_contain_the_image(self) -> None:
        old = [structs.replace(r, point=structs.replace(r.point, fingerprint="old")) for r in curve()]
        new = [structs.replace(r, point=structs.replace(r.point, fingerprint="new")) for r in curve()]
        assert verdict(new, old).verdict == "neutral"

    def test_converts_units_before_it_compares(self) -> None:
        new = [structs.replace(r, value=1000 * r.value, unit="ms") if r.unit == "s" else r for r in curve()]
        assert verdict(new, curve()).verdict == "neutral"

    def test_without_a_baseline_is_inconclusive(self) -> None:
        told = verdict(curve(), [])
        assert told.verdict == "inconclusive" and "too-few-points" in told.reasons
        assert verdict([], []).verdict == "inconclusive"

    def test_says_which_points_are_missing(self) -> None:
        assert "partial-sweep:c16" in verdict(curve(concs=(1, 2, 4, 8)), curve()).reasons


class TestReasons:
    @pytest.mark.parametrize("reason", ["image-not-proven", "workload-mismatch", "cold-run"])
    def test_that_question_the_numbers_leave_nothing_better_or_worse(self, reason) -> None:
        assert verdict(curve(1.5), curve(), reasons=[reason]).verdict == "inconclusive"
        assert verdict(curve(0.5), curve(), repeat=curve(0.5), reasons=[reason]).verdict == "inconclusive"
        flagged = [structs.replace(r, flags=(reason,)) for r in curve(0.5)]
        assert verdict(flagged, curve(), repeat=curve(0.5)).verdict == "inconclusive"

    @pytest.mark.parametrize(("reason", "again"), [("image-not-proven", 0), ("workload-mismatch", 0), ("cold-run", 5)])
    def test_that_no_second_run_would_answer_ask_for_none(self, reason, again) -> None:
        """A run of the wrong image, measured twice, is still one of the wrong image: only the cold one is worth the GPU-hours."""
        assert len(verdict(curve(0.5), curve(), reasons=[reason]).rerun) == again

    @pytest.mark.parametrize("reason", ["serving-path-changed", "baseline-unverifiable:2026-09-03"])
    def test_that_only_colour_the_numbers_stand_beside_them(self, reason) -> None:
        told = verdict(curve(1.5), curve(), reasons=[reason])
        assert told.verdict == "improved" and reason in told.reasons

    def test_are_a_closed_set(self) -> None:
        assert known(["hello", "saturated", "image-not-proven", "saturated"]) == ("image-not-proven", "saturated")

    def test_of_a_cold_start_come_from_the_tail_at_one_user(self) -> None:
        def with_tail(rows, factor):
            return [*rows, row(1, "ttft", 1.1 * factor, "p99")]

        assert "cold-run" in verdict(with_tail(curve(), 9), with_tail(curve(), 1.1)).reasons
        assert "cold-run" not in verdict(with_tail(curve(), 9), with_tail(curve(), 9)).reasons
        assert "cold-run" not in verdict(with_tail(curve(), 9), curve()).reasons

    def test_of_a_cold_sweep_come_from_a_much_faster_repeat(self) -> None:
        told = verdict(curve(0.6), curve(), repeat=curve(1.0))
        assert told.verdict == "inconclusive" and "cold-run" in told.reasons

    def test_join_to_the_worst(self) -> None:
        assert worst(["improved", "neutral"]) == "neutral" and worst(["inconclusive", "regressed"]) == "regressed"
        assert worst([]) is None


class TestTheReport:
    def test_has_the_keys_that_programs_read(self) -> None:
        told = report(verdict(curve(0.7), curve()))
        assert set(told) == {"verdict", "reasons", "findings", "rerun"}
        assert set(told["findings"][0]) == {
            "metric",
            "point",
            "baseline",
            "new",
            "delta",
            "interval",
            "unit",
            "n",
            "finding",
            "void",
            "reasons",
            "recipe",
            "how",
            "stat",
            "task",
        }
        assert set(told["rerun"][0]) == {"point", "why", "gpu_hours", "runs", "history"}
        assert set(told["rerun"][0]["point"]) == {"recipe", "concurrency", "workload", "topology", "fingerprint"}
        json.dumps(told, allow_nan=False)

    def test_gives_raw_differences(self) -> None:
        told = verdict(seed(SWEPT), seed(PUBLISHED))
        assert at(told, "tput_per_gpu", 1).delta == pytest.approx(970.96 / 917.30 - 1)
        assert at(told, "ttft", 1).delta == pytest.approx(1.589 / 2.158 - 1)
        found = pooled(told, "ttft")
        assert found.interval[0] < found.delta < found.interval[1] < 0
