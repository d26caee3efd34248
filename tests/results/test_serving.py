"""The serving benchmarks of vLLM and SGLang: their keys in our units, their runs as points and repetitions, their failures told."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import agentic, encoded, jsonl, stream
from tests.results.made_tools import sglang_run, vllm_run

BOTH = [(vllm_run, "v/run.jsonl"), (sglang_run, "s/run.jsonl")]


def read(runs, name):
    data = jsonl(runs) if name.endswith(".jsonl") else encoded(runs)
    return collect([(name, stream(data))], recipe="r")


def values(told) -> dict:
    return {(row.metric, row.stat): row.value for row in told.rows}


class TestARun:
    @pytest.mark.parametrize("run, name", BOTH)
    def test_is_told_in_seconds_and_tokens(self, run, name) -> None:
        told = values(read([run()], name))
        assert (told["output_tput", None], told["total_tput", None], told["request_tput", None]) == (1024.0, 9216.0, 8.0)
        assert (told["ttft", "p50"], told["ttft", "mean"], told["ttft", "p99"]) == pytest.approx((0.110, 0.120, 0.1905))
        assert (told["tpot", "p50"], told["itl", "p50"], told["e2el", "p50"]) == pytest.approx((0.0135, 0.013, 1.85))
        assert not any(stat == "std" for _, stat in told)

    def test_names_percentiles_with_a_fraction(self) -> None:
        assert values(read(vllm_run(), "v/run.json"))["e2el", "p99.9"] == pytest.approx(2.4)

    @pytest.mark.parametrize("run, name", BOTH)
    def test_knows_its_concurrency_and_its_requests(self, run, name) -> None:
        told = read([run(48)], name)
        assert {(row.point.concurrency, row.n, row.repeat) for row in told.rows} == {(48, 64, None)}

    def test_of_random_lengths_is_of_that_workload_and_of_a_rate_another(self) -> None:
        told = read([sglang_run(random_output_len=1024), sglang_run(request_rate=4.0), sglang_run(dataset_name="sharegpt")], "s/r.jsonl")
        assert {row.point.workload for row in told.rows} == {"1k1k", "1024_128, rate=4", "sharegpt"}
        assert {row.point.workload for row in read(vllm_run(request_rate=2.5), "v/r.json").rows} == {"rate=2.5"}

    @pytest.mark.parametrize("gone", [("label", "burstiness", "failed"), ("mean_ttft_ms", "total_token_throughput"), ("tokenizer_id",)])
    def test_of_another_version_is_read_without_what_it_lacks(self, gone) -> None:
        run = {key: value for key, value in vllm_run().items() if key not in gone}
        assert values(read(run, "v/run.json"))["output_tput", None] == 1024.0

    def test_without_a_concurrency_takes_it_from_its_name_or_is_named(self) -> None:
        assert {row.point.concurrency for row in read(vllm_run(None), "v/vllm-infqps-concurrency12-m.json").rows} == {12}
        told = read(vllm_run(None), "v/run.json")
        assert not told.rows and [skip.why for skip in told.skipped] == ["no-concurrency"]

    def test_says_which_server_answered(self) -> None:
        (told,) = read([sglang_run(48)], "s/run.jsonl").reported
        assert (told.kind, told.value, told.file, told.line, told.concurrency) == ("version", "0.5.23", "s/run.jsonl", 1, 48)

    def test_of_the_same_point_gives_way_to_the_guests_own_row(self) -> None:
        files = [("bmk_conc1_/r.json", encoded(agentic(1))), ("v/run.json", encoded(vllm_run(1)))]
        told = collect([(name, stream(data)) for name, data in files], recipe="r")
        assert {row.point.workload for row in told.rows} == {"agentic-coding"}

    def test_of_another_workload_stands_beside_it(self) -> None:
        files = [("bmk_conc1_/r.json", encoded(agentic(1))), ("s/run.jsonl", jsonl([sglang_run(1)]))]
        told = collect([(name, stream(data)) for name, data in files], recipe="r")
        assert {row.point.workload for row in told.rows} == {"agentic-coding", "1024_128"}


class TestFailedRequests:
    @pytest.mark.parametrize("run, counted", [
        (vllm_run(completed=60, failed=4, request_throughput=7.5), (64, 60, 4)),
        (vllm_run(completed=60, failed=None, request_throughput=7.5), (64, 60, 4)),
        (vllm_run(), (64, 64, 0)),
        (vllm_run(completed=1, failed=None, num_prompts=2, errors=["", "aiohttp.ClientOSError: reset"], request_throughput=0.125),
         (2, 1, 1)),
    ])
    def test_are_told_and_not_hidden(self, run, counted) -> None:
        (told,) = read(run, "v/run.json").accounting
        assert (told.total, told.profiled, told.profiling_invalid, told.warmup_invalid) == (*counted, 0)

    def test_are_sorted_by_the_error_that_ended_them(self) -> None:
        trace = "Traceback (most recent call last):\n  File \"x\", line 1\naiohttp.client_exceptions.ServerDisconnectedError: gone"
        (told,) = read([sglang_run(completed=62, errors=[trace, "", trace], request_throughput=7.75)], "s/run.jsonl").accounting
        assert (told.kinds, told.total) == ({"ServerDisconnectedError": 2}, 64)

    def test_are_not_invented_where_the_file_does_not_know(self) -> None:
        assert read([sglang_run()], "s/run.jsonl").accounting == ()

    @pytest.mark.parametrize("run, name", BOTH)
    @pytest.mark.parametrize("broken, why", [
        ({"completed": 0, "failed": 0}, "no request completed"), ({"duration": 0.0}, "no request completed"),
        ({"completed": None}, "is missing"),
        ({"duration": None}, "incomplete"), ({"request_throughput": None}, "incomplete"), ({"ttfts": [0.1, -0.2]}, "negative"),
        ({"itls": [[0.1], [0.1, -2]]}, "negative"), ({"max_concurrency": 0}, "whole number"), ({"max_concurrency": "16"}, "number"),
    ])
    def test_of_a_run_that_is_none_refuse_it(self, run, name, broken, why) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            read([run(16), run(32, **broken)], name)
        assert (raised.value.file, raised.value.line) == (name, 2)


class TestAPointTwice:
    @pytest.mark.parametrize("run, name", BOTH)
    def test_is_refused(self, run, name) -> None:
        with pytest.raises(BadInput, match="stands twice") as raised:
            read([run(), run(32), run(output_throughput=1000.0)], name)
        assert raised.value.line == 3

    @pytest.mark.parametrize("run, name, key", [(vllm_run, "v/run.jsonl", "date"), (sglang_run, "s/run.jsonl", "tag")])
    def test_is_a_repetition_where_the_file_says_so(self, run, name, key) -> None:
        told = read([run(output_throughput=1000.0 + n, **{key: f"r{n}"}) for n in range(3)], name)
        assert [(row.repeat, row.value) for row in told.rows if row.metric == "output_tput"] == [(1, 1000.0), (2, 1001.0), (3, 1002.0)]

    def test_in_two_files_of_two_dates_is_a_repetition_too(self) -> None:
        files = [(f"v/run-{n}.json", encoded(vllm_run(date=f"2026090{n}-10", output_throughput=1000.0 + n))) for n in (2, 1)]
        told = collect([(name, stream(data)) for name, data in files], recipe="r")
        assert [(row.repeat, row.value) for row in told.rows if row.metric == "output_tput"] == [(1, 1001.0), (2, 1002.0)]
        assert [one.total for one in told.accounting] == [128]


class TestAnInfiniteRate:
    def test_is_read_as_the_tool_writes_it_and_nowhere_else(self) -> None:
        line = jsonl([sglang_run()])
        assert b'"request_rate": Infinity' in line and collect([("s/r.jsonl", stream(line))], recipe="r").rows
        with pytest.raises(BadInput, match="Infinity"):
            collect([("s/r.jsonl", stream(line.replace(b'"concurrency": 15.2', b'"concurrency": Infinity')))], recipe="r")


class TestARunOfWhichAllFailed:
    def test_has_no_rows_and_all_its_requests_failed(self) -> None:
        told = collect([("a.json", stream(encoded(vllm_run(completed=0, failed=100, duration=0.0))))], recipe="r")
        assert told.rows == () and [(one.profiled, one.profiling_invalid) for one in told.accounting] == [(0, 100)]
        assert [skip.why for skip in told.skipped] == ["nothing-measured"]


class TestRunsThatWereAppended:
    @pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
    def test_are_read_line_by_line_under_any_name(self, name) -> None:
        told = collect([(name, stream(jsonl([vllm_run(1), vllm_run(4)])))], recipe="r")
        assert {row.point.concurrency for row in told.rows} == {1, 4}
