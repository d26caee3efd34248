"""The rule that is shipped on drawn sweeps: first verdict, one re-run of its suspects, final verdict.

Counted is `bot.verdict.rule`, which `bot.verdict.compare` is made of, because it is ten times faster than the way from rows
to verdict; `agree` holds a sample of every cell against `compare` itself in each run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from benchmarks.verdicts_draws import Array, Cell, Protocol, Sweeps
from bot.model.result import Cell as Point
from bot.model.result import Judgement, Row, Verdict
from bot.results.metrics import Metrics, parse
from bot.verdict.compare import compare
from bot.verdict.noise import Noise, floored
from bot.verdict.rule import Point as Effect
from bot.verdict.rule import Ruling, rule
from bot.verdict.words import worst

SAMPLE = 10
"""Sweeps of each cell that are judged both ways."""
NEW = 1000
"""The run of the new image; published ones are numbered from 1."""


@cache
def shipped() -> Metrics:
    """The metrics, margins and floors that bumpbot comes with."""
    return parse(files("bot").joinpath("knowledge", "metrics.yaml").read_bytes())


def scaled(metrics: Metrics, *, margin: float, noise: float = 1) -> Metrics:
    """The same metrics with every performance margin, and the noise they are taken to have, multiplied."""
    made = []
    for metric in metrics.values():
        if metric.primary and metric.margin and metric.sigma and metric.tau:
            floors = tuple(structs.replace(one, sigma=one.sigma * noise, tau=one.tau * noise) for one in metric.floors)
            metric = structs.replace(metric, margin=metric.margin * margin, sigma=metric.sigma * noise, tau=metric.tau * noise,
                                     floors=floors)
        made.append(metric)
    return Metrics(made)


def ledger(frozen: Protocol, cell: Cell) -> dict[str, Noise]:
    """What the ledger tells the rule, by metric: the protocol's noise, or a multiple where the ledger is wide of it."""
    times = frozen.noise[cell.noise].ledger
    return {name: Noise(sigma=metric.sigma * times, tau=metric.tau * times) for name, metric in frozen.metrics.items()}


class Outcome(NamedTuple):
    """What a sweep came to after its one re-run: the verdict, the concurrencies that were measured again, and whether the
    pool of some metric was called improved."""

    verdict: Judgement
    asked: frozenset[int]
    improved: bool


class Terms(Struct, frozen=True, kw_only=True):
    """What the rule is told beside the numbers, by metric: its margin, and the noise that it takes it to have."""

    margins: tuple[float, ...]
    noises: tuple[Noise, ...]


class Effects(Struct, frozen=True, kw_only=True):
    """Log ratios of a block to the median of the published runs, [sweep][point][metric]: the new run, its re-run, and both."""

    first: list[list[list[float]]]
    again: list[list[list[float]]]
    whole: list[list[list[float]]]
    lost: list[int] | None
    history: int


def terms(frozen: Protocol, metrics: Metrics, noise: Mapping[str, Noise]) -> Terms:
    """The margins and noise of `metrics` where the ledger says `noise`."""
    chosen = [metrics[name] for name in frozen.metrics]
    noises = [floored(metric, metric.stat, None, noise.get(metric.id)) for metric in chosen]
    return Terms(margins=tuple(metric.margin or math.inf for metric in chosen), noises=tuple(one for one in noises if one))


def effects(frozen: Protocol, sweeps: Sweeps) -> Effects:
    """The numbers of a block that the rule sees."""
    new, again, base = sweeps.values[:, -2], sweeps.values[:, -1], np.median(sweeps.values[:, :-2], axis=1)
    first, second, whole = (frozen.signs * np.log(values / base) for values in (new, again, (new + again) / 2))
    lost = None if sweeps.lost is None else sweeps.lost.tolist()
    return Effects(first=first.tolist(), again=second.tolist(), whole=whole.tolist(), lost=lost, history=sweeps.history)


