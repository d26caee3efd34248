"""What load generators and serving benchmarks write, made small: AIPerf's summaries, vLLM's and SGLang's runs, bursts."""

from __future__ import annotations

from typing import Any


def vllm_run(conc: int | None = 16, **other: Any) -> dict[str, Any]:
    return {
        "date": "20260901-101010",
        "endpoint_type": "openai-chat",
        "backend": "openai-chat",
        "label": None,
        "model_id": "m",
        "tokenizer_id": "m",
        "num_prompts": 64,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": conc,
        "duration": 8.0,
        "completed": 64,
        "failed": 0,
        "total_input_tokens": 65536,
        "total_output_tokens": 8192,
        "request_throughput": 8.0,
        "request_goodput": None,
        "output_throughput": 1024.0,
        "total_token_throughput": 9216.0,
        "mean_ttft_ms": 120.0,
        "median_ttft_ms": 110.0,
        "std_ttft_ms": 12.0,
        "p99_ttft_ms": 190.5,
        "mean_tpot_ms": 14.0,
        "median_tpot_ms": 13.5,
        "std_tpot_ms": 1.0,
        "p99_tpot_ms": 17.0,
        "mean_itl_ms": 14.0,
        "median_itl_ms": 13.0,
        "p99_itl_ms": 30.0,
        "mean_e2el_ms": 1900.0,
        "median_e2el_ms": 1850.0,
        "p99.9_e2el_ms": 2400.0,
    } | other


def sglang_run(conc: int | None = 16, **other: Any) -> dict[str, Any]:
    """`request_rate` is what Python writes for an infinite one."""
    return {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": conc,
        "sharegpt_output_len": None,
        "random_input_len": 1024,
        "random_output_len": 128,
        "random_range_ratio": 1.0,
        "server_info": {"version": "0.5.23", "tp_size": 8},
        "duration": 8.0,
        "completed": 64,
        "total_input_tokens": 65536,
        "total_output_tokens": 8192,
        "request_throughput": 8.0,
        "input_throughput": 8192.0,
        "output_throughput": 1024.0,
        "total_throughput": 9216.0,
        "mean_e2e_latency_ms": 1900.0,
        "median_e2e_latency_ms": 1850.0,
        "mean_ttft_ms": 120.0,
        "median_ttft_ms": 110.0,
        "p99_ttft_ms": 190.5,
        "median_tpot_ms": 13.5,
        "median_itl_ms": 13.0,
        "concurrency": 15.2,
        "accept_length": 2.4,
    } | other


def burst(index: int, *, repetition: int = 1, cell: str = "G16k-c2-o64", **other: Any) -> dict[str, Any]:
    return {
        "benchmark_id": f"1A/{cell}/r{repetition}/{index}",
        "block": "1A",
        "cell": cell,
        "completion_tokens": 64,
        "dispatch_offset_s": 0.5 + index / 10,
        "end_offset_s": 2.5 + index / 2,
        "finish_reason": "length",
        "integrity_ok": True,
        "prompt_tokens": 16019,
        "repetition": repetition,
        "replica": "AB"[index % 2],
        "request_index": index,
        "requested_completion_tokens": 64,
        "requested_prompt_tokens": 16000,
        "status": 200,
        "timeout": False,
        "ttft_any_s": 0.5,
        "ttft_visible_s": 0.6,
    } | other


def published(conc: int = 64, run: int | None = 33, **other: Any) -> dict[str, Any]:
    """A row as the public API answers it: one topology mirrored into both roles, sizes among the metrics."""
    sides = {f"{side}_{key}": value for side in ("prefill", "decode") for key, value in (("tp", 8), ("ep", 8), ("dp_attention", True))}
    return {
        "id": "440994", "hardware": "b200", "framework": "vllm", "model": "dsv4", "precision": "fp4", "spec_method": "none",
        "disagg": False, "is_multinode": False, **sides, "prefill_num_workers": 0, "decode_num_workers": 0,
        "benchmark_type": "single_turn", "offload_mode": "off", "isl": 8192, "osl": 1024, "conc": conc,
        "image": "vllm/vllm-openai:v0.29.0", "recipe_fingerprint": "c8" * 32, "workers": None, "date": "2026-09-03",
        "metrics": {"pp": 1, "dcp_size": 2, "power_valid": 1, "tput_per_gpu": 1449.6, "median_ttft": 0.6, "p99_itl": 0.05},
        "run_url": None if run is None else f"https://github.com/o/r/actions/runs/{run}/attempts/2",
    } | other


