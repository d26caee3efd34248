"""AIPerf's aggregate (`profile_export_aiperf.json`): rates, latencies in milliseconds, and the load asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.parsed import UNKNOWN, Context, Parsed, has
from bot.results.read import count, document, mapping, number, optional, text

FORMAT = "aiperf-summary"
_RATES = {
    "output_token_throughput": ("output_tput", "tok/s", "tokens/sec"),
    "input_token_throughput": ("input_tput", "tok/s", "tokens/sec"),
    "total_token_throughput": ("total_tput", "tok/s", "tokens/sec"),
    "request_throughput": ("request_tput", "req/s", "requests/sec"),
    "request_count": ("profiled_requests", "requests", "requests"),
}
_SPREADS = {
    "time_to_first_token": ("ttft", "s"),
    "inter_token_latency": ("itl", "s"),
    "request_latency": ("e2el", "s"),
    "output_token_throughput_per_user": ("intvty", "tok/s/user"),
}
_SCALE = {"ms": 0.001, "sec": 1.0, "s": 1.0, "us": 1e-6, "ns": 1e-9}
_STATS = {"avg": "mean", "p50": "p50", "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99"}


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] == b"{"
        and any(has(head, key) for key in ("aiperf_version", "input_config", "completed_request_count"))
        and any(has(head, key) for key in ("request_throughput", "request_latency", "request_count", "error_request_count"))
        and not has(head, "metrics_phase")
        and not has(head, "benchmark_phase")
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Rows and the concurrency asked for. A run that did not complete is refused: its rates are of a part."""
    whole = mapping(document(stream, name), name, "")
    if whole.get("was_cancelled") is True or whole.get("is_complete") is False:
        raise BadInput("the run did not complete", "run it again", file=name, key="is_complete")
    conc = _concurrency(whole, name)
    asked = optional(whole, "request_count", "avg")
    n = None if asked is None else count(asked, name, "request_count.avg")
    rows = [*_rates(whole, name), *_spreads(whole, name)]
    if not rows:
        raise BadInput("no measured value", "the run is incomplete", file=name)
    point = Cell(recipe=context.recipe, concurrency=conc or UNKNOWN)
    return Parsed(
        raw=True,
        concurrency=conc,
        rows=tuple(
            Row(
                point=point,
                metric=metric,
                stat=stat,
                value=value,
                unit=unit,
                n=n,
                run=context.run,
                attempt=context.attempt,
                head=context.head,
            )
            for metric, stat, unit, value in rows
        ),
    )


def _rates(whole: Mapping[str, Any], name: str) -> list[tuple[str, str | None, str, float]]:
    made: list[tuple[str, str | None, str, float]] = []
    for field, (metric, unit, written) in _RATES.items():
        if whole.get(field) is None:
            continue
        body = mapping(whole[field], name, field)
        _unit(body, (written,), name, field)
        made.append((metric, None, unit, number(body.get("avg"), name, f"{field}.avg")))
    return made


def _spreads(whole: Mapping[str, Any], name: str) -> list[tuple[str, str | None, str, float]]:
    made: list[tuple[str, str | None, str, float]] = []
    for field, (metric, unit) in _SPREADS.items():
        if whole.get(field) is None:
            continue
        body = mapping(whole[field], name, field)
        scale = _SCALE[_unit(body, tuple(_SCALE), name, field)] if unit == "s" else 1.0
        made += [
            (metric, stat, unit, number(body[key], name, f"{field}.{key}") * scale)
            for key, stat in _STATS.items()
            if body.get(key) is not None
        ]
    return made


def _unit(body: Mapping[str, Any], known: tuple[str, ...], name: str, field: str) -> str:
    unit = text(body.get("unit"), name, f"{field}.unit")
    if unit not in known:
        raise BadInput(
            f"unit {unit[:40]} is not {' or '.join(known)}",
            "another tool or version wrote this",
            file=name,
            key=f"{field}.unit",
        )
    return unit


def _concurrency(whole: Mapping[str, Any], name: str) -> int | None:
    """The concurrency of the profiling phase; older versions name it under `loadgen`. None for a load by rate."""
    phases = optional(whole, "input_config", "phases")
    for phase in phases if isinstance(phases, list) else []:
        if (
            isinstance(phase, dict)
            and "profiling" in (phase.get("kind"), phase.get("name"))
            and phase.get("concurrency") is not None
        ):
            return count(phase["concurrency"], name, "input_config.phases.concurrency", least=1)
    found = optional(whole, "input_config", "loadgen", "concurrency")
    return None if found is None else count(found, name, "input_config.loadgen.concurrency", least=1)
