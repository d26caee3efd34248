"""Request rows of a campaign: a burst's rate over all replicas, and what makes a request not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import jsonl, stream
from tests.results.made_tools import burst

SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "campaign" / "grid-rows.sample.jsonl"


def read(rows):
    return collect([("raw/rows.jsonl", stream(jsonl(rows)))], recipe="r")


def rates(told) -> dict:
    return {row.repeat: row.value for row in told.rows if row.metric == "output_tput"}


class TestABurst:
    def test_is_all_tokens_from_the_first_dispatch_to_the_last_end(self) -> None:
        told = read([burst(0), burst(1)])
        assert rates(told) == {1: pytest.approx(128 / 2.5)}
        assert {(row.point.concurrency, row.point.workload) for row in told.rows} == {(2, "1A/G16k-c2-o64")}

    def test_has_its_times(self) -> None:
        told = {(row.metric, row.stat): row.value for row in read([burst(0), burst(1, ttft_any_s=0.7)]).rows}
        assert (told["ttft", "p50"], told["ttft", "mean"]) == pytest.approx((0.6, 0.6))
        assert (told["e2el", "p50"], told["tpot", "p50"]) == pytest.approx((2.2, (1.5 / 63 + 1.7 / 63) / 2))

    def test_in_repetitions_is_as_many_measurements(self) -> None:
        told = read([burst(index, repetition=r, end_offset_s=3.0 + r) for r in (1, 2, 3) for index in (0, 1)])
        assert sorted(rates(told)) == [1, 2, 3] and [one.total for one in told.accounting] == [6]

    def test_of_a_cell_whose_name_tells_none_has_the_concurrency_that_ran(self) -> None:
        told = read([burst(n, cell="soak", dispatch_offset_s=float(n // 2), end_offset_s=n // 2 + 0.9) for n in range(6)])
        assert {row.point.concurrency for row in told.rows} == {2}

    @given(st.permutations([(r, index) for r in (1, 2) for index in range(3)]))
    def test_does_not_depend_on_the_order_of_its_lines(self, order) -> None:
        assert read([burst(index, repetition=r) for r, index in order]) == read(
            [burst(index, repetition=r) for r in (1, 2) for index in range(3)])

    @pytest.mark.skipif(not SAMPLE.exists(), reason="the recorded files are not beside the project")
    def test_recorded_gives_the_published_rates(self) -> None:
        with SAMPLE.open("rb") as lines:
            told = collect([("grid.jsonl", lines)], recipe="r")
        assert {repeat: round(rate, 2) for repeat, rate in rates(told).items()} == {1: 845.18, 2: 830.13}
        assert [(one.total, one.profiled, one.invalid) for one in told.accounting] == [(32, 32, 0)]


class TestARequestThatDoesNotCount:
    @pytest.mark.parametrize("broken, kind", [
        ({"status": 500}, "status-500"), ({"timeout": True}, "timeout"), ({"integrity_ok": False}, "integrity"),
        ({"completion_tokens": 12}, "wrong-length"), ({"finish_reason": None}, "no-finish-reason"),
        ({"status": None, "completion_tokens": None, "end_offset_s": None, "ttft_any_s": None}, "status-None"),
    ])
    def test_is_told_by_its_kind_and_its_tokens_are_not_counted(self, broken, kind) -> None:
        told = read([burst(0, **broken), burst(1)])
        assert [(one.total, one.profiled, one.profiling_invalid, one.kinds) for one in told.accounting] == [(2, 1, 1, {kind: 1})]
        assert rates(told)[1] == pytest.approx(64 / 2.5)

    def test_leaves_nothing_measured_where_there_is_no_other(self) -> None:
        told = read([burst(0, status=503), burst(1, status=503)])
        assert not told.rows and [(skip.why, skip.detail) for skip in told.skipped] == [
            ("nothing-measured", "2 of 2 requests failed: status-503")]


class TestACampaignWithAHole:
    @pytest.mark.parametrize("rows, why", [
        ([burst(0), burst(0)], "request 0 of 1A/G16k-c2-o64 repetition 1 stands twice"),
        ([burst(0)], "request 1 of 1A/G16k-c2-o64 repetition 1 is missing"),
        ([burst(0), burst(2)], "request 1 .* is missing"),
        ([burst(0), burst(1), burst(0, repetition=2)], "request 1 .* repetition 2 is missing"),
        ([burst(0), burst(1, end_offset_s=0.1)], "ends before it starts"),
        ([burst(0), burst(1, ttft_any_s=9.0)], "before its first token"),
        ([burst(0), burst(1, end_offset_s=None)], "without an end"),
        ([burst(0), burst(1, dispatch_offset_s=-0.1)], "negative"),
        ([burst(0), burst(1, repetition=1.5)], "whole number"),
    ])
    def test_is_refused(self, rows, why) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            read(rows)
        assert raised.value.file == "raw/rows.jsonl"
