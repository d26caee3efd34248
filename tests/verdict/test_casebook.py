"""Real bumps that must come out as their figures say, whatever the prose of their day said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from bot.model.result import Cell, Row
from bot.verdict.compare import compare
from tests.verdict import casebook
from tests.verdict.made import METRICS, RECIPE, row

BESIDE = Path(__file__).parents[3] / "shared" / "cases" / "casebook-open.jsonl"


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def pooled(told, metric):
    return next(found for found in told.findings if found.metric == metric and found.point is None)


def at(told, metric, conc):
    return next(found for found in told.findings if found.metric == metric and found.point and found.point.concurrency == conc)


def slower_tpot(*factors: tuple[int, float]) -> list[Row]:
    """What the smoke of #2953 measured, from its note: TPOT +24 and +27 % at its two points."""
    published = casebook.POINTS[2953]["tpot_mean_s"]
    return [row(conc, "tpot_mean_s", published[conc][0] * factor, "mean") for conc, factor in factors]


class TestABumpThatWasSlower:
    """#2953: described as +25 % TPOT in prose, and gated by nothing."""

    NEW, OLD = casebook.rows(2953)

    def test_is_suspect_from_its_sweep_alone(self) -> None:
        told = verdict(self.NEW, self.OLD)
        assert told.verdict == "inconclusive" and "not-confirmed" in told.reasons
        assert pooled(told, "tput_per_gpu").delta == pytest.approx(-0.115, abs=0.005)
        assert pooled(told, "tpot").delta == pytest.approx(0.29, abs=0.01)
        assert pooled(told, "ttft").finding == "neutral"
        assert [(again.point.concurrency, again.runs) for again in told.rerun] == [(conc, 1) for conc in (1, 2, 4, 6, 8, 10)]

    @pytest.mark.parametrize("points", [((1, 1.24), (2, 1.27)), ((1, 1.24), (10, 1.27)), ((1, 1.27), (10, 1.24))])
    def test_is_regressed_once_its_two_smoke_points_are_given_as_a_repeat(self, points) -> None:
        """They cannot confirm the pool, which needs the whole sweep again; each confirms its own point."""
        told = verdict(self.NEW, self.OLD, repeat=slower_tpot(*points))
        assert told.verdict == "regressed" and told.rerun == () and "not-confirmed" not in told.reasons
        assert {conc for conc, _ in points} == {
            found.point.concurrency for found in told.findings if found.point and found.finding == "regressed"
        }

    def test_would_have_been_cleared_by_a_smoke_as_fast_as_the_baseline(self) -> None:
        told = verdict(self.NEW, self.OLD, repeat=slower_tpot((1, 1.0)))
        assert told.verdict == "inconclusive", "one point back where it was does not answer for the others"


class TestBumpsThatChangedNothing:
    def test_are_neutral_after_two_days_of_a_nightly(self) -> None:
        told = verdict(*casebook.rows(3200))
        assert told.verdict == "neutral" and told.rerun == () and pooled(told, "tpot").n == 8
        assert "wide-interval" not in told.reasons, "a point's own width limits nothing that the curve shows"

    def test_are_neutral_beside_a_saturated_point_that_is_told_apart(self) -> None:
        """#3063: at c16 output fell by a fifth, past saturation; it was merged without a word."""
        told = verdict(*casebook.rows(3063))
        assert told.verdict == "neutral" and "saturated" in told.reasons
        found = at(told, "tput_per_gpu", 16)
        assert (found.finding, found.reasons, round(found.delta, 3)) == ("inconclusive", ("saturated",), -0.171)
        assert pooled(told, "tput_per_gpu").n == 5

    def test_say_that_their_suite_was_not_measured_any_more(self) -> None:
        """gsm8k with 1319 questions was published, a smoke of one question was run: accuracy is not known."""
        told = verdict(*casebook.rows(3063))
        assert {"eval-not-comparable:gsm8k:gone", "eval-not-comparable:minimax_m3_smoke"} <= set(told.reasons)
        assert not [found for found in told.findings if found.metric == "eval"]

    def test_stay_neutral_as_agentic_curves_whose_noise_is_larger(self) -> None:
        for pull in (3200, 3063):
            agentic = [
                [structs.replace(one, point=structs.replace(one.point, workload="agentic-coding")) for one in side]
                for side in casebook.rows(pull)
            ]
            assert verdict(*agentic).verdict == "neutral"


class TestABumpThatWasFasterAndWrong:
    """#2956: throughput +6 %, TTFT -30 %, and 219 of 1319 answers cut."""

    def test_is_regressed_by_its_eval_and_its_gains_are_void(self) -> None:
        told = verdict(*casebook.rows(2956))
        assert told.verdict == "regressed" and told.rerun == ()
        performance = [found for found in told.findings if found.metric != "eval"]
        assert all(found.void for found in performance) and pooled(told, "tput_per_gpu").finding == "improved"

    def test_has_one_cause_at_all_three_points(self) -> None:
        found = pooled(verdict(*casebook.rows(2956)), "eval")
        assert (found.how, found.n, found.finding, round(found.new, 3)) == ("pooled", 3957, "regressed", 0.809)


@pytest.mark.skipif(not BESIDE.is_file(), reason="the casebook is not beside the project")
class TestTheRecordsBesideTheProject:
    @pytest.mark.parametrize("pull", [2953, 2956, 3063, 3200])
    def test_come_out_as_the_figures_kept_here(self, pull) -> None:
        record = next(told for told in map(json.loads, BESIDE.read_text().splitlines()) if told["pr"] == pull)
        new: list[Row] = []
        old: list[Row] = []
        for side, held in (("new", new), ("baseline", old)):
            for one in (*record["points"], *record["evals"]):
                if one[side] is not None and one.get("metric") != "interactivity_median":
                    point = Cell(recipe=RECIPE, concurrency=one["conc"])
                    told = {"metric": one["metric"]} if "metric" in one else {"metric": "eval", "task": one["task"], "n": one["n"]}
                    held.append(Row(point=point, value=one[side], unit="", **told))
        kept = verdict(*casebook.rows(pull))
        assert verdict(new, old).verdict == kept.verdict and verdict(new, old).reasons == kept.reasons
