"""The rule that is shipped, `bot.verdict.compare` itself, on drawn sweeps: first verdict, one re-run, final verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from msgspec import structs

from benchmarks.verdicts_draws import Array, Cell, Protocol, Sweeps
from bot.model.result import Cell as Point
from bot.model.result import Row, Verdict
from bot.results.metrics import Metrics, parse
from bot.verdict.compare import compare
from bot.verdict.noise import Noise

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


def count(frozen: Protocol, cell: Cell, sweeps: Sweeps, metrics: Metrics, noise: Mapping[str, Noise] | None = None,
          limit: int | None = None) -> Counter[str]:
    """How often what came out over the first `limit` sweeps of a block: `n`, the final verdicts, `suspect` first verdicts,
    `rerun points` that were measured again, and `some improved` where a metric's pool was called so."""
    noise = ledger(frozen, cell) if noise is None else noise
    told: Counter[str] = Counter()
    for index in range(frozen.block if limit is None else limit):
        verdict, asked = settled(frozen, sweeps, index, metrics, noise)
        told["n"] += 1
        told["suspect"] += bool(asked)
        told["rerun points"] += len(asked)
        told["some improved"] += any(found.finding == "improved" and found.point is None for found in verdict.findings)
        told[verdict.verdict] += 1
    return told


def settled(frozen: Protocol, sweeps: Sweeps, index: int, metrics: Metrics,
            noise: Mapping[str, Noise]) -> tuple[Verdict, frozenset[int]]:
    """The last verdict of one sweep, and the points that the first one had measured again."""
    values = sweeps.values[index]
    lost = None if sweeps.lost is None else frozen.concurrencies[sweeps.lost[index]]
    old = [row for run in range(sweeps.history) for row in rows(frozen, values[run], run + 1)]
    new = rows(frozen, values[-2], NEW, without=lost)
    verdict = compare(new, old, metrics=metrics, noise=noise)
    asked = suspects(verdict)
    if asked:
        again = [row for row in rows(frozen, values[-1], NEW + 1, without=lost) if row.point.concurrency in asked]
        verdict = compare(new, old, repeat=again, metrics=metrics, noise=noise)
    return verdict, asked


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
