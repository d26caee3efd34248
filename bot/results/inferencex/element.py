"""One element of InferenceX's throughput results: fixed-sequence (single or multi node) or agentic.

`results_bmk` mixes both kinds in one list, so the element decides and not the file. Field list: the repository's
process_result.py and process_agentic_result.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Row
from bot.results.inferencex import flat
from bot.results.lines import Line, line
from bot.results.parsed import Context, Parsed, at, elements
from bot.results.read import LARGEST, count, mapping, number, optional, text
from bot.results.topology import topology, workload

_STATS = ("mean", "p50", "p75", "p90", "p95", "p99")
_FIELDS: tuple[tuple[str, str | None, str, tuple[str, ...]], ...] = (
    ("tput_per_gpu", None, "tok/s/GPU", ("request_metrics", "throughput", "per_gpu", "total_tput_tps")),
    ("output_tput_per_gpu", None, "tok/s/GPU", ("request_metrics", "throughput", "per_gpu", "output_tput_tps")),
    ("input_tput_per_gpu", None, "tok/s/GPU", ("request_metrics", "throughput", "per_gpu", "input_tput_tps")),
    ("output_tput", None, "tok/s", ("request_metrics", "throughput", "output", "tokens_per_second")),
    ("input_tput", None, "tok/s", ("request_metrics", "throughput", "input", "tokens_per_second")),
    ("total_tput", None, "tok/s", ("request_metrics", "throughput", "total", "tokens_per_second")),
    ("request_tput", None, "req/s", ("request_metrics", "qps", "mean")),
    *((metric, stat, unit, ("request_metrics", "latency", metric, stat)) for metric, unit in flat.TIMED.items() for stat in _STATS),
    *(
        (metric, None, "share", ("server_metrics", "cache", metric))
        for metric in ("gpu_cache_hit_rate", "cpu_cache_hit_rate", "external_cache_hit_rate")
    ),
    ("profiled_requests", None, "requests", ("num_requests_successful",)),
    ("input_tokens", "mean", "tokens", ("request_metrics", "tokens", "input", "mean")),
    ("output_tokens", "mean", "tokens", ("request_metrics", "tokens", "output_actual", "mean")),
    ("duration", None, "s", ("request_metrics", "throughput", "duration_seconds")),
)


def parse_elements(value: Any, name: str, context: Context) -> Parsed:
    """Every element, or BadInput. The same measured point twice is refused: which of the two would be judged?"""
    rows: list[Row] = []
    accounting: list[Accounting] = []
    seen: set[Cell] = set()
    lines: dict[Line, None] = {}
    for key, item in elements(value):
        row = mapping(item, name, key)
        own = line(row)
        point = _point(row, own, name, key, context)
        if point in seen and own in lines:
            raise BadInput(f"concurrency {point.concurrency} stands twice", "keep one measurement", file=name, key=key)
        seen.add(point)
        lines[own] = None
        agentic = "request_metrics" in row
        rows += _agentic(row, point, name, key, context) if agentic else _fixed(row, point, name, key, context)
        known = _accounting(row, point, name, key) if agentic else None
        accounting += [structs.replace(known, recipe="" if context.recipe else own.name)] if known else []
    return Parsed(rows=tuple(rows), accounting=tuple(accounting), lines=tuple(lines),
                  nothing="" if rows or not lines else "nothing-measured")


def _point(row: Mapping[str, Any], own: Line, name: str, key: str, context: Context) -> Cell:
    return Cell(
        recipe=context.whose(own),
        concurrency=count(row.get("conc"), name, at(key, "conc"), least=1),
        workload=workload(row),
        topology=topology(row),
        fingerprint=_told(row, "recipe_fingerprint", name, key),
    )


def _fixed(row: Mapping[str, Any], point: Cell, name: str, key: str, context: Context) -> tuple[Row, ...]:
    if row.get("tput_per_gpu") is None:
        raise BadInput("no throughput in this row", "the run is incomplete", file=name, key=at(key, "tput_per_gpu"))
    return flat.rows(row, point=point, image=_told(row, "image", name, key), context=context, name=name, key=key)


def _agentic(row: Mapping[str, Any], point: Cell, name: str, key: str, context: Context) -> tuple[Row, ...]:
    measured = mapping(row["request_metrics"], name, at(key, "request_metrics"))
    profiled = count(row.get("num_requests_successful"), name, at(key, "num_requests_successful"))
    if not profiled:
        return ()  # its rates are of nothing; the requests that failed are in its accounting
    if optional(measured, "throughput", "per_gpu", "total_tput_tps") is None:
        raise BadInput(
            "no throughput in this row",
            "the run is incomplete",
            file=name,
            key=at(key, "request_metrics.throughput.per_gpu.total_tput_tps"),
        )
    image = _told(row, "image", name, key)
    made = []
    for metric, stat, unit, where in _FIELDS:
        value = optional(row, *where)
        if value is None:
            continue
        checked = number(value, name, at(key, ".".join(where)), most=1.0 if unit == "share" else LARGEST)
        made.append(context.row(point, metric, checked, unit, stat=stat, n=profiled, image=image))
    return tuple(made)


def _accounting(row: Mapping[str, Any], point: Cell, name: str, key: str) -> Accounting | None:
    """What this row proves: it counts errors of all phases together, and a warm-up error as both. A record that is neither
    profiled nor of the warm-up is a profiling error, as 7 of 252 in a real row with 234 profiled, 11 of the warm-up and 17 errors.

    Where the counts do not close, only the errors that the warm-up cannot hold are sure; none is ever left unsaid.
    """
    made = row.get("request_accounting")
    if made is None:
        return None
    where = at(key, "request_accounting")
    made = mapping(made, name, where)
    needed = ("records_total", "records_profiled", "records_warmup_dropped", "records_error_dropped")
    if any(made.get(part) is None for part in needed):
        return None
    total, profiled, warmup, errors = (count(made[part], name, f"{where}.{part}") for part in needed)
    sure, rest = max(errors - warmup, 0), total - profiled - warmup
    failed = rest if sure <= rest <= errors else sure
    return Accounting(concurrency=point.concurrency, total=total, profiled=profiled, warmup_invalid=errors - failed,
                      profiling_invalid=failed)


def _told(row: Mapping[str, Any], field: str, name: str, key: str) -> str | None:
    return text(row[field], name, at(key, field)) if row.get(field) else None
