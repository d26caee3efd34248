"""The rows of the published-baseline API (CONTRACT.md 7.2) as our own, in canonical names and units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.model.result import Cell, Row
from bot.results.metrics import Metrics
from bot.results.parsed import UNKNOWN
from bot.results.topology import topology, workload

AGENTIC = "agentic_traces"
_RUN = re.compile(r"/actions/runs/(\d{1,18})(?:/attempts/(\d{1,4}))?/?$")
# Sizes that the database's own configuration key lacks; they are told among the metrics.
_SIZES = ("pp", "dcp_size", "pcp_size")
_LINE = ("hardware", "framework", "model", "precision", "spec_method", "disagg", "decode_tp", "decode_ep",
         "decode_dp_attention")


class Producer(Struct, frozen=True, kw_only=True):
    """The run that measured the points: of several, the newest."""

    run: int | None
    attempt: int | None
    date: str
    agentic: bool
    notes: tuple[str, ...] = ()


def dicts(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else the answer may hold is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, (list, tuple)) else []


def text(value: Any) -> str:
    """The text as it is, and nothing in place of what is none."""
    return value if isinstance(value, str) else ""


def run_of(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Run and attempt of a row's run_url; evals name no attempt."""
    found = _RUN.search(text(row.get("run_url")))
    return (int(found[1]), int(found[2]) if found[2] else None) if found else (None, None)


def newest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One row a point of one fingerprint: swept twice on a day, it is that of the newest run and attempt."""
    kept: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in rows:
        point = (row.get("conc"), row.get("benchmark_type"), row.get("isl"), row.get("osl"))
        if point not in kept or _age(row) >= _age(kept[point]):
            kept[point] = row
    return sorted(kept.values(), key=lambda row: row["conc"] if isinstance(row.get("conc"), int) else 0)


def producer_of(rows: Sequence[Mapping[str, Any]]) -> Producer:
    """Where the rows come from, with a note when not all of them come from one run."""
    newest_row = max(rows, key=_age)
    runs = sorted({run for run, _ in map(run_of, rows) if run is not None})
    run, attempt = run_of(newest_row)
    notes = [f"points-from-runs:{', '.join(map(str, runs))}"] if len(runs) > 1 else []
    notes += ["run-unpublished"] if run is None else []
    return Producer(run=run, attempt=attempt, date=text(newest_row.get("date")), notes=tuple(notes),
                    agentic=newest_row.get("benchmark_type") == AGENTIC)


def performance_rows(rows: Iterable[Mapping[str, Any]], recipe: str, producer: Producer, head: str | None,
                     metrics: Metrics) -> tuple[Row, ...]:
    """Every declared metric of every point. `head` is known for the producing run only; other runs' rows carry none."""
    made = []
    for row in rows:
        run, attempt = run_of(row)
        cell = _cell(row, recipe)
        for name, value in _mapping(row.get("metrics")).items():
            found = metrics.spelled(name)
            if cell is None or found is None or not _finite(value):
                continue
            metric, stat, unit = found
            factor = metrics.factor(unit, metric)
            if factor is None:
                continue
            made.append(Row(
                point=cell, metric=metric.id, stat=stat, value=value * factor, unit=metric.unit, run=run,
                attempt=attempt, head=head if run == producer.run else None, image=text(row.get("image")) or None))
    return tuple(made)


def eval_rows(evals: Iterable[Mapping[str, Any]], points: Sequence[Mapping[str, Any]], recipe: str, producer: Producer,
              head: str | None) -> tuple[Row, ...]:
    """Evals of the producing run and configuration. They name neither image nor fingerprint: the run ties them."""
    lines = [{key: point[key] for key in _LINE if key in point} for point in points]
    kept: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in evals:
        ours = producer.run is not None and run_of(row)[0] == producer.run and any(_fits(row, line) for line in lines)
        task, conc = text(row.get("task")), row.get("conc")
        if not ours or not task:
            continue
        point = (task, conc if isinstance(conc, int) and not isinstance(conc, bool) else UNKNOWN)
        if point not in kept or text(row.get("timestamp")) >= text(kept[point].get("timestamp")):
            kept[point] = row
    return tuple(made for point, row in sorted(kept.items(), key=lambda item: item[0])
                 for stat in ("strict", "flexible")
                 if (made := _eval(point, row, stat, points, recipe, producer, head)))


def _eval(point: tuple[str, int], row: Mapping[str, Any], stat: str, points: Sequence[Mapping[str, Any]], recipe: str,
          producer: Producer, head: str | None) -> Row | None:
    """One filter's score: both filters gate, so both need their baseline. A score without a filter is the strict one."""
    told, (task, concurrency) = _mapping(row.get("metrics")), point
    value = told.get(f"em_{stat}", told.get("score") if stat == "strict" else None)
    n = told.get("n_eff")
    if not _finite(value) or not 0 <= value <= 1:
        return None
    n = int(n) if _finite(n) and n == int(n) and n > 0 else None
    beside = next((p for p in points if p.get("conc") == concurrency), points[0])
    cell = Cell(recipe=recipe, concurrency=concurrency, workload=None, topology=topology(_sized(beside)),
                fingerprint=text(beside.get("recipe_fingerprint")) or None)
    return Row(
        point=cell, metric="eval", value=float(value), unit="share", n=n, run=producer.run,
        attempt=run_of(row)[1] or producer.attempt, head=head, image=text(beside.get("image")) or None, task=task,
        stat=stat, correct=_correct(value, n))


def _correct(value: float, n: int | None) -> int | None:
    """Right answers, where the published share tells them: shares are rounded, so n x share must come near a whole
    number, and n be small enough for the rounding (four decimals) to leave one."""
    if n is None:
        return None
    whole = round(value * n)
    return whole if abs(value * n - whole) <= max(0.01, 0.00006 * n) < 0.5 else None


def _cell(row: Mapping[str, Any], recipe: str) -> Cell | None:
    conc = row.get("conc")
    if not isinstance(conc, int) or isinstance(conc, bool) or conc < 1:
        return None
    return Cell(recipe=recipe, concurrency=conc, workload=workload(row), topology=topology(_sized(row)),
                fingerprint=text(row.get("recipe_fingerprint")) or None)


def _sized(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the sizes told among its metrics put where the configuration's other sizes stand."""
    told, made = _mapping(row.get("metrics")), dict(row)
    for size in _SIZES:
        for side in ("prefill_", "decode_"):
            value = told.get(side + size, told.get(size))
            if _finite(value) and value == int(value):
                made.setdefault(side + size, int(value))
    return made


def _fits(row: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    return all(row[key] == value for key, value in line.items() if key in row)


def _age(row: Mapping[str, Any]) -> tuple[str, int, int]:
    run, attempt = run_of(row)
    return text(row.get("date")), run or 0, attempt or 0


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
