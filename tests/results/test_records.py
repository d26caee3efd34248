"""A request export: the numbers of its measured requests, what is not counted, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import statistics
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from bot.results.aiperf.order import quantiles
from bot.results.aiperf.records import parse
from bot.results.parsed import Context
from tests.results.exports import export, line, packed

SHARED = Path(__file__).parents[3] / "shared" / "data" / "aiperf"
NAME = "run_conc1_/profile_export.jsonl"
CONTEXT = Context(recipe="r", run=7, attempt=2, head="f" * 40)


def read(data: bytes):
    return parse(io.BytesIO(data), NAME, CONTEXT)


def values(told, metric):
    return {row.stat: row.value for row in told.rows if row.metric == metric}


class TestTheNumbers:
    def test_are_those_of_the_requests_that_were_measured_and_went_well(self) -> None:
        told = read(export([line(0, ttft=900.0, phase="warmup"), *(line(n, ttft=10.0 * n) for n in range(1, 6)),
                            line(6, error="E"), line(7, ttft=5000.0, was_cancelled=True)]))
        assert values(told, "ttft") == pytest.approx({"mean": 0.03, "p50": 0.03, "p75": 0.04, "p90": 0.046, "p95": 0.048, "p99": 0.0496})
        assert values(told, "profiled_requests") == {None: 5.0}
        assert {(row.n, row.run, row.attempt, row.head, row.point.recipe) for row in told.rows} == {(5, 7, 2, "f" * 40, "r")}

    def test_of_rates_are_over_the_time_from_the_first_start_to_the_last_answer(self) -> None:
        told = read(export([line(n, osl=100, start=n, ttft=50.0, gap=50 / 99) for n in range(10)]))
        assert values(told, "request_tput") == pytest.approx({None: 10 / 9.1})
        assert values(told, "output_tput") == pytest.approx({None: 1000 / 9.1})
        isl = sum(40 + n % 7 for n in range(10))
        assert values(told, "input_tput") == pytest.approx({None: isl / 9.1})
        assert values(told, "total_tput") == pytest.approx({None: (1000 + isl) / 9.1})

    def test_of_speed_are_a_second_over_each_gap_and_leave_out_a_gap_of_nothing(self) -> None:
        told = read(export([line(0, gap=4.0), line(1, gap=5.0), line(2, gap=0.0)]))
        assert values(told, "intvty")["p50"] == pytest.approx(225.0)
        assert values(told, "itl")["p50"] == pytest.approx(0.004)

    def test_of_a_server_that_does_not_stream_are_those_it_has(self) -> None:
        told = read(export([line(n, ttft=None, gap=None) for n in range(3)]))
        assert {row.metric for row in told.rows} >= {"e2el", "output_tput"} and not values(told, "ttft")

    def test_are_none_where_every_request_failed_and_the_failures_are_counted(self) -> None:
        told = read(export([line(n, error="ClientConnectorError") for n in range(6)]))
        assert not told.rows and told.accounting[0].kinds == {"ClientConnectorError": 6}

    def test_may_be_written_in_seconds(self) -> None:
        made = line(0)
        made["metrics"]["time_to_first_token"] = {"value": 0.031, "unit": "sec"}
        assert values(read(export([made])), "ttft")["mean"] == pytest.approx(0.031)

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded files are not beside the project")
    @pytest.mark.parametrize("run", ["c1", "c2", "c4", "repeat_1", "repeat_2", "repeat_3"])
    def test_are_those_of_aiperfs_own_summary(self, run) -> None:
        told = read((SHARED / run / "profile_export.jsonl").read_bytes())
        whole = json.loads((SHARED / run / "profile_export_aiperf.json").read_text())
        for metric, field, scale in (("ttft", "time_to_first_token", 1e-3), ("itl", "inter_token_latency", 1e-3),
                                     ("e2el", "request_latency", 1e-3), ("intvty", "output_token_throughput_per_user", 1.0)):
            own = {stat: whole[field]["avg" if stat == "mean" else stat] * scale for stat in ("mean", "p50", "p75", "p90", "p95", "p99")}
            assert values(told, metric) == pytest.approx(own, rel=1e-12)
        assert values(told, "profiled_requests")[None] == whole["request_count"]["avg"]
        seconds = whole["benchmark_duration"]["avg"]  # from doubles of nanoseconds, 256 apart
        assert values(told, "output_tput")[None] == pytest.approx(whole["total_osl"]["avg"] / seconds, rel=1e-6)
        assert not any(row.flags for row in told.rows)


class TestQuantiles:
    @given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.floats(0, 1))
    def test_of_few_values_are_those_of_the_textbook(self, made, share) -> None:
        ordered, place = sorted(made), share * (len(made) - 1)
        low, high = ordered[int(place)], ordered[min(int(place) + 1, len(made) - 1)]
        assert quantiles(made, [share]) == [low + (place - int(place)) * (high - low)]

    @pytest.mark.parametrize("shape", [
        lambda n: n * 7919 % 30_011, lambda n: n, lambda n: -n, lambda n: 5.0, lambda n: n % 3, lambda n: n if n % 7 else 10**9,
        lambda n: 0.0 if n % 7 == 0 else 1e6 + n,
    ])
    def test_of_many_are_those_of_all_sorted_whatever_a_sample_says(self, shape) -> None:
        made = [float(shape(n)) for n in range(30_011)]
        shares = [0.0, 0.01, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0]
        ordered = sorted(made)
        assert quantiles(made, shares)[2] == statistics.median(made)
        assert [round(place, 6) for place in quantiles(made, shares)] == [
            round(ordered[int(p)] + (p - int(p)) * (ordered[min(int(p) + 1, 30_010)] - ordered[int(p)]), 6)
            for p in (share * 30_010 for share in shares)]


class TestAColdRun:
    def made(self, first: list[float], rest: float = 150.0) -> bytes:
        """The first wave starts at once, its last ends before anything else begins."""
        wave = [line(n, ttft=took, start=0.001 * n) for n, took in enumerate(first)]
        return export(wave + [line(100 + n, ttft=rest + n, start=30.0 + n) for n in range(20)])

    @pytest.mark.parametrize("first, flagged", [
        ([11_000.0], True), ([11_000.0, 14_000.0, 9_000.0], True),
        ([300.0], False),  # less than a quarter of a second more: opening a connection costs that much
        ([900.0, 160.0, 800.0], False),  # a large wave waits for itself; its quickest did not wait for a server
        ([150.0], False),
    ])
    def test_is_one_whose_whole_first_wave_was_slow(self, first, flagged) -> None:
        assert {row.flags for row in read(self.made(first)).rows} == {("cold-run",) if flagged else ()}

    def test_is_not_told_where_nothing_came_after_the_first_wave(self) -> None:
        assert not read(export([line(0, ttft=9000.0)])).rows[0].flags

    def test_is_not_one_of_a_model_that_is_always_slow(self) -> None:
        assert not read(self.made([4000.0], rest=3900.0)).rows[0].flags


class TestBesideOtherFiles:
    SUMMARY = "run_conc1_/profile_export_aiperf.json"

    def beside(self, **told):
        whole = {"aiperf_version": "0.13.0", "request_count": {"unit": "requests", "avg": 3.0},
                 "request_throughput": {"unit": "requests/sec", "avg": 1.2},
                 "time_to_first_token": {"unit": "ms", "avg": 30.0, "p50": 30.0}} | told
        data = export([line(n) for n in range(3)])
        return collect([(NAME, io.BytesIO(data)), (self.SUMMARY, io.BytesIO(json.dumps(whole).encode()))], recipe="r")

    def test_its_numbers_give_way_to_the_summary_that_agrees(self) -> None:
        told = self.beside()
        assert {row.value for row in told.rows if row.metric == "request_tput"} == {1.2}
        assert not [row for row in told.rows if row.metric == "e2el"] and told.accounting[0].profiled == 3

    @pytest.mark.parametrize("other", [{"request_count": {"unit": "requests", "avg": 4.0}},
                                       {"time_to_first_token": {"unit": "ms", "avg": 30.0, "p50": 30.1}}])
    def test_a_summary_that_says_otherwise_is_of_another_run(self, other) -> None:
        with pytest.raises(BadInput, match="another run or was cut") as raised:
            self.beside(**other)
        assert raised.value.file == NAME and self.SUMMARY in raised.value.reason

    def test_alone_its_numbers_count_at_the_concurrency_its_name_tells(self) -> None:
        told = collect([(NAME, io.BytesIO(export([line(n) for n in range(3)])))], recipe="r")
        assert {row.point.concurrency for row in told.rows} == {1} and {"ttft", "itl", "output_tput"} <= {row.metric for row in told.rows}

    def test_compressed_or_in_an_archive_it_says_the_same(self) -> None:
        data, held = export([line(n) for n in range(3)]), io.BytesIO()
        told = collect([(NAME, io.BytesIO(data))], recipe="r")
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("inner", data)
        with gzip.open(io.BytesIO(gzip.compress(data))) as packed_, zipfile.ZipFile(held).open("inner") as member:
            assert collect([(NAME, packed_)], recipe="r") == collect([(NAME, member)], recipe="r") == told

    def test_from_a_stream_that_cannot_go_back_and_gives_a_little_at_a_time_it_says_the_same(self) -> None:
        data = export([line(n) for n in range(30)])

        class Trickle(io.RawIOBase):
            at = 0

            def readable(self) -> bool:
                return True

            def readinto(self, buffer) -> int:
                piece = data[self.at : self.at + min(700, len(buffer))]
                buffer[: len(piece)], self.at = piece, self.at + len(piece)
                return len(piece)

        assert collect([(NAME, io.BufferedReader(Trickle(), 512))], recipe="r") == collect([(NAME, io.BytesIO(data))], recipe="r")


class TestWhatIsRefused:
    def broken(self, number: int, change) -> BadInput:
        lines = [packed(line(n)) for n in range(40)]
        lines[number - 1] = change(lines[number - 1])
        with pytest.raises(BadInput) as raised:
            read(b"\n".join(lines) + b"\n")
        assert raised.value.file == NAME and raised.value.line == number
        return raised.value

    @pytest.mark.parametrize("old, new, key", [
        (b'"time_to_first_token":{"value":30.0', b'"time_to_first_token":{"value":-1.0', "metrics.time_to_first_token.value"),
        (b'"time_to_first_token":{"value":30.0', b'"time_to_first_token":{"value":"30"', "metrics.time_to_first_token.value"),
        (b'"time_to_first_token":{"value":30.0,"unit":"ms"', b'"time_to_first_token":{"value":30.0,"unit":"min"', "metrics.time_to_first_token.unit"),
        (b'"time_to_first_token":{"value":30.0,"unit":"ms"', b'"time_to_first_token":{"value":30.0', "metrics.time_to_first_token.unit"),
        (b'"http_req_blocked":{"value":0.0', b'"http_req_blocked":{"value":NaN', "metrics.http_req_blocked.value"),
        (b'"http_req_blocked":{"value":0.0', b'"http_req_blocked":{"value":-Infinity', "metrics.http_req_blocked.value"),
        (b'"time_to_first_token":{"value":30.0', b'"time_to_first_token":{"value":1e999', "metrics.time_to_first_token.value"),
        (b'"time_to_first_token":{"value":30.0', b'"time_to_first_token":{"value":30.0,"value":31.0', "metrics.time_to_first_token.value"),
        (b'"time_to_first_token":', b'"time_to_first_token":{"value":9.0,"unit":"ms"},"time_to_first_token":', "metrics.time_to_first_token"),
        (b'"benchmark_phase":', b'"benchmark_phase":"warmup","benchmark_phase":', "metadata.benchmark_phase"),
        (b'"request_start_ns":', b'"request_start_ns":5,"request_start_ns":', "metadata.request_start_ns"),
        (b'"agent_depth":', b'"agent_depth":5,"agent_depth":', "metadata.agent_depth"),
        (b'"metrics":', b'"metrics":{},"metrics":', "metrics"),
        (b'"benchmark_phase":"profiling"', b'"benchmark_phase":"later"', "metadata.benchmark_phase"),
        (b'"request_start_ns":', b'"request_start_ns":9', "metadata.request_start_ns"),
        (b"session_", b"\xffession_", ""), (b'{"metadata"', b'{}{"metadata"', ""), (b"}}}", b"}}", ""), (b"32", b"3 2", ""),
    ])
    def test_is_named_by_its_line_and_key_also_after_many_good_ones(self, old, new, key) -> None:
        assert self.broken(33, lambda data: data.replace(old, new, 1)).key == key

    def test_is_a_request_that_stands_twice(self) -> None:
        with pytest.raises(BadInput, match="stands twice") as raised:
            read(export([line(n) for n in (*range(30), 11, 12)]))
        assert (raised.value.line, raised.value.key) == (31, "metadata.x_request_id")

    def test_is_the_first_of_two_faults(self) -> None:
        lines = [line(n) for n in (0, 1, 1, 3)]
        with pytest.raises(BadInput, match="stands twice"):
            read(export(lines) + b"{\n")

    def test_is_a_file_cut_within_its_last_line_but_not_one_without_a_last_line_break(self) -> None:
        data = export([line(n) for n in range(12)])
        assert read(data[:-1]).accounting == read(data).accounting
        with pytest.raises(BadInput) as raised:
            read(data[:-40])
        assert raised.value.line == 12

    def test_is_an_endless_line(self) -> None:
        with pytest.raises(BadInput, match="a line of more than") as raised:
            read(export([line(0), line(1)]) + b'{"a": "' + b"x" * 9_000_000)
        assert raised.value.line == 3

    def test_is_not_a_blank_line_nor_one_that_ends_as_on_windows(self) -> None:
        lines = [packed(line(n)) for n in range(6)]
        assert read(b"\r\n".join(lines) + b"\r\n\r\n").accounting == read(b"\n\n".join(lines)).accounting == read(b"\n".join(lines)).accounting
