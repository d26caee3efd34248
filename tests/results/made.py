"""Result files in the shapes that real tools write, made small: one function a format, every field overridable."""

from __future__ import annotations

import io
import json
from typing import Any, BinaryIO

from tests.results.made_tools import burst, published, repeats, report, server, sglang_run, vllm_run

RECIPE = "kimik3-gb200"


def stream(value: Any) -> BinaryIO:
    return io.BytesIO(value if isinstance(value, bytes) else json.dumps(value).encode())


def jsonl(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def agentic(conc: int = 1, tput: float = 917.3, **other: Any) -> dict[str, Any]:
    row = {
        "hw": "cluster:gb200-nv",
        "conc": conc,
        "image": "vllm/vllm-openai:x",
        "recipe_fingerprint": "a295",
        "disagg": False,
        "scenario_type": "agentic-coding",
        "is_multinode": True,
        "prefill_tp": 16,
        "prefill_dcp_size": 16,
        "prefill_ep": 1,
        "prefill_num_workers": 1,
        "prefill_dp_attention": "false",
        "decode_tp": 0,
        "decode_ep": 0,
        "num_prefill_gpu": 16,
        "num_requests_total": 252,
        "num_requests_successful": 234,
        "request_accounting": {
            "records_total": 252,
            "records_profiled": 234,
            "records_dropped_total": 18,
            "records_warmup_dropped": 11,
            "records_error_dropped": 17,
        },
        "request_metrics": {
            "qps": {"mean": 0.065, "p50": None},
            "latency": {
                "ttft": {"mean": 2.4, "p50": 2.158, "p90": 3.1},
                "itl": {"mean": 0.0046, "p50": 0.00448},
                "intvty": {"p50": 223.2},
                "e2el": {"p50": 9.1},
            },
            "throughput": {
                "input": {"tokens_per_second": 14564.6},
                "output": {"tokens_per_second": 112.26},
                "total": {"tokens_per_second": 14676.86},
                "duration_seconds": 3594.0,
                "per_gpu": {"total_tput_tps": tput, "output_tput_tps": 7.01, "input_tput_tps": 910.2},
            },
        },
        "server_metrics": {"present": True, "cache": {"gpu_cache_hit_rate": 0.871, "cpu_cache_hit_rate": 0.03}},
    }
    return row | other


def fixed(conc: int = 64, tput: float = 1449.6, **other: Any) -> dict[str, Any]:
    row = {
        "hw": "b200",
        "conc": conc,
        "image": "vllm/vllm-openai:y",
        "model": "m",
        "framework": "vllm",
        "precision": "fp4",
        "disagg": False,
        "recipe_fingerprint": "abc",
        "isl": 8192,
        "osl": 1024,
        "is_multinode": False,
        "tp": 8,
        "pp": 1,
        "dcp_size": 1,
        "pcp_size": 1,
        "ep": 8,
        "dp_attention": "true",
        "tput_per_gpu": tput,
        "output_tput_per_gpu": 160.8,
        "input_tput_per_gpu": 1288.8,
        "median_ttft": 0.5964,
        "mean_ttft": 1.03,
        "std_ttft": 2.0,
        "p99.9_ttft": 8.0,
        "median_tpot": 0.0499,
        "median_intvty": 20.04,
        "median_itl": 0.0278,
        "median_e2el": 46.2,
        "power_valid": 0,
    }
    return row | other


def eval_row(conc: int = 16, strict: float = 0.9727, flexible: float = 0.9719, **other: Any) -> dict[str, Any]:
    row = {
        "is_multinode": True,
        "model_prefix": "kimik3",
        "isl": 0,
        "osl": 0,
        "tp": 1,
        "ep": 1,
        "prefill_tp": 16,
        "conc": conc,
        "task": "gsm8k",
        "em_strict": strict,
        "em_strict_se": 0.0045,
        "em_flexible": flexible,
        "n_eff": 1319,
        "source": "eval_x/results.json",
        "score": strict,
        "score_name": "em_strict",
    }
    return row | other


def lm_results(strict: float = 0.75, n: int = 4, task: str = "gsm8k") -> dict[str, Any]:
    scores = {
        "alias": task,
        "exact_match,strict-match": strict,
        "exact_match_stderr,strict-match": 0.1,
        "exact_match,flexible-extract": 1.0,
        "exact_match_stderr,flexible-extract": "N/A",
    }
    return {
        "results": {task: scores},
        "group_subtasks": {},
        "configs": {task: {}},
        "n-samples": {task: {"original": n, "effective": n}},
        "lm_eval_version": "0.4.13",
    }


def sample(doc: int, answer: str, correct: bool, filtered: str = "strict-match") -> dict[str, Any]:
    return {
        "doc_id": doc,
        "target": "step\n#### 7",
        "resps": [[answer]],
        "filtered_resps": ["7"],
        "filter": filtered,
        "metrics": ["exact_match"],
        "exact_match": float(correct),
    }


def request(number: int, *, phase: str = "profiling", talk: str = "a", error: str | None = None, **meta: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "metadata": {
            "x_request_id": f"id-{number}",
            "conversation_id": talk,
            "turn_index": 0,
            "benchmark_phase": phase,
            "request_start_ns": 1_000,
            "request_end_ns": 2_000,
            "was_cancelled": False,
        }
        | meta,
        "metrics": {} if error else {"time_to_first_token": {"value": 20.5, "unit": "ms"}},
    }
    return record | ({"error": {"type": error, "message": "no responses with actual content"}} if error else {})


def summary(conc: int | None = 2, **other: Any) -> dict[str, Any]:
    phases = [{"name": "profiling", "kind": "profiling", "type": "concurrency", "concurrency": conc}]
    return {
        "schema_version": "1.4",
        "aiperf_version": "0.13.0",
        "request_throughput": {"unit": "requests/sec", "avg": 10.0},
        "request_count": {"unit": "requests", "avg": 30.0},
        "time_to_first_token": {"unit": "ms", "avg": 29.4, "p50": 26.8, "p99": 53.0, "std": 7.0},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 322.7},
        "was_cancelled": False,
        "is_complete": True,
        "input_config": {"phases": phases if conc else []},
    } | other


