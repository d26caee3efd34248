"""Numbers of the stand-in as AIPerf makes them: of one request, and over all of a phase."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from aiperf_sends import NS, Phase, Sent

MS = 1_000_000
_RANKS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
Numbers = dict[str, float | list[float] | None]


def of(one: Sent) -> Numbers:
    """The metrics of a good request that its own moments and usage tell."""
    contents, last, usage = read(one)
    answers = contents or [last]
    latency = (answers[-1] - one.began_perf) / MS
    made, prompt = usage.get("completion_tokens"), usage.get("prompt_tokens")
    found: Numbers = {
        "request_latency": latency, "http_req_duration": (one.ended - one.began) / MS, "http_req_total": (one.ended - one.began) / MS,
        "http_req_chunks_received": len(one.responses), "input_sequence_length": prompt, "usage_prompt_tokens": prompt,
        "output_sequence_length": made, "output_token_count": made, "usage_completion_tokens": made,
        "usage_total_tokens": usage.get("total_tokens"),
        "e2e_output_token_throughput": made / latency * 1000 if made else None, "osl_mismatch_diff_pct": mismatch(one, made),
    }
    if one.payload["stream"] and contents:
        first, gaps = (contents[0] - one.began_perf) / MS, [(b - a) / MS for a, b in zip(contents, contents[1:], strict=False)]
        gap = (latency - first) / (made - 1) if made and made > 1 else None
        found |= {
            "time_to_first_token": first, "time_to_first_output_token": first, "decode_duration": latency - first,
            "time_to_second_token": gaps[0] if gaps else None, "inter_chunk_latency": gaps or None, "inter_token_latency": gap,
            "output_token_throughput_per_user": 1000 / gap if gap else None,
            "prefill_throughput_per_user": prompt / first * 1000 if prompt else None,
        }
    return found


def read(one: Sent) -> tuple[list[int], int, Mapping[str, Any]]:
    """When each content came, when the last thing came, and the usage."""
    contents, usage, last = [], {}, one.began_perf
    for response in one.responses:
        last = response["perf_ns"]
        text = response.get("text") or next((p["value"] for p in response["packets"] if p["name"] == "data"), "")
        if text.startswith("{"):
            told = json.loads(text)
            usage = told.get("usage") or usage
            said = [choice.get("delta") or choice.get("message") or {} for choice in told.get("choices") or ()]
            if any(word.get("content") or word.get("reasoning_content") or word.get("tool_calls") for word in said):
                contents.append(last)
    return contents, last, usage


def mismatch(one: Sent, made: int | None) -> float | None:
    asked = one.payload.get("max_completion_tokens")
    return abs(made - asked) / asked * 100 if asked and made is not None else None


def spread(values: Sequence[float]) -> dict[str, float]:
    """The statistics of a summary, between neighbours by straight line as numpy has them."""
    ordered, n = sorted(values), len(values)
    mean = math.fsum(ordered) / n
    made = {"avg": mean}
    for rank in _RANKS:
        place = rank / 100 * (n - 1)
        low, high = ordered[int(place)], ordered[min(int(place) + 1, n - 1)]
        made[f"p{rank}"] = low + (place - int(place)) * (high - low)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / n)
    return made | {"min": ordered[0], "max": ordered[-1], "std": deviation, "count": n, "sum": math.fsum(ordered)}


def summary(phase: Phase) -> dict[str, dict[str, float]]:
    """What a summary says of a phase, by metric; only what the requests themselves tell."""
    good = [one for one in phase.requests if one.error is None]
    told = [of(one) for one in good]
    made: dict[str, dict[str, float]] = {}
    for name in sorted({name for numbers in told for name in numbers}):
        values = [value for numbers in told if (value := numbers.get(name)) is not None]
        flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
        if flat:
            made[name] = spread(flat)
    totals: dict[str, float] = {name: made[name]["sum"] if name in made else 0.0 for name in (
        "input_sequence_length", "output_sequence_length", "usage_total_tokens")}
    isl, osl, every = totals.values()
    contents = [read(one) for one in good]
    window = (max((one.began + (seen[0][-1] if seen[0] else seen[1]) - one.began_perf for one, seen in zip(
        good, contents, strict=True)), default=phase.began) - min((one.began for one in good), default=phase.began)) / NS
    failed, many = len(phase.requests) - len(good), len(phase.requests)

    def rate(amount: float) -> float:
        return amount / phase.seconds if phase.seconds else 0.0

    alone = {
        "request_count": len(good), "completed_request_count": many, "request_error_rate": failed / many * 100 if many else 0.0,
        "error_request_count": failed, "context_overflow_count": 0, "benchmark_duration": window,
        "request_throughput": rate(len(good)), "output_token_throughput": rate(osl), "input_token_throughput": rate(isl),
        "total_token_throughput": rate(isl + osl), "total_isl": isl, "total_osl": osl, "total_output_tokens": osl,
        "total_usage_prompt_tokens": isl, "total_usage_completion_tokens": osl, "total_usage_total_tokens": every,
        "osl_mismatch_count": sum(bool(mismatch(one, seen[2].get("completion_tokens"))) for one, seen in zip(
            good, contents, strict=True)),
    }
    return made | {name: {"avg": float(value)} for name, value in alone.items()}
