"""The table people read: the seed's strings, computed from unrounded values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.verdict.evidence import difference, percent, rate, shown, signed, table
from tests.verdict.made import METRICS, PUBLISHED, SMOKE, SWEPT, curve, row, seed

COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty", "profiled_requests")


def texts(new, conc, **other):
    (line,) = table(new, seed(PUBLISHED), [conc], metrics=METRICS, columns=COLUMNS).lines
    return [(told.old, told.new, told.delta) for told in (shown(cell, METRICS, **other) for cell in line.cells)]


class TestTheSeedsTables:
    def test_of_the_smoke(self) -> None:
        assert texts(seed(SMOKE), 1) == [
            ("917.30", "955.51", "+4.2%"),
            ("112.26", "117.33", "+4.5%"),
            ("2.158", "1.587", "-26.5%"),
            ("0.00448", "0.00433", "-3.3%"),
            ("223.2", "230.7", "+3.4%"),
            ("232", "234", "+2"),
        ]

    @pytest.mark.parametrize(
        "conc, deltas",
        [
            (1, ["+5.8%", "+4.6%", "-26.4%", "-4.5%", "+4.7%", "+6"]),
            (2, ["+6.4%", "+8.8%", "-35.3%", "-4.8%", "+5.1%", "+18"]),
            (4, ["+4.3%", "+3.6%", "-32.0%", "-7.3%", "+7.9%", "+10"]),
            (8, ["+7.4%", "+11.1%", "-49.7%", "-6.1%", "+6.4%", "+60"]),
        ],
    )
    def test_of_the_sweep(self, conc, deltas) -> None:
        assert [delta for _, _, delta in texts(seed(SWEPT), conc, brief=True)] == deltas

    def test_of_the_sweep_are_narrow_and_still_exact(self) -> None:
        assert texts(seed(SWEPT), 1, brief=True)[0] == ("917.3", "971.0", "+5.8%")
        assert percent(971.0 / 917.3 - 1) == "+5.9%"

    def test_keep_a_line_for_a_point_that_was_not_measured(self) -> None:
        (line,) = table(seed(SWEPT), seed(PUBLISHED), [16], metrics=METRICS).lines
        told = shown(line.cells[0], METRICS)
        assert (told.old, told.new, told.delta, told.missing, told.mark) == ("2300.06", "N/A", "N/A", "not-measured", "none")

    def test_name_their_runs(self) -> None:
        told = table(seed(SWEPT, run=34461599480), seed(PUBLISHED, run=32424103771), [1], metrics=METRICS)
        assert (told.runs, told.baseline_run) == ((34461599480,), 32424103771)


class TestAColumn:
    def test_of_means_says_so(self) -> None:
        means = [row(1, "ttft", 2.0, "mean")]
        told = table(means, [*means, row(1, "ttft", 1.0)], [1], metrics=METRICS, columns=("ttft",))
        assert told.metrics == ("ttft:mean",) and told.lines[0].cells[0].old == 2.0

    def test_that_nobody_measured_is_left_out(self) -> None:
        assert table(curve(), curve(), [1], metrics=METRICS).metrics == ("tput_per_gpu", "ttft", "itl")

    def test_shows_the_median_of_the_published_runs_and_the_newest_of_ours(self) -> None:
        old = [row(1, "tput_per_gpu", value, run=run) for run, value in ((1, 90.0), (2, 100.0), (3, 300.0))]
        new = [row(1, "tput_per_gpu", value, run=run) for run, value in ((8, 50.0), (9, 120.0))]
        cell = table(new, old, [1], metrics=METRICS, columns=("tput_per_gpu",)).lines[0].cells[0]
        assert (cell.old, cell.new) == (100.0, 120.0)

    def test_without_a_baseline_says_why(self) -> None:
        assert table(curve(), [], [1], metrics=METRICS).lines[0].cells[0].missing == "no-baseline"


class TestNumbers:
    @pytest.mark.parametrize(
        "metric, old, new, mark",
        [
            ("tput_per_gpu", 1.0, 2.0, "better"),
            ("ttft", 1.0, 2.0, "worse"),
            ("ttft", 2.0, 1.0, "better"),
            ("itl", 1.0, 1.0, "same"),
            ("gpu_cache_hit_rate", 0.1, 0.9, "none"),
        ],
    )
    def test_are_good_or_bad_by_their_direction(self, metric, old, new, mark) -> None:
        from bot.model.lines import Cell

        assert shown(Cell(metric=metric, old=old, new=new), METRICS).mark == mark

    def test_of_shares_differ_in_points(self) -> None:
        assert difference(0.9727, 0.8120, METRICS["eval"]) == "-16.1 pp"
        assert difference(0.0, 5.0, METRICS["ttft"]) == "N/A"

    @pytest.mark.parametrize(
        "part, whole, text",
        [
            (1, 233, "1 / 233 (0.43%)"),
            (7, 241, "7 / 241 (2.9%)"),
            (0, 241, "0 / 241 (0.0%)"),
            (0, 0, "0 / 0"),
            (60, 241, "60 / 241 (24.9%)"),
        ],
    )
    def test_of_parts_have_their_whole(self, part, whole, text) -> None:
        assert rate(part, whole) == text

    @given(st.floats(-1e6, 1e6), st.integers(0, 5))
    def test_have_a_sign_unless_they_are_nothing(self, value, decimals) -> None:
        text = signed(value, decimals)
        assert (text[0] in "+-") == (float(text) != 0) and float(text) == pytest.approx(value, abs=0.5 * 10**-decimals + 1e-9)
