"""A value in another unit than its label says is a thousandfold gain or loss; what can be known from the file alone is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect, load_metrics
from tests.results.made import agentic, fixed, row, stream, summary
from tests.results.made_tools import sglang_run, vllm_run

METRICS = load_metrics((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text())


def read(value, name="a/x.json"):
    return collect([(name, stream(value))], recipe="r", metrics=METRICS)


def latency(**told) -> dict:
    made = agentic()
    made["request_metrics"]["latency"] = told
    return made


class TestMillisecondsWrittenAsSeconds:
    @pytest.mark.parametrize("value", [
        latency(itl={"p50": 4.48}, intvty={"p50": 223.2}),
        latency(ttft={"p50": 2158.0}, e2el={"p50": 9.1}),
        [fixed(median_tpot=49.9)],
        [fixed(median_ttft=596.4)],
        vllm_run(median_ttft_ms=110_000.0),
        vllm_run(duration=8000.0),
        vllm_run(mean_e2el_ms=1_900_000.0),
    ], ids=["itl", "ttft", "tpot", "fixed-ttft", "vllm-ttft", "vllm-duration", "vllm-latency"])
    def test_are_refused(self, value) -> None:
        with pytest.raises(BadInput, match="unit"):
            read(value)

    def test_are_no_bursts_of_a_few_requests_whose_medians_lie_far_apart(self) -> None:
        """Two of four answers came in one piece: gaps of 7 us and 0.86 ms, of which each median is halfway."""
        assert read(latency(itl={"p50": 0.000432546}, intvty={"p50": 71861.4})).rows

    def test_are_refused_where_the_file_labels_them_wrongly(self) -> None:
        speed = {"unit": "tokens/sec/user", "p50": 213.0}
        good = summary(inter_token_latency={"unit": "ms", "p50": 4.7}, output_token_throughput_per_user=speed)
        bad = summary(inter_token_latency={"unit": "s", "p50": 4.7}, output_token_throughput_per_user=speed)
        assert read(good, "r/profile_export_aiperf.json").rows
        with pytest.raises(BadInput, match=r"itl p50 4\.7 s does not fit 213"):
            read(bad, "r/profile_export_aiperf.json")

    @given(st.floats(1e-4, 10.0), st.integers(2, 5))
    def test_are_not_seen_in_what_is_only_rounded(self, gap, digits) -> None:
        itl = round(gap, 5) or 1e-5
        told = latency(itl={"p50": itl}, intvty={"p50": round(1 / gap, digits)})
        assert read(told).rows


class TestStatistics:
    def test_in_the_wrong_order_are_refused(self) -> None:
        with pytest.raises(BadInput, match=r"ttft p50 is 3, above its p90 2 at concurrency 1"):
            read(latency(ttft={"p50": 3.0, "p90": 2.0}))

    def test_beyond_the_greatest_value_are_refused(self) -> None:
        spread = {"unit": "ms", "p50": 26.0, "p99": 70.0, "min": 20.0, "max": 53.0}
        with pytest.raises(BadInput, match=r"time_to_first_token\.p99: 70 lies outside 20 to 53"):
            read(summary(time_to_first_token=spread), "r/profile_export_aiperf.json")

    def test_of_interactivity_run_the_other_way(self) -> None:
        """Its p99 is the slow tail, 1 / p99 of the gap."""
        assert read(latency(intvty={"p50": 223.0, "p90": 100.0})).rows

    def test_of_all_tokens_below_those_of_the_output_are_refused(self) -> None:
        with pytest.raises(BadInput, match="less than the 1024 tok/s of output"):
            read(vllm_run(total_token_throughput=100.0))


class TestUnits:
    @pytest.mark.parametrize("unit", ["msec", "minutes", "tokens/sec", "MS"])
    def test_that_are_not_the_metrics_own_are_refused_with_the_file(self, unit) -> None:
        with pytest.raises(BadInput, match=f"ttft in {unit}") as raised:
            read([row(metric="ttft", stat="p50", unit=unit)], "kept/rows.json")
        assert (raised.value.file, raised.value.key) == ("kept/rows.json", "unit")

    def test_of_rows_are_made_one_before_they_are_compared(self) -> None:
        told = read([row(metric="median_ttft", value=900.0, unit="ms"), row(metric="e2el", stat="p50", value=1.0, unit="s")])
        assert {(r.metric, r.stat, r.value, r.unit) for r in told.rows} == {("ttft", "p50", 0.9, "s"), ("e2el", "p50", 1.0, "s")}

    @pytest.mark.parametrize("run", [vllm_run, sglang_run])
    @pytest.mark.parametrize("key", ["median_ttft_s", "mean_itl", "p99_tpot_us"])
    def test_in_a_serving_benchmarks_key_are_milliseconds(self, run, key) -> None:
        name = "v/run.json" if run is vllm_run else "s/run.jsonl"
        with pytest.raises(BadInput, match=f"{key}: is not in milliseconds"):
            read(run(request_rate=4.0) | {key: 1.0}, name)

    @pytest.mark.parametrize("unit", ["msec", "Ms", "tokens/sec", None, 5])
    def test_in_a_load_generators_summary_are_those_it_writes(self, unit) -> None:
        with pytest.raises(BadInput, match=r"time_to_first_token\.unit"):
            read(summary(time_to_first_token={"unit": unit, "p50": 26.8}), "r/profile_export_aiperf.json")

    def test_of_a_score_is_no_percent(self) -> None:
        with pytest.raises(BadInput, match="a share of 1"):
            read([row(metric="eval", task="gsm8k", value=0.9, unit="%")])
