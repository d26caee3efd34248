"""Every rule at one false-alarm rate, so that none looks better for a looser threshold.

A statistic's threshold is the quantile of its null sweeps from the tuning seed. Ours is the shipped code with one factor on
its margins, or on its margins and on the noise it takes the metrics to have; a null sweep's number is then the largest
factor at which it still alarms, found by bisection, since a smaller factor only ever raises more alarms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from benchmarks.verdicts_draws import Cell, Protocol, Sweeps, draw
from benchmarks.verdicts_ours import scaled, settled, shipped
from benchmarks.verdicts_peers import statistics
from bot.results.metrics import Metrics

WHOLE, MARGINS = "bumpbot, margins and noise scaled", "bumpbot, margins alone scaled"
LOWEST, HIGHEST, STEPS = {WHOLE: 0.25, MARGINS: 0.05}, 4.0, 10


class Threshold(Struct, frozen=True, kw_only=True):
    """Above `value` a rule alarms; `tuned` is the rate of that on the null sweeps it was matched on."""

    value: float
    tuned: float


@lru_cache(maxsize=64)
def rule(name: str, factor: float) -> Metrics:
    """The shipped metrics for the rule `name` at a factor."""
    return scaled(shipped(), margin=factor, noise=factor if name == WHOLE else 1)


def alarm(frozen: Protocol, sweeps: Sweeps, index: int, name: str, factor: float) -> bool:
    """Whether the shipped rule, scaled, calls a sweep regressed."""
    return settled(frozen, sweeps, index, rule(name, factor), {})[0].verdict == "regressed"


def critical(frozen: Protocol, sweeps: Sweeps, index: int, name: str) -> float:
    """The largest factor at which a sweep alarms, to a part in a thousand; 0 where it does not at the lowest one looked at."""
    low, high = LOWEST[name], HIGHEST
    if not alarm(frozen, sweeps, index, name, low):
        return 0.0
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if alarm(frozen, sweeps, index, name, middle) else (low, middle)
    return low


def scores(frozen: Protocol, cell: Cell, block: int, *, tuning: bool, factors: Mapping[str, float] | None = None,
           limit: int | None = None) -> dict[str, Sequence[float]]:
    """One number a sweep and rule. Ours is its largest factor, or, where `factors` are given, 1 for an alarm and 0 for none."""
    sweeps = draw(frozen, cell, block, tuning=tuning)
    told: dict[str, Sequence[float]] = {name: held.tolist()[:limit] for name, held in statistics(frozen, sweeps).items()}
    for name in (WHOLE, MARGINS):
        chosen = range(frozen.block if limit is None else limit)
        if factors is None:
            told[name] = [critical(frozen, sweeps, index, name) for index in chosen]
        else:
            told[name] = [float(alarm(frozen, sweeps, index, name, factors[name])) for index in chosen]
    return told


def threshold(null: Sequence[float], rate: float) -> Threshold:
    """The lowest value above which at most `rate` of the null sweeps lie; no lower than what was looked at."""
    held = np.sort(np.asarray(null))
    value = float(held[len(held) - 1 - int(rate * len(held))])
    return Threshold(value=value, tuned=float((held > value).mean()))


def factor(name: str, found: Threshold) -> float:
    """Where the matched factor of ours lies: just above the threshold, or the lowest one looked at."""
    return max(found.value * 1.0005, LOWEST[name])
