"""AIPerf's summary of one run (`profile_export_aiperf.json`): rates, latencies in milliseconds, and the load asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Accounting
from bot.results.aiperf import names as aiperf_names
from bot.results.parsed import GENERATOR, UNKNOWN, Context, Parsed, any_of
from bot.results.read import count, document, mapping, optional

FORMAT = "aiperf-summary"
_OF_A_PHASE = re.compile(r"(^|/)phases/[^/]+/[^/]+$")
"""AIPerf writes a summary of each phase beside that of the run: the warm-up's is no result, and profiling's the same again."""


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] == b"{"
        and any_of(head, "aiperf_version", "input_config", "completed_request_count")
        and any_of(head, "request_throughput", "request_latency", "request_count", "error_request_count")
        and not any_of(head, "metrics_phase", "benchmark_phase", "aggregation_type")
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Rows and the concurrency asked for. A run that did not complete is refused: its rates are of a part."""
    if _OF_A_PHASE.search(name):
        return Parsed(nothing="not-a-result")
    whole = mapping(document(stream, name), name, "")
    if whole.get("was_cancelled") is True or whole.get("is_complete") is False:
        raise BadInput("the run did not complete", "run it again", file=name, key="is_complete")
    concurrency = _concurrency(whole, name)
    n = _counted(whole, "request_count", name)
    found = aiperf_names.values(whole, name)
    if not found:
        raise BadInput("no measured value", "the run is incomplete", file=name)
    ran = optional(whole, "run_info", "variation_values")
    own = aiperf_names.line(whole.get("input_config"))
    point = context.cell(concurrency, aiperf_names.workload(ran if isinstance(ran, dict) else {})
                         or aiperf_names.asked(whole.get("input_config")), line=own)
    named = whole.get("benchmark_id") or optional(whole, "run_info", "benchmark_id")
    return Parsed(
        rank=GENERATOR,
        lines=(own,) if own.name else (),
        concurrency=concurrency,
        measurement=named if isinstance(named, str) else "",
        rows=tuple(context.row(point, one.metric, one.value, one.unit, stat=one.stat, n=n) for one in found),
        accounting=tuple(structs.replace(one, recipe="" if context.recipe else own.name)
                         for one in _accounting(whole, n, concurrency, name)),
    )


def _accounting(whole: Mapping[str, Any], kept: int | None, concurrency: int | None, name: str) -> tuple[Accounting, ...]:
    """The requests of the profiling phase; the export beside it, which knows the warm-up too, outweighs this."""
    failed = _counted(whole, "error_request_count", name)
    if kept is None or failed is None:
        return ()
    return (Accounting(concurrency=concurrency or UNKNOWN, total=kept + failed, profiled=kept, warmup_invalid=0,
                       profiling_invalid=failed),)


def _counted(whole: Mapping[str, Any], field: str, name: str) -> int | None:
    found = optional(whole, field, "avg")
    return None if found is None else count(found, name, f"{field}.avg")


def _concurrency(whole: Mapping[str, Any], name: str) -> int | None:
    """The concurrency of the profiling phase; older versions name it under `loadgen`. None for a load by rate."""
    for phase in aiperf_names.phases(whole.get("input_config")):
        if phase.get("concurrency") is not None:
            return count(phase["concurrency"], name, "input_config.phases.concurrency", least=1)
    found = optional(whole, "input_config", "loadgen", "concurrency")
    return None if found is None else count(found, name, "input_config.loadgen.concurrency", least=1)
