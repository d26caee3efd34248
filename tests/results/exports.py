"""Lines of a request export as AIPerf 0.13 writes them, in full: what is read of them, and the many keys that are not."""

from __future__ import annotations

import json
from typing import Any

SECOND = 1_000_000_000
BEGAN = 1_790_000_000 * SECOND


def line(number: int, *, ttft: float | None = 30.0, gap: float | None = 4.5, osl: int = 32, start: float | None = None,
         phase: str = "profiling", talk: str | None = None, error: str | None = None, **meta: Any) -> dict[str, Any]:
    """Request `number` of a load of one user; `start` in seconds after the first, times in milliseconds."""
    begun = BEGAN + round((number if start is None else start) * SECOND)
    latency = (ttft or 0.0) + (gap or 0.0) * (osl - 1)
    identity = f"{number:08x}-0000-4000-8000-000000000000"
    metadata = {
        "session_num": number, "x_request_id": identity, "x_correlation_id": identity, "conversation_id": talk or f"session_{number // 4:06d}",
        "turn_index": number % 4, "credit_issued_ns": begun - 2_000_000, "request_start_ns": begun,
        "request_end_ns": begun + round((latency + 5) * 1e6), "worker_id": "worker_1", "record_processor_id": "record_processor_1",
        "benchmark_phase": phase, "phase_index": 0, "was_cancelled": False, "context_overflow_skip": False, "agent_depth": 0,
    } | meta
    if error:
        return {"metadata": metadata, "metrics": {}, "error": {"type": error, "message": f"{error}(\"refused: {number}\")"}}
    metrics = {
        "request_latency": (latency, "ms"), "output_sequence_length": (osl, "tokens"), "http_req_blocked": (0.0, "ms"),
        "time_to_first_token": (ttft, "ms"), "input_sequence_length": (40 + number % 7, "tokens"),
        "http_req_data_received": (7.04, "KB"), "inter_chunk_latency": ([gap, 1e-05], "ms"), "inter_token_latency": (gap, "ms"),
        "output_token_throughput_per_user": (1000 / gap if gap else None, "tokens/sec/user"),
    }
    return {"metadata": metadata,
            "metrics": {key: {"value": value, "unit": unit} for key, (value, unit) in metrics.items() if value is not None}}


def export(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(packed(one) + b"\n" for one in lines)


def packed(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()
