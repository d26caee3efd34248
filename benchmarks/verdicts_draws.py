"""The frozen protocol (verdicts.yaml) as records, and the sweeps it draws: the same arrays for every rule.

All scenarios, histories and kinds of noise share their random numbers (a block's seed is the protocol's and the block's
number), so that two cells of a table differ by what they are about and not by luck.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from bot.strict import load

FILE = Path(__file__).with_name("verdicts.yaml")
FREEDOM = 5
"""Degrees of freedom of the noise; its variance is 5/3, which `sigma` is scaled by."""
Array = np.ndarray[Any, Any]


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    unit: str
    direction: Literal["up", "down"]
    sigma: float
    tau: float
    margin: float
    typical: tuple[float, ...]
    stat: str | None = None


class Noise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is true, and by how much the ledger is wide of it: `tau` multiplies the truth, `ledger` what the rule is told."""

    excursions: float
    by: tuple[float, float]
    tau: float = 1
    ledger: float = 1


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What the new image does; the protocol's comments say what each key means."""

    all: float = 1
    one: float = 1
    ttft: float = 1
    cold: dict[str, float] = {}
    missing: bool = False
    slow_baseline: bool = False

    @property
    def loss(self) -> bool:
        return min(self.all, self.one, self.ttft) < 1


class Cell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cell of the tables: what is true, what happens, and how many published runs there are."""

    noise: str
    scenario: str
    history: int


class Grid(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Which cells a table has, and what its rules are set to."""

    scenarios: tuple[str, ...]
    histories: tuple[int, ...]
    noise: tuple[str, ...] = ("as-ledger",)
    rate: float = 0
    magnitude: float = 0
    p: float = 1
    tuning_sweeps: int = 0
    new_points: tuple[int, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(Cell(noise=noise, scenario=scenario, history=history)
                     for noise in self.noise for scenario in self.scenarios for history in self.histories)


class Aim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    table: Literal["shipped", "matched"]
    noise: str
    scenario: str
    history: int
    at_most: float | None = None
    at_least: float | None = None


class Protocol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    seed: int
    tuning_seed: int
    sweeps: int
    package_sweeps: int
    block: int
    histories: tuple[int, ...]
    concurrencies: tuple[int, ...]
    metrics: dict[str, Metric]
    noise: dict[str, Noise]
    scenarios: dict[str, Scenario]
    misjudged: Grid
    peers: Grid
    packages: dict[str, Grid]
    matched: Grid
    headline: tuple[Cell, ...]
    aims: tuple[Aim, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Everything that happens with noise as the ledger has it, and what is asked where it has not."""
        whole = Grid(scenarios=tuple(self.scenarios), histories=self.histories)
        return tuple(dict.fromkeys((*whole.cells, *self.misjudged.cells, *self.peers.cells)))

    @property
    def margins(self) -> Array:
        return np.array([metric.margin for metric in self.metrics.values()])

    @property
    def signs(self) -> Array:
        return np.array([1.0 if metric.direction == "up" else -1.0 for metric in self.metrics.values()])


class Sweeps(Struct, frozen=True, kw_only=True):
    """One block. `better` are log units, [sweep, run, point, metric]: the published runs, oldest first, then the new one
    and its re-run; `values` the same as a file would hold them; `lost` the point that neither new run has."""

    better: Array
    values: Array
    lost: Array | None = None

    @property
    def history(self) -> int:
        return int(self.better.shape[1]) - 2


@cache
def protocol(file: Path = FILE) -> Protocol:
    """The protocol. Raises BadInput with the line for a file that is none."""
    return load(Protocol, file.read_bytes(), file=file.name)


class _Raw(Struct, frozen=True, kw_only=True):
    """Standard random numbers of a block, for the longest history; `point` and `run` are drawn once a sweep."""

    shift: Array
    noise: Array
    rare: Array
    amount: Array
    cold: Array
    point: Array
    run: Array


@lru_cache(maxsize=4)
def _raw(seed: int, block: int, n: int, runs: int, points: int, metrics: int) -> _Raw:
    made = np.random.default_rng([seed, block])
    return _Raw(
        shift=made.standard_normal((n, runs, 1, metrics)),
        noise=made.standard_t(FREEDOM, (n, runs, points, metrics)) / np.sqrt(FREEDOM / (FREEDOM - 2)),
        rare=made.random((n, runs, points, 1)),
        amount=made.random((n, runs, points, 1)),
        cold=made.random((n, points, metrics)),
        point=made.integers(points, size=n),
        run=made.random(n),
    )


def draw(frozen: Protocol, cell: Cell, block: int, *, tuning: bool = False) -> Sweeps:
    """A block of sweeps of one cell; `tuning` draws from the other seed, on which thresholds may be matched."""
    raw = _raw(frozen.tuning_seed if tuning else frozen.seed, block, frozen.block, max(frozen.histories) + 2,
               len(frozen.concurrencies), len(frozen.metrics))
    noise, scenario, history = frozen.noise[cell.noise], frozen.scenarios[cell.scenario], cell.history
    sigma = np.array([metric.sigma for metric in frozen.metrics.values()])
    tau = noise.tau * np.array([metric.tau for metric in frozen.metrics.values()])
    rare = raw.rare < noise.excursions
    sweeps = np.arange(frozen.block)
    chosen = [*range(max(frozen.histories) - history, max(frozen.histories) + 2)]
    if scenario.slow_baseline:
        rare[sweeps, chosen[0] + (raw.run * history).astype(int), raw.point] = True
    low, high = noise.by
    better = tau * raw.shift + sigma * raw.noise - rare * (low + (high - low) * raw.amount)
    better = better[:, chosen]
    better[:, -2:] += _effect(frozen, scenario, raw)[:, None]
    if scenario.cold:
        better[:, -2] -= np.log([scenario.cold[metric] for metric in frozen.metrics]) * raw.cold
    typical = np.array([metric.typical for metric in frozen.metrics.values()]).T
    return Sweeps(better=better, values=typical * np.exp(frozen.signs * better), lost=raw.point if scenario.missing else None)


def _effect(frozen: Protocol, scenario: Scenario, raw: _Raw) -> Array:
    """What the image truly does at each point of each sweep, log units, more is better."""
    effect = np.full((frozen.block, len(frozen.concurrencies), len(frozen.metrics)), np.log(scenario.all))
    effect[np.arange(frozen.block), raw.point] += np.log(scenario.one)
    effect[:, :, list(frozen.metrics).index("ttft")] += np.log(scenario.ttft)
    return effect
