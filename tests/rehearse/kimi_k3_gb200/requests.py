
"""Request rows of one agentic point, and the aggregate that the guest's own aggregation would write over them.

The rows are INVENTED so that their medians, sums and counts are the point's; the aggregate is computed from the rows.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from datetime import datetime
from pathlib import Path
from statistics import NormalDist
from typing import Any

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.numbers import GPUS, Point

CACHE = {"smoke": (0.961, 0.005), "full": (0.9586, 0.0061)}  # SEED for the smoke; the sweep's are INVENTED


def write(
    folder: Path,
    name: str,
    point: Point,
    began: datetime,
    *,
    published: bool,
    odd_conversation: bool = False,
    exported: bool = True,
) -> None:
    """Both artifacts of one benchmark point: agentic_<name> (where its requests were kept) and bmk_agentic_<name>."""
    rows = make_rows(point, began, odd_conversation=odd_conversation)
    hits = CACHE["smoke" if odd_conversation else "full"]
    if exported:
        _export(folder, name, point, rows, hits)
    aggregate = folder / f"bmk_agentic_{name}"
    aggregate.mkdir(parents=True)
    made = make_aggregate(point, rows, hits, published=published)
    (aggregate / f"{name}_conc{point.conc}.json").write_text(json.dumps(made, indent=1) + "\n")


def _export(folder: Path, name: str, point: Point, rows: list[dict[str, Any]], hits: tuple[float, float]) -> None:
    exports = folder / f"agentic_{name}" / "aiperf_artifacts"
    exports.mkdir(parents=True)
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    (exports / "profile_export.jsonl").write_text("\n".join(lines) + "\n")
    (exports / "server_metrics_export.json").write_text(json.dumps(_server_metrics(hits), indent=1) + "\n")
    (exports / "profile_export_aiperf.json").write_text(json.dumps(_summary(point), indent=1) + "\n")


def make_rows(point: Point, began: datetime, *, odd_conversation: bool) -> list[dict[str, Any]]:
    """Warm-up first, then profiling: every lane sends one request after another, the last ends `duration` after the start."""
    rng = random.Random(point.conc * 1000 + point.profiled)
    rows = [
        _row(
            began.timestamp() + 3.0 * i,
            2.0 + rng.random(),
            "warmup",
            f"warmup-{i:03d}",
            0,
            None if i < point.warmup_invalid else (2.0, 4.5, 180_000, 64),
        )
        for i in range(point.warmup)
    ]
    start = began.timestamp() + 3.0 * point.warmup + 60.0
    ttfts, itls = _spread(point.ttft, 0.45, point.profiled, rng), _spread(point.itl * 1000, 0.06, point.profiled, rng)
    outputs = _shares(round(point.output * point.duration), point.profiled, rng)
    inputs = _shares(round(point.input * point.duration), point.profiled, rng)
    lanes: list[list[tuple[float, float, int, int]]] = [[] for _ in range(point.conc)]
    for index, values in enumerate(zip(ttfts, itls, inputs, outputs, strict=True)):
        lanes[index % point.conc].append(values)
    for number, lane in enumerate(lanes):
        rows += _lane(number, lane, start, point.duration)
    rows += _invalid(point, start, odd_conversation=odd_conversation)
    return sorted(rows, key=lambda row: row["metadata"]["request_start_ns"])


def _lane(
    number: int, values: list[tuple[float, float, int, int]], start: float, duration: float
) -> list[dict[str, Any]]:
    """Idle time between requests is shared out evenly, so that the lane fills the window exactly."""
    busy = [ttft + itl * (osl - 1) / 1000 for ttft, itl, _, osl in values]
    pace = min(1.0, duration / sum(busy))
    gap = (duration - pace * sum(busy)) / max(len(values) - 1, 1)
    rows, now = [], start
    for turn, (took, (ttft, itl, isl, osl)) in enumerate(zip(busy, values, strict=True)):
        rows.append(
            _row(
                now, pace * took, "profiling", f"trace-{number:02d}-{turn // 12:03d}", turn % 12, (ttft, itl, isl, osl)
            )
        )
        now += pace * took + gap
    return rows


def _invalid(point: Point, start: float, *, odd_conversation: bool) -> list[dict[str, Any]]:
    """Answers without content. In the smoke six of the seven belong to one conversation, in its first 18 minutes (SEED)."""
    rows = []
    for index in range(point.profiling_invalid):
        together = odd_conversation and index < 6
        when = start + (170.0 * (index + 1) if together else 2100.0 + 60.0 * index)
        name = "trace-07-odd" if together else f"trace-late-{index}"
        rows.append(_row(when, 1.0 + 0.15 * index, "profiling", name, index if together else 3, None))
    return rows


def _row(
    start: float, took: float, phase: str, conversation: str, turn: int, values: tuple[float, float, int, int] | None
) -> dict[str, Any]:
    """`values`: TTFT in seconds, ITL in milliseconds, tokens in, tokens out; None: an answer without content."""
    meta = {
        "conversation_id": conversation,
        "turn_index": turn,
        "request_start_ns": round(start * 1e6) * 1000,
        "request_end_ns": round((start + took) * 1e6) * 1000,
        "benchmark_phase": phase,
        "was_cancelled": False,
    }
    if values is None:
        text = "Request produced no responses with actual content"
        return {"metadata": meta, "metrics": {}, "error": {"type": "InvalidInferenceResultError", "message": text}}
    ttft, itl, isl, osl = values
    return {
        "metadata": meta,
        "metrics": {
            "request_latency": {"value": round(took * 1000, 3), "unit": "ms"},
            "time_to_first_token": {"value": round(ttft * 1000, 4), "unit": "ms"},
            "inter_token_latency": {"value": round(itl, 6), "unit": "ms"},
            "input_sequence_length": {"value": isl, "unit": "tokens"},
            "output_sequence_length": {"value": osl, "unit": "tokens"},
        },
    }


def _spread(median: float, sigma: float, count: int, rng: random.Random) -> list[float]:
    """Log-normal quantiles around a median that stays exactly where it is: the two middle values are the median itself."""
    normal = NormalDist()
    values = [median * math.exp(sigma * normal.inv_cdf((i + 0.5) / count)) for i in range(count)]
    for middle in {(count - 1) // 2, count // 2}:
        values[middle] = median
    rng.shuffle(values)
    return values


def _shares(total: int, count: int, rng: random.Random) -> list[int]:
    weights = [math.exp(rng.gauss(0, 0.5)) for _ in range(count)]
    shares = [max(2, int(total * weight / sum(weights))) for weight in weights]
    shares[-1] += total - sum(shares)
    return shares


def make_aggregate(
    point: Point, rows: list[dict[str, Any]], hits: tuple[float, float], *, published: bool
) -> dict[str, Any]:
    """The guest's result row of a multi-node agentic point, from its request rows."""
    kept = [row for row in rows if row["metadata"]["benchmark_phase"] == "profiling" and "error" not in row]
    values = {name: [row["metrics"][name]["value"] for row in kept] for name in kept[0]["metrics"]}
    duration = (
        max(row["metadata"]["request_end_ns"] for row in kept)
        - min(row["metadata"]["request_start_ns"] for row in kept)
    ) / 1e9
    tokens_in, tokens_out = sum(values["input_sequence_length"]), sum(values["output_sequence_length"])
    itl = _stats([value / 1000 for value in values["inter_token_latency"]])
    invalid = point.warmup_invalid + point.profiling_invalid
    matrix = numbers.row(numbers.NEW, point.conc)
    return {
        "hw": matrix["runner"],
        "conc": point.conc,
        "image": matrix["image"],
        "recipe_fingerprint": numbers.fingerprint(numbers.NEW) if published else "",
        "model": matrix["model"],
        "infmax_model_prefix": "kimik3",
        "framework": matrix["framework"],
        "precision": "fp4",
        "spec_decoding": "mtp",
        "disagg": False,
        "scenario_type": "agentic-coding",
        "is_multinode": True,
        "tp": 16,
        "ep": 1,
        "dp_attention": "false",
        "prefill_tp": 16,
        "prefill_pp": 1,
        "prefill_dcp_size": 16,
        "prefill_pcp_size": 1,
        "prefill_ep": 1,
        "prefill_dp_attention": "false",
        "prefill_num_workers": 1,
        "decode_tp": 0,
        "decode_pp": 1,
        "decode_dcp_size": 1,
        "decode_pcp_size": 1,
        "decode_ep": 0,
        "decode_dp_attention": "false",
        "decode_num_workers": 0,
        "num_prefill_gpu": GPUS,
        "num_decode_gpu": 0,
        "kv_offloading": "dram",
        "kv_offload_backend": matrix["kv-offload-backend"],
        "allocated_cpu_dram_gb": 96 if published else 600,
        "dataset": "semianalysis_cc_traces_weka_062126",
        "num_requests_total": len(rows),
        "num_requests_successful": len(kept),
        "request_accounting": {
            "records_total": len(rows),
            "records_profiled": len(kept),
            "records_dropped_total": point.warmup + point.profiling_invalid,
            "records_warmup_dropped": point.warmup,
            "records_error_dropped": invalid,
            "error_categories": {"InvalidInferenceResultError": invalid},
        },
        "request_metrics": {
            "latency": {
                "ttft": _stats([value / 1000 for value in values["time_to_first_token"]]),
                "e2el": _stats([value / 1000 for value in values["request_latency"]]),
                "itl": itl,
                "intvty": {name: round(1 / itl[name], 5) for name in ("p50", "p75", "p90", "p95")},
            },
            "tokens": {
                "input": _stats(values["input_sequence_length"]),
                "output_actual": _stats(values["output_sequence_length"]),
            },
            "throughput": {
                "input": {"tokens_per_second": tokens_in / duration},
                "output": {"tokens_per_second": tokens_out / duration},
                "total": {"tokens_per_second": (tokens_in + tokens_out) / duration},
                "duration_seconds": duration,
                "per_gpu": {
                    "total_tput_tps": (tokens_in + tokens_out) / duration / GPUS,
                    "output_tput_tps": tokens_out / duration / GPUS,
                    "input_tput_tps": tokens_in / duration / GPUS,
                },
            },
        },
        "server_metrics": {
            "present": True,
            "adapter": "vllm",
            "cache": {"gpu_cache_hit_rate": hits[0], "cpu_cache_hit_rate": hits[1], "external_cache_hit_rate": hits[1]},
        },
    }


