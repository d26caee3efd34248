"""AIPerf's scrape of the server's own metrics (`server_metrics_export.json`): cache hits, and the version that says it ran.

Hit rates are sums over all endpoints: a mean of rates would let an idle worker weigh as much as a busy one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Reported
from bot.results.parsed import GENERATOR, UNKNOWN, Context, Parsed, any_of, has
from bot.results.read import document, mapping, number, optional

FORMAT = "aiperf-server-metrics"
_HITS = (
    ("gpu_cache_hit_rate", "vllm:prefix_cache_hits", "vllm:prefix_cache_queries"),
    ("external_cache_hit_rate", "vllm:external_prefix_cache_hits", "vllm:external_prefix_cache_queries"),
    ("gpu_cache_hit_rate", "sglang:cached_tokens", "sglang:prompt_tokens"),
)
_GAUGES = (("gpu_cache_hit_rate", "sglang:cache_hit_rate"),)
_ENGINES = {"vllm": "vllm", "sglang": "sglang", "trtllm": "trtllm", "tensorrt_llm": "trtllm"}
_TOLD = {"version": "version", "commit": "commit", "git_sha": "commit", "git_commit": "commit", "digest": "digest",
         "image": "image"}


def sniff(head: bytes, name: str) -> bool:
    return head.lstrip()[:1] == b"{" and has(head, "endpoints_configured", "endpoints_successful", "summary") and not any_of(
        head, "telemetry_data", "request_throughput")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Hit rates and reported versions. An export that holds neither is no result: it is named, and no error."""
    whole = mapping(document(stream, name), name, "")
    metrics = mapping(whole.get("metrics"), name, "metrics")
    rates: dict[str, float] = {}
    for metric, hits, asked in _HITS:
        part, of = _total(metrics, hits, name), _total(metrics, asked, name)
        if part is None or not of:
            continue
        if part > of:
            raise BadInput(f"{part:g} hits of {of:g}", "the counters are broken", file=name, key=f"metrics.{hits}")
        rates.setdefault(metric, part / of)
    for metric, gauge in _GAUGES:
        told = [number(value, name, f"metrics.{gauge}", most=1.0) for value in _values(metrics, gauge, "avg", name)]
        if told:
            rates.setdefault(metric, sum(told) / len(told))
    point = context.cell(None)
    reported = tuple(dict.fromkeys(_reported(metrics, name)))
    named = whole.get("benchmark_id")
    return Parsed(
        rank=GENERATOR,
        measurement=named if isinstance(named, str) else "",
        rows=tuple(context.row(point, metric, value, "share") for metric, value in sorted(rates.items())),
        reported=reported,
        nothing="" if rates or reported else "not-a-result",
    )


def _total(metrics: Mapping[str, Any], family: str, name: str) -> float | None:
    """The increase of a counter over all its series; None where the server does not have it."""
    for written in (family, f"{family}_total"):
        told = [number(value, name, f"metrics.{written}") for value in _values(metrics, written, "total", name)]
        if told:
            return sum(told)
    return None


def _values(metrics: Mapping[str, Any], family: str, stat: str, name: str) -> Iterator[Any]:
    for series in _series(metrics, family, name):
        value = optional(series, "stats", stat)
        if value is not None:
            yield value


def _series(metrics: Mapping[str, Any], family: str, name: str) -> list[dict[str, Any]]:
    body = metrics.get(family)
    told = mapping(body, name, f"metrics.{family}").get("series") if body is not None else None
    told = told if isinstance(told, list) else []
    return [mapping(one, name, f"metrics.{family}.series[{index}]") for index, one in enumerate(told)]


def _reported(metrics: Mapping[str, Any], name: str) -> Iterator[Reported]:
    """Labels of an engine's own info metric. `python_info` has a version too, and it is the interpreter's."""
    for family in sorted(metrics):
        engine = next((own for word, own in _ENGINES.items() if family.replace(":", "_").lower().startswith(word)), "")
        if not family.endswith("info") or not engine:
            continue
        for series in _series(metrics, family, name):
            labels = series.get("labels")
            for label, value in sorted(labels.items()) if isinstance(labels, dict) else ():
                kind = _TOLD.get(label.removeprefix("vllm_").removeprefix("sglang_"))
                if kind and isinstance(value, str) and value:
                    yield Reported(kind=kind, value=value, file=name, concurrency=UNKNOWN, engine=engine)