def stats(mean: float, unit: str) -> dict[str, Any]:
    return {"mean": mean, "std": 1.0, "min": mean, "max": mean, "cv": 0.1, "se": 0.1, "ci_low": mean, "ci_high": mean,
            "t_critical": 4.3, "unit": unit}


def repeats(**other: Any) -> dict[str, Any]:
    """AIPerf's summary over three runs of one point."""
    return {
        "schema_version": "1.0",
        "aiperf_version": "0.13.0",
        "metadata": {"aggregation_type": "confidence", "num_profile_runs": 3, "num_successful_runs": 3, "failed_runs": [],
                     "confidence_level": 0.95, "run_labels": ["run_0001", "run_0002", "run_0003"],
                     "variation_values": {"phases.profiling.concurrency": 8}} | other.pop("metadata", {}),
        "metrics": {"request_throughput_avg": stats(10.0, "requests/sec"), "time_to_first_token_p50": stats(27.5, "ms"),
                    "output_token_throughput_avg": stats(320.0, "tokens/sec")},
    } | other


def sweep(**other: Any) -> dict[str, Any]:
    """AIPerf's summary over a sweep: one combination that ran twice, one that ran once."""
    once = {"request_throughput": {"mean": 12.0, "avg": 12.0, "unit": "requests/sec"},
            "time_to_first_token": {"mean": 30.0, "avg": 30.0, "p50": 29.0, "min": 20.0, "max": 50.0, "unit": "ms"}}
    twice = {"request_throughput_avg": stats(10.0, "requests/sec"), "time_to_first_token_p50": stats(27.5, "ms")}
    return {
        "aggregation_type": "sweep",
        "num_profile_runs": 3,
        "num_successful_runs": 3,
        "failed_runs": [],
        "metadata": {"sweep_parameters": [{"name": "concurrency", "values": [2, 4]}], "num_combinations": 2},
        "per_combination_metrics": [{"parameters": {"concurrency": 2}, "metrics": twice},
                                    {"parameters": {"concurrency": 4}, "metrics": once}],
        "best_configurations": {},
        "pareto_optimal": [],
    } | other


def counter(total: float, kind: str = "counter", **labels: str) -> dict[str, Any]:
    stat = {"total": total} if kind == "counter" else {"avg": total}
    return {"type": kind, "description": "x", "series": [{"endpoint_url": "http://n/metrics", "labels": labels, "stats": stat}]}


def server(**metrics: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.1",
        "aiperf_version": "0.13.0",
        "summary": {"endpoints_configured": ["http://n/metrics"], "endpoints_successful": ["http://n/metrics"]},
        "metrics_phase": "profiling",
        "metrics": metrics or {"vllm:prefix_cache_hits": counter(871.0), "vllm:prefix_cache_queries": counter(1000.0)},
    }


def report(conc: int = 4, rows: list[dict[str, Any]] | None = None, **other: Any) -> dict[str, Any]:
    """`bench.json` of a run that is over."""
    return {
        "version": 1,
        "bumpbot": "0.9.0",
        "state": "complete",
        "reason": "",
        "order": {"id": f"own/0123/c{conc}", "recipe": "own", "kind": "throughput", "image": "vllm/vllm-openai:v0.25.1",
                  "hardware": "h200", "gpus": 2, "topology": "TP2", "workload": "chat", "concurrency": conc, "fingerprint": "f1",
                  "engine": "vllm", "model": "o/m", "args": {"tensor-parallel-size": 2}, "gates": {"failed_requests": 0.1}},
        "launched": {"launcher": "docker", "image": "vllm/vllm-openai:v0.25.1", "digest": f"sha256:{'a' * 64}"},
        "said": {"version": "0.25.1", "commit": None},
        "counts": {"warmup": 4, "profiled": 29, "failed": 1, "invalid": 2, "cancelled": 0, "kinds": {"no-finish-reason": 2}},
        "rows": [own_row(conc)] if rows is None else rows,
        "seconds": {"whole": 60.5},
    } | other


def own_row(conc: int = 4, value: float = 917.3, **other: Any) -> dict[str, Any]:
    point = {"recipe": "own", "concurrency": conc, "workload": "chat", "topology": "TP2", "fingerprint": "f1"}
    return {"point": point, "metric": "output_tput", "value": value, "unit": "tok/s",
            "image": f"vllm/vllm-openai:v0.25.1@sha256:{'a' * 64}"} | other