def _stats(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    shown = {
        name: _quantile(ordered, share) for name, share in (("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95))
    }
    return {"mean": statistics.fmean(ordered), **shown, "std": statistics.pstdev(ordered)}


def _quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _server_metrics(hits: tuple[float, float]) -> dict[str, Any]:
    def counter(total: float) -> dict[str, Any]:
        return {
            "type": "counter",
            "unit": "tokens",
            "series": [{"endpoint_url": "http://node-1:8081/metrics", "stats": {"total": total}}],
        }

    queries = 54_000_000.0
    return {
        "schema_version": "1.1",
        "metrics_phase": "profiling",
        "metrics": {
            "vllm:prefix_cache_queries": counter(queries),
            "vllm:prefix_cache_hits": counter(round(queries * hits[0])),
            "vllm:external_prefix_cache_queries": counter(queries),
            "vllm:external_prefix_cache_hits": counter(round(queries * hits[1])),
        },
    }


def _summary(point: Point) -> dict[str, Any]:
    """Of AIPerf's own summary only what gates a point: requests answered and failed while profiling."""
    return {
        "schema_version": "1.4",
        "request_count": {"unit": "requests", "avg": float(point.profiled)},
        "error_request_count": {"unit": "requests", "avg": float(point.profiling_invalid)},
        "completed_request_count": {"unit": "requests", "avg": float(point.profiled + point.profiling_invalid)},
    }
