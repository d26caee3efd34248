"""AIPerf's metric names, units and statistics in ours; its summary of one run and those over several share them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bot.errors import BadInput
from bot.results.lines import Line, served
from bot.results.read import mapping, number, text
from bot.results.topology import lengths

ALONE: dict[str, tuple[str, str | None, str, str]] = {
    "output_token_throughput": ("output_tput", None, "tok/s", "tokens/sec"),
    "input_token_throughput": ("input_tput", None, "tok/s", "tokens/sec"),
    "total_token_throughput": ("total_tput", None, "tok/s", "tokens/sec"),
    "request_throughput": ("request_tput", None, "req/s", "requests/sec"),
    "request_count": ("profiled_requests", None, "requests", "requests"),
    "input_sequence_length": ("input_tokens", "mean", "tokens", "tokens"),
    "output_sequence_length": ("output_tokens", "mean", "tokens", "tokens"),
    "benchmark_duration": ("duration", None, "s", "sec"),
}
"""Metrics of which the `avg` alone counts: name, statistic and unit here, and the unit there."""
SPREADS = {
    "time_to_first_token": ("ttft", "s"),
    "inter_token_latency": ("itl", "s"),
    "request_latency": ("e2el", "s"),
    "output_token_throughput_per_user": ("intvty", "tok/s/user"),
}
STATS = {"avg": "mean", "p50": "p50", "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99"}
_SCALE = {"ms": 0.001, "sec": 1.0, "s": 1.0, "us": 1e-6, "ns": 1e-9}
_PER_USER = {"tokens/sec/user": 1.0}


class Value(NamedTuple):
    metric: str
    stat: str | None
    unit: str
    value: float


def values(fields: Mapping[str, Any], name: str, key: str = "") -> list[Value]:
    """Every metric known here, from `{metric: {unit, avg, p50, ...}}`; others and nulls are passed over."""
    made = []
    for field in (*ALONE, *SPREADS):
        if fields.get(field) is not None:
            where = f"{key}.{field}".lstrip(".")
            body = mapping(fields[field], name, where)
            made += _within(field, ((stat, body.get(stat)) for stat in STATS), body, name, where)
            _bounds(body, name, where)
    return made


def summed(fields: Mapping[str, Any], name: str, key: str = "") -> list[Value]:
    """As `values`, from a summary over runs: `{metric_stat: {unit, mean, ...}}`, of which the mean over the runs counts."""
    made = []
    for field in (*ALONE, *SPREADS):
        for stat in STATS:
            body = fields.get(f"{field}_{stat}")
            if body is not None:
                where = f"{key}.{field}_{stat}".lstrip(".")
                body = mapping(body, name, where)
                made += _within(field, [(stat, body.get("mean"))], body, name, where)
    return made


def _within(field: str, told: Iterable[tuple[str, Any]], body: Mapping[str, Any], name: str, where: str) -> list[Value]:
    if field in ALONE:
        metric, only, unit, written = ALONE[field]
        _unit(body, (written,), name, where)
        found = [value for stat, value in told if stat == "avg"]
        return [Value(metric, only, unit, number(value, name, f"{where}.avg")) for value in found]
    metric, unit = SPREADS[field]
    scales = _SCALE if unit == "s" else _PER_USER
    scale = scales[_unit(body, tuple(scales), name, where)]
    return [Value(metric, STATS[stat], unit, number(value, name, f"{where}.{stat}") * scale)
            for stat, value in told if value is not None]


def _unit(body: Mapping[str, Any], known: tuple[str, ...], name: str, where: str) -> str:
    unit = text(body.get("unit"), name, f"{where}.unit")
    if unit not in known:
        raise BadInput(f"unit {unit[:40]} is not {' or '.join(known)}", "another tool or version wrote this", file=name,
                       key=f"{where}.unit")
    return unit


def _bounds(body: Mapping[str, Any], name: str, where: str) -> None:
    """No statistic lies outside the least and the greatest value; a cent of rounding aside."""
    low, high = body.get("min"), body.get("max")
    for stat in STATS:
        if low is None or high is None or body.get(stat) is None:
            continue
        value = number(body[stat], name, f"{where}.{stat}")
        least, most = number(low, name, f"{where}.min"), number(high, name, f"{where}.max")
        if not least - 1e-6 * abs(least) <= value <= most + 1e-6 * abs(most):
            raise BadInput(f"{value:g} lies outside {least:g} to {most:g}", "the file was changed", file=name,
                           key=f"{where}.{stat}")


def workload(parameters: Mapping[str, Any]) -> str | None:
    """What a sweep varied beside the concurrency, as `rate=4, isl=128`; None where that is nothing."""
    told = {key.rsplit(".", 1)[-1]: value for key, value in parameters.items()}
    told.pop("concurrency", None)
    return ", ".join(f"{key}={value}" for key, value in sorted(told.items())) or None


def asked(config: Any) -> str | None:
    """The lengths and the rate that a run was asked for, in the words of recipes where these have some."""
    config = config if isinstance(config, dict) else {}
    prompts = next((data["prompts"] for data in _dicts(config.get("datasets")) if isinstance(data.get("prompts"), dict)), {})
    isl, osl = (side.get("mean") if isinstance(side := prompts.get(key), dict) else None for key in ("isl", "osl"))
    words = [lengths(_whole(isl), _whole(osl)), *(f"rate={phase['rate']}" for phase in phases(config) if phase.get("rate"))]
    return ", ".join(filter(None, words)) or None


def line(config: Any) -> Line:
    """The line of a run, of which the load generator knows the model alone: under `models`, or in older versions the endpoint."""
    config = config if isinstance(config, dict) else {}
    models, endpoint = (part if isinstance(part := config.get(key), dict) else {} for key in ("models", "endpoint"))
    old = endpoint.get("model_names")
    told = [item.get("name") for item in _dicts(models.get("items"))] or (old if isinstance(old, list) else [])
    names = [served(name) for name in told if isinstance(name, str) and name]
    return Line(served="+".join(names) or None)


def phases(config: Any) -> list[dict[str, Any]]:
    """The profiling phases of a run's configuration."""
    found = config.get("phases") if isinstance(config, dict) else None
    return [phase for phase in _dicts(found) if "profiling" in (phase.get("kind"), phase.get("name"))]


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1 else None
