"""The rows of the published-baseline API (CONTRACT.md 7.2) as our own, in canonical names and units.

A published value is taken for what was measured, so one that cannot be (negative, not a number, told twice and differently)
is left out and counted; it is never mended.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from bot.baseline import identity
from bot.model.result import Cell, Row
from bot.results.inferencex.published import run_of, sized
from bot.results.metrics import Metrics
from bot.results.parsed import UNKNOWN
from bot.results.shares import correct_of
from bot.results.topology import topology, workload

AGENTIC = "agentic_traces"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LINE = ("hardware", "framework", "model", "precision", "spec_method", "disagg", "decode_tp", "decode_ep",
         "decode_dp_attention")
_TEXTS = ("hardware", "framework", "model", "precision", "spec_method", "benchmark_type", "offload_mode", "image",
          "recipe_fingerprint", "run_url", "date")
_ROUNDED = 1e-6


class Producer(Struct, frozen=True, kw_only=True):
    """The run that measured some points; `run` is None where the row names none."""

    run: int | None
    attempt: int | None
    date: str
    agentic: bool


class Point(Struct, frozen=True, kw_only=True):
    """One published point whose row holds, with its identity; `metrics` are finite numbers, none negative, and `refused`
    are those that were not, by name, each with the word for what is wrong with it."""

    row: Mapping[str, Any]
    concurrency: int
    date: str
    image: str
    fingerprint: str
    identity: str
    run: int | None
    attempt: int | None
    metrics: dict[str, float]
    refused: dict[str, str] = {}

    @property
    def place(self) -> tuple[object, ...]:
        """Which measurement this is: the same one may stand in two answers, of which one names more sizes."""
        return (self.run, self.date, self.image, self.fingerprint or self.identity, self.concurrency,
                self.row.get("benchmark_type"), self.row.get("isl"), self.row.get("osl"), self.row.get("offload_mode"))

    @property
    def producer(self) -> Producer:
        return Producer(run=self.run, attempt=self.attempt, date=self.date, agentic=self.row.get("benchmark_type") == AGENTIC)


def dicts(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else the answer may hold is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, (list, tuple)) else []


def text(value: Any) -> str:
    """The text as it is, and nothing in place of what is none."""
    return value if isinstance(value, str) else ""


def points(rows: Iterable[Any]) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The rows that hold, one a measurement (of a run's attempts at a point the last), and notes on the others:
    `rows-refused:3` could not be read, `points-contradict:16` stand twice with different values, which are left out. Values that
    are no measurements stand with their point."""
    told: dict[tuple[object, ...], list[Point]] = {}
    broken: dict[str, None] = {}
    for row in rows:
        found = _point(row)
        if found is None:
            broken[repr(row)] = None
        elif found not in told.setdefault(found.place, []):
            told[found.place].append(found)
    kept, contradicted = list[Point](), set[int]()
    for same in told.values():
        last = max(one.attempt or 0 for one in same)
        point, differ = _together([one for one in same if (one.attempt or 0) == last])
        kept.append(point)
        contradicted |= {point.concurrency} if differ else set()
    notes = [f"rows-refused:{len(broken)}"] if broken else []
    notes += [f"points-contradict:{', '.join(map(str, sorted(contradicted)))}"] if contradicted else []
    return tuple(kept), tuple(notes)


def _point(row: Any) -> Point | None:
    """A row as a point; None for one whose own words are of the wrong kind. Values that are none are named."""
    if not isinstance(row, dict) or any(not isinstance(row.get(name), (str, type(None))) for name in _TEXTS):
        return None
    conc, told, day = row.get("conc"), row.get("metrics"), text(row.get("date"))[:10]
    if not _whole(conc) or not isinstance(told, dict) or not _DAY.fullmatch(day):
        return None
    if any(row.get(name) is not None and not _whole(row[name]) for name in ("isl", "osl")):
        return None
    good = {name: float(value) for name, value in told.items() if _finite(value) and value >= 0}
    run, attempt = run_of(row)
    return Point(row=row, concurrency=conc, date=day, image=text(row.get("image")), metrics=good, run=run, attempt=attempt,
                 fingerprint=text(row.get("recipe_fingerprint")), identity=identity.of_row(sized(row)),
                 refused={name: "negative" if value < 0 else "infinite" for name, value in told.items()
                          if name not in good and _number(value)})