def row(conc: int = 1, metric: str = "tput_per_gpu", value: float = 100.0, **other: Any) -> dict[str, Any]:
    return {
        "point": {"recipe": RECIPE, "concurrency": conc, "workload": None, "topology": None, "fingerprint": None},
        "metric": metric,
        "stat": None,
        "value": value,
        "unit": "tok/s/GPU",
        "n": None,
        "run": None,
        "attempt": None,
        "head": None,
        "image": None,
        "flags": [],
    } | other


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


EXAMPLES: dict[str, tuple[str, bytes]] = {
    "inferencex-agentic": ("bmk_agentic_rf_conc1_n0/rf_conc1.json", encoded(agentic())),
    "inferencex-fixed": ("results_bmk/agg_bmk.json", encoded([fixed(), fixed(128)])),
    "inferencex-eval": ("eval_results_all/agg_eval_all.json", encoded([eval_row()])),
    "inferencex-api": ("baseline/benchmarks.json", encoded([published()])),
    "inferencex-run-stats": ("run-stats/run_stats.json", encoded({"gb200-nv": {"n_success": 9, "total": 10}})),
    "lm-eval-results": ("eval_rf_conc8_n1/results_2026.json", json.dumps(lm_results(1.0, 1), indent=2).encode()),
    "lm-eval-samples": ("eval_rf_conc8_n1/samples_gsm8k_2026-09-10T11.jsonl", jsonl([sample(0, "so 7\n#### 7", True)])),
    "aiperf-records": ("agentic_rf_conc3_n0/aiperf_artifacts/profile_export.jsonl", jsonl([request(0)])),
    "aiperf-summary": ("run/profile_export_aiperf.json", json.dumps(summary(), indent=2).encode()),
    "aiperf-runs": ("more/aggregate/profile_export_aiperf_aggregate.json", json.dumps(repeats(), indent=2).encode()),
    "aiperf-server-metrics": ("agentic_rf_conc2_n0/server_metrics_export.json", json.dumps(server(), indent=2).encode()),
    "vllm-bench": ("vllm/openai-infqps-concurrency32.json", encoded(vllm_run(32))),
    "sglang-bench": ("sglang/sglang_0901_64_1024_128.jsonl", jsonl([sglang_run(48), sglang_run(96)])),
    "campaign-rows": ("raw/grid-rows.jsonl", jsonl([burst(0), burst(1)])),
    "rows": ("rows.json", encoded([row()])),
    "bench-report": ("bench_own_conc4/bench.json", json.dumps(report(), indent=1).encode()),
}