def settled(frozen: Protocol, held: Effects, index: int, told: Terms) -> Outcome:
    """One sweep under `bot.verdict.rule`, with the numbers that `compare` would hand it (`compared` is the long way)."""
    points = [point for point in range(len(frozen.concurrencies)) if held.lost is None or point != held.lost[index]]
    rulings = _rulings(held, index, points, told, frozenset())
    asked = frozenset(points[place] for ruling in rulings for place in ruling.suspects)
    if asked:
        rulings = _rulings(held, index, points, told, asked)
    # `compare` keeps a sweep open that lacks a point of the baseline, whatever the others say.
    lacking: tuple[Judgement, ...] = () if held.lost is None else ("inconclusive",)
    return Outcome(worst((*(ruling.finding for ruling in rulings), *lacking)) or "inconclusive",
                   frozenset(frozen.concurrencies[point] for point in asked),
                   any(ruling.finding == "improved" for ruling in rulings))


def _rulings(held: Effects, index: int, points: Sequence[int], told: Terms, asked: frozenset[int]) -> list[Ruling]:
    first, again, whole = held.first[index], held.again[index], held.whole[index]
    return [
        rule([Effect(first[point][metric], (again[point][metric],), held.history, 1, whole[point][metric]) if point in asked
              else Effect(first[point][metric], (), held.history) for point in points], margin=margin, noise=noise)
        for metric, (margin, noise) in enumerate(zip(told.margins, told.noises, strict=True))
    ]


def count(frozen: Protocol, cell: Cell, sweeps: Sweeps, metrics: Metrics, limit: int | None = None) -> Counter[str]:
    """How often what came out over the first `limit` sweeps of a block: `n`, the final verdicts, `suspect` first verdicts,
    `rerun points` that were measured again, and `some improved` where a metric's pool was called so."""
    held, given = effects(frozen, sweeps), terms(frozen, metrics, ledger(frozen, cell))
    told: Counter[str] = Counter()
    for index in range(frozen.block if limit is None else limit):
        outcome = settled(frozen, held, index, given)
        told.update({"n": 1, "suspect": bool(outcome.asked), "rerun points": len(outcome.asked),
                     "some improved": outcome.improved, outcome.verdict: 1})
    return told


def agree(frozen: Protocol, sweeps: Sweeps, metrics: Metrics, noise: Mapping[str, Noise], sample: int) -> None:
    """Raises RuntimeError where `compare`, given rows, says anything else of the first sweeps than the rule did."""
    held, given = effects(frozen, sweeps), terms(frozen, metrics, noise)
    for index in range(sample):
        short, long = settled(frozen, held, index, given), compared(frozen, sweeps, index, metrics, noise)
        if short != long:
            raise RuntimeError(f"sweep {index}: compare says {long}, the rule that is counted {short}")


def compared(frozen: Protocol, sweeps: Sweeps, index: int, metrics: Metrics, noise: Mapping[str, Noise]) -> Outcome:
    """One sweep under `bot.verdict.compare`, from rows to verdict."""
    values = sweeps.values[index]
    lost = None if sweeps.lost is None else frozen.concurrencies[sweeps.lost[index]]
    old = [row for run in range(sweeps.history) for row in rows(frozen, values[run], run + 1)]
    new = rows(frozen, values[-2], NEW, without=lost)
    verdict = compare(new, old, metrics=metrics, noise=noise)
    asked = suspects(verdict)
    if asked:
        again = [row for row in rows(frozen, values[-1], NEW + 1, without=lost) if row.point.concurrency in asked]
        verdict = compare(new, old, repeat=again, metrics=metrics, noise=noise)
    return Outcome(verdict.verdict, asked, any(found.finding == "improved" and found.point is None for found in verdict.findings))


def suspects(verdict: Verdict) -> frozenset[int]:
    """The points that a verdict wants measured again because they look worse."""
    return frozenset(again.point.concurrency for again in verdict.rerun if again.why.startswith("suspect"))


def rows(frozen: Protocol, values: Array, run: int, without: int | None = None) -> Sequence[Row]:
    """One run as the rows of a result file."""
    return [
        Row(point=point, metric=name, stat=metric.stat, unit=metric.unit, value=value, run=run)
        for point, held in zip(_points(frozen.concurrencies), values.tolist(), strict=True)
        if point.concurrency != without
        for (name, metric), value in zip(frozen.metrics.items(), held, strict=True)
    ]


@cache
def _points(concurrencies: Sequence[int]) -> tuple[Point, ...]:
    return tuple(Point(recipe="drawn", concurrency=concurrency) for concurrency in concurrencies)