def _together(same: Sequence[Point]) -> tuple[Point, bool]:
    """One measurement as its answers tell it together, for each may leave something out; where two differ neither is
    believed, and the second word says so."""
    values: dict[str, list[float]] = {}
    for name, value in (item for one in same for item in one.metrics.items()):
        values.setdefault(name, []).append(value)
    agreed = {name: found[0] for name, found in values.items() if max(found) - min(found) <= _ROUNDED * max(found)}
    refused = {name: why for one in same for name, why in one.refused.items()}
    return structs.replace(same[0], metrics=agreed, refused=refused), len(agreed) < len(values)


def performance_rows(found: Iterable[Point], recipe: str, head: str | None, metrics: Metrics) -> tuple[Row, ...]:
    """Every declared metric of every point of one run, once, whose head commit is `head`."""
    made: dict[tuple[Cell, str, str | None], Row] = {}
    for point in sorted(found, key=lambda point: point.concurrency):
        cell = _cell(point, recipe)
        for name, value in point.metrics.items():
            spelled = metrics.spelled(name)
            factor = metrics.factor(spelled[2], spelled[0]) if spelled else None
            if spelled is None or factor is None:
                continue
            metric, stat, _ = spelled
            made.setdefault((cell, metric.id, stat), Row(
                point=cell, metric=metric.id, stat=stat, value=value * factor, unit=metric.unit, run=point.run,
                attempt=point.attempt, head=head, image=point.image or None))
    return tuple(made.values())


def eval_rows(evals: Iterable[Mapping[str, Any]], found: Sequence[Point], recipe: str, producer: Producer,
              head: str | None) -> tuple[Row, ...]:
    """Evals of the producing run and configuration. They name neither image nor fingerprint: the run ties them."""
    lines = [{key: point.row[key] for key in _LINE if key in point.row} for point in found]
    kept: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in evals:
        ours = producer.run is not None and run_of(row)[0] == producer.run and any(_fits(row, line) for line in lines)
        task, conc = text(row.get("task")), row.get("conc")
        if not ours or not task:
            continue
        point = (task, conc if _whole(conc) else UNKNOWN)
        if point not in kept or text(row.get("timestamp")) >= text(kept[point].get("timestamp")):
            kept[point] = row
    return tuple(made for point, row in sorted(kept.items(), key=lambda item: item[0])
                 for stat in ("strict", "flexible")
                 if (made := _eval(point, row, stat, found, recipe, producer, head)))


def _eval(at: tuple[str, int], row: Mapping[str, Any], stat: str, found: Sequence[Point], recipe: str,
          producer: Producer, head: str | None) -> Row | None:
    """One filter's score: both filters gate, so both need their baseline. A score without a filter is the strict one."""
    told, (task, concurrency) = _mapping(row.get("metrics")), at
    value = told.get(f"em_{stat}", told.get("score") if stat == "strict" else None)
    n = told.get("n_eff")
    if not _finite(value) or not 0 <= value <= 1:
        return None
    n = int(n) if _finite(n) and n == int(n) and n > 0 else None
    beside = next((point for point in found if point.concurrency == concurrency), found[0])
    cell = Cell(recipe=recipe, concurrency=concurrency, workload=None, topology=topology(sized(beside.row)),
                fingerprint=beside.fingerprint or None)
    return Row(
        point=cell, metric="eval", value=float(value), unit="share", n=n, run=producer.run,
        attempt=run_of(row)[1] or producer.attempt, head=head, image=beside.image or None, task=task,
        stat=stat, correct=correct_of(float(value), n))


def _cell(point: Point, recipe: str) -> Cell:
    return Cell(recipe=recipe, concurrency=point.concurrency, workload=workload(point.row), topology=topology(sized(point.row)),
                fingerprint=point.fingerprint or None)


def _fits(row: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    return all(row[key] == value for key, value in line.items() if key in row)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return _number(value) and abs(value) < 1e300 and math.isfinite(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
