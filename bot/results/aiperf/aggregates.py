"""AIPerf's summaries over several of its runs: repeats of one point (`..._aggregate.json`), and a sweep (`..._sweep.json`).

Both hold means over runs. Where the runs themselves are at hand they count, and this does not: a mean beside its own
three values would weigh a fourth time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.aiperf import names as aiperf_names
from bot.results.parsed import SUMMED, Context, Parsed, elements, has
from bot.results.read import count, document, mapping

FORMAT = "aiperf-runs"


def sniff(head: bytes, name: str) -> bool:
    return head.lstrip()[:1] == b"{" and has(head, "aggregation_type", "num_profile_runs") and not has(head, "combined")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """The mean over the successful runs of each point. A summary of no run is refused."""
    whole = mapping(document(stream, name), name, "")
    if "per_combination_metrics" in whole:
        _some(whole, name, "")
        return Parsed(rank=SUMMED, rows=_sweep(whole, name, context))
    told = mapping(whole.get("metadata"), name, "metadata")
    _some(told, name, "metadata.")
    varied = told.get("variation_values")
    varied = mapping(varied, name, "metadata.variation_values") if varied else {}
    concurrency = _concurrency(varied, name, "metadata.variation_values")
    point = context.cell(concurrency, aiperf_names.workload(varied))
    return Parsed(rank=SUMMED, concurrency=concurrency,
                  rows=_rows(mapping(whole.get("metrics"), name, "metrics"), point, name, "metrics", context))


def _some(told: Mapping[str, Any], name: str, key: str) -> None:
    if count(told.get("num_successful_runs"), name, f"{key}num_successful_runs") == 0:
        raise BadInput("no run succeeded", "nothing was measured; run it again", file=name, key=f"{key}num_successful_runs")


def _sweep(whole: Mapping[str, Any], name: str, context: Context) -> tuple[Row, ...]:
    rows: list[Row] = []
    seen: set[Cell] = set()
    for index, item in elements(whole["per_combination_metrics"]):
        key = f"per_combination_metrics{index}"
        part = mapping(item, name, key)
        varied = mapping(part.get("parameters"), name, f"{key}.parameters")
        point = context.cell(_concurrency(varied, name, f"{key}.parameters"), aiperf_names.workload(varied))
        if point in seen:
            raise BadInput(f"concurrency {point.concurrency} stands twice", "keep one", file=name, key=key)
        seen.add(point)
        rows += _rows(mapping(part.get("metrics"), name, f"{key}.metrics"), point, name, f"{key}.metrics", context)
    if not rows:
        raise BadInput("no measured value", "the sweep is incomplete", file=name, key="per_combination_metrics")
    return tuple(rows)


def _rows(metrics: Mapping[str, Any], point: Cell, name: str, key: str, context: Context) -> tuple[Row, ...]:
    """A combination that ran once is told by metric, one that ran several times by metric and statistic."""
    found = aiperf_names.summed(metrics, name, key) or aiperf_names.values(metrics, name, key)
    if not found:
        raise BadInput("no measured value", "the run is incomplete", file=name, key=key)
    return tuple(context.row(point, one.metric, one.value, one.unit, stat=one.stat) for one in found)


def _concurrency(varied: Mapping[str, Any], name: str, key: str) -> int | None:
    for written, value in varied.items():
        if written.rsplit(".", 1)[-1] == "concurrency":
            return count(value, name, f"{key}.{written}", least=1)
    return None
