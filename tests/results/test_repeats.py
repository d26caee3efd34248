"""AIPerf's repeats: several runs of one point are repetitions, their summary gives way to them, nothing weighs twice."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from bot.results.places import repetition
from tests.results.made import encoded, jsonl, request, stream, summary
from tests.results.made_tools import counter, repeats, server, stats, sweep

SHARED = Path(__file__).parents[3] / "shared" / "data" / "aiperf"


def run(number: int, tput: float = 320.0, conc: int | None = 8, **other) -> tuple[str, bytes]:
    made = summary(conc, output_token_throughput={"unit": "tokens/sec", "avg": tput + number}, **other)
    return f"base/profile_runs/run_{number:04d}/profile_export_aiperf.json", encoded(made)


def read(*files):
    return collect([(name, stream(data)) for name, data in files], recipe="r", run=7)


def tput(told) -> dict:
    return {row.repeat: row.value for row in told.rows if row.metric == "output_tput"}


MEAN = ("base/aggregate/profile_export_aiperf_aggregate.json", encoded(repeats()))
EXPORTS = [(f"base/profile_runs/run_{n:04d}/profile_export.jsonl", jsonl([request(0), request(n, error="Late" if n == 2 else None)]))
           for n in (1, 2, 3)]


class TestRunsOfOnePoint:
    @pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
    def test_are_numbered_repetitions_in_any_order_of_files(self, order) -> None:
        assert tput(read(*map(run, order))) == {1: 321.0, 2: 322.0, 3: 323.0}

    def test_alone_is_a_measurement_like_any_other(self) -> None:
        assert tput(read(run(2))) == {None: 322.0}

    def test_are_told_apart_by_the_generators_own_name_wherever_they_lie(self) -> None:
        files = [(f"{place}/profile_export_aiperf.json", run(n, benchmark_id=place)[1]) for n, place in enumerate("ab")]
        assert tput(read(*files)) == {1: 320.0, 2: 321.0}

    def test_of_one_name_are_one_and_may_not_differ(self) -> None:
        same = [(f"{place}/profile_export_aiperf.json", run(1, benchmark_id="x")[1]) for place in "ab"]
        assert tput(read(*same)) == {None: 321.0}
        with pytest.raises(BadInput, match="a/profile_export_aiperf.json"):
            read(same[0], ("b/profile_export_aiperf.json", run(2, benchmark_id="x")[1]))

    def test_without_a_name_are_a_contradiction_where_no_folder_tells_them_apart(self) -> None:
        with pytest.raises(BadInput, match="give the files of one attempt"):
            read(("a/profile_export_aiperf.json", run(1)[1]), ("b/profile_export_aiperf.json", run(2)[1]))

    def test_of_another_load_are_another_point(self) -> None:
        asked = {"phases": [{"kind": "profiling", "concurrency": 8}],
                 "datasets": [{"prompts": {"isl": {"mean": 8192.0}, "osl": {"mean": 1024}}}]}
        other = asked | {"datasets": [{"prompts": {"isl": {"mean": 100}, "osl": {"mean": 20}}}]}
        told = read(run(1, input_config=asked), run(2, input_config=other))
        assert {row.point.workload: row.repeat for row in told.rows} == {"8k1k": None, "100_20": None}

    def test_add_up_their_requests(self) -> None:
        ttft = {"unit": "ms", "avg": 20.5, "p50": 20.5}
        asked = [run(n, request_count={"unit": "requests", "avg": answered}, time_to_first_token=ttft)
                 for n, answered in ((1, 2.0), (2, 1.0), (3, 2.0))]
        (told,) = read(*asked, *EXPORTS).accounting
        assert (told.concurrency, told.total, told.profiling_invalid, told.kinds) == (8, 6, 1, {"Late": 1})

    def test_of_another_run_than_their_requests_are_refused(self) -> None:
        with pytest.raises(BadInput, match=r"profile_export.jsonl: profiled_requests of its requests is 2, but .* says 30"):
            read(run(1), EXPORTS[0])

    def test_that_never_answered_have_the_concurrency_of_the_others(self) -> None:
        down = ("base/profile_runs/run_0002/profile_export.jsonl", jsonl([request(n, error="ClientConnectorError") for n in range(4)]))
        told = read(run(1), run(3), down)
        assert tput(told) == {1: 321.0, 2: 323.0} and told.accounting[0].profiling_invalid == 4
        assert [(skip.why, skip.detail) for skip in told.skipped] == [
            ("nothing-measured", "4 of 4 requests failed: ClientConnectorError")]

    @pytest.mark.parametrize("name, number", [
        ("a/profile_runs/run_0002/x.json", 2), ("a/trial_0011/concurrency_8/x.json", 11), ("repeat_3/x.json", 3), ("a/b_r2.jsonl", 2),
        ("x/rep-1.json", 1), ("a/runner_2/x.json", None), ("run/x.json", None), ("a/b/x.json", None), ("r2d2/x.json", None),
    ])
    def test_are_known_by_the_names_of_their_folders(self, name, number) -> None:
        assert repetition(name) == number


class TestASummaryOverRuns:
    def test_is_the_mean_where_the_runs_are_not_here(self) -> None:
        told = read(MEAN)
        assert {(row.metric, row.stat): row.value for row in told.rows} == {
            ("request_tput", None): 10.0, ("ttft", "p50"): pytest.approx(0.0275), ("output_tput", None): 320.0}
        assert {row.point.concurrency for row in told.rows} == {8}

    @given(st.permutations([MEAN, run(1), run(2), ("base/sweep_aggregate/profile_export_aiperf_sweep.json", encoded(sweep()))]))
    def test_gives_way_to_the_runs(self, files) -> None:
        told = read(*files)
        assert {r: v for r, v in tput(told).items()} == {1: 321.0, 2: 322.0}
        assert {row.point.concurrency for row in told.rows} == {2, 4, 8}  # the sweep's own points stay

    def test_that_does_not_say_its_concurrency_has_its_runs(self) -> None:
        bare = repeats(metadata={"variation_values": {}})
        assert not read((MEAN[0], encoded(bare))).rows
        assert read((MEAN[0], encoded(bare)), run(1)).rows == read(run(1)).rows
        assert read(("m/concurrency_4/aggregate/profile_export_aiperf_aggregate.json", encoded(bare))).rows[0].point.concurrency == 4

    def test_over_a_sweep_has_a_point_a_combination(self) -> None:
        told = read(("s/profile_export_aiperf_sweep.json", encoded(sweep())))
        assert {(row.point.concurrency, row.metric): row.value for row in told.rows if row.stat in (None, "p50")} == {
            (2, "request_tput"): 10.0, (2, "ttft"): pytest.approx(0.0275),
            (4, "request_tput"): 12.0, (4, "ttft"): pytest.approx(0.029)}

    def test_names_what_else_was_varied(self) -> None:
        varied = sweep(per_combination_metrics=[{"parameters": {"concurrency": 2, "isl": isl}, "metrics": {
            "request_throughput_avg": stats(float(isl), "requests/sec")}} for isl in (128, 512)])
        told = read(("s/profile_export_aiperf_sweep.json", encoded(varied)))
        assert {row.point.workload: row.value for row in told.rows} == {"isl=128": 128.0, "isl=512": 512.0}

    @pytest.mark.parametrize("broken, why", [
        (sweep(per_combination_metrics=sweep()["per_combination_metrics"][:1] * 2), "concurrency 2 stands twice"),
        (sweep(per_combination_metrics=[]), "the sweep is incomplete"), (sweep(num_successful_runs=0), "no run succeeded"),
        (repeats(metadata={"num_successful_runs": 0}), "no run succeeded"), (repeats(metrics={}), "no measured value"),
        (repeats(metrics={"time_to_first_token_p50": stats(27.5, "msec")}), r"time_to_first_token_p50\.unit"),
        (repeats(metrics={"request_throughput_avg": {"unit": "requests/sec"}}), r"request_throughput_avg\.avg"),
    ])
    def test_that_does_not_hold_is_refused(self, broken, why) -> None:
        with pytest.raises(BadInput, match=why):
            read(("s/profile_export_aiperf_aggregate.json", encoded(broken)))


class TestTheServersOwnMetrics:
    def beside(self, **metrics):
        return read(run(1, benchmark_id="x"), ("base/profile_runs/run_0001/server_metrics_export.json", encoded(server(**metrics))))

    def test_give_the_share_of_the_cache_over_all_endpoints(self) -> None:
        hits, asked = counter(90.0), counter(100.0)
        hits["series"] += counter(0.0)["series"]
        asked["series"] += counter(900.0)["series"]
        told = self.beside(**{"vllm:prefix_cache_hits": hits, "vllm:prefix_cache_queries": asked})
        (rate,) = [row for row in told.rows if row.metric == "gpu_cache_hit_rate"]
        assert (rate.value, rate.point.concurrency, rate.unit) == (0.09, 8, "share")

    @pytest.mark.parametrize("metrics, metric, value", [
        ({"sglang:cache_hit_rate": counter(0.4, "gauge")}, "gpu_cache_hit_rate", 0.4),
        ({"sglang:cached_tokens_total": counter(1.0), "sglang:prompt_tokens_total": counter(4.0)}, "gpu_cache_hit_rate", 0.25),
        ({"vllm:external_prefix_cache_hits": counter(1.0), "vllm:external_prefix_cache_queries": counter(2.0)},
         "external_cache_hit_rate", 0.5),
    ])
    def test_are_read_in_each_engines_words(self, metrics, metric, value) -> None:
        assert [row.value for row in self.beside(**metrics).rows if row.metric == metric] == [value]

    def test_name_the_engine_that_ran_and_not_its_interpreter(self) -> None:
        told = self.beside(**{"vllm:build_info": counter(1.0, "gauge", version="0.29.0", commit="c" * 40),
                              "python_info": counter(1.0, "gauge", version="3.12.3")})
        assert {(one.kind, one.value, one.concurrency) for one in told.reported} == {("version", "0.29.0", 8), ("commit", "c" * 40, 8)}

    def test_without_any_of_these_are_no_result_and_no_error(self) -> None:
        told = self.beside(**{"vllm:num_requests_running": counter(1.0, "gauge"), "vllm:prefix_cache_queries": counter(0.0)})
        assert [skip.why for skip in told.skipped] == ["not-a-result"] and tput(told) == {None: 321.0}

    @pytest.mark.parametrize("metrics, why", [
        ({"vllm:prefix_cache_hits": counter(3.0), "vllm:prefix_cache_queries": counter(2.0)}, "3 hits of 2"),
        ({"sglang:cache_hit_rate": counter(40.0, "gauge")}, "more than 1"),
        ({"vllm:prefix_cache_hits": counter(-1.0), "vllm:prefix_cache_queries": counter(2.0)}, "negative"),
    ])
    def test_that_cannot_be_are_refused(self, metrics, why) -> None:
        with pytest.raises(BadInput, match=why):
            self.beside(**metrics)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded files are not beside the project")
class TestRecordedRepeats:
    def test_are_three_measurements_of_one_point(self) -> None:
        files = [path for folder in ("repeat_1", "repeat_2", "repeat_3") for path in sorted((SHARED / folder).iterdir())]
        told = read(*((f"x/{path.parent.name}/{path.name}", path.read_bytes()) for path in files))
        assert {r: round(v, 2) for r, v in tput(told).items()} == {1: 321.9, 2: 324.12, 3: 301.52}
        assert [(one.concurrency, one.total) for one in told.accounting] == [(2, 30)]

    def test_are_not_mixed_with_a_server_that_was_down(self) -> None:
        files = [SHARED / "refused" / "profile_export.jsonl", *sorted((SHARED / "repeat_1").iterdir())]
        told = read(*((f"x/{path.parent.name}/{path.name}", path.read_bytes()) for path in files))
        assert [skip.why for skip in told.skipped] == ["nothing-measured", "not-a-result"] and told.accounting[0].invalid == 0
