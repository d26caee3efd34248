"""Every rule at one false-alarm rate, so that none looks better for a looser threshold.

A statistic's threshold is the quantile of its null sweeps from the tuning seed. Ours is the shipped code with one factor on
its margins, or on its margins and on the noise it takes the metrics to have; a null sweep's number is then the largest
factor at which it still alarms, found by bisection, since a smaller factor only ever raises more alarms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from benchmarks.verdicts_draws import Cell, Protocol, draw
from benchmarks.verdicts_ours import SAMPLE, Effects, agree, effects, scaled, settled, shipped, terms
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


def alarm(frozen: Protocol, held: Effects, index: int, name: str, factor: float) -> bool:
    """Whether the shipped rule, scaled, calls a sweep regressed."""
    return settled(frozen, held, index, terms(frozen, rule(name, factor), {})).verdict == "regressed"


def critical(frozen: Protocol, held: Effects, index: int, name: str) -> float:
    """The largest factor at which a sweep alarms, to a part in a thousand; 0 where it does not at the lowest one looked at."""
    low, high = LOWEST[name], HIGHEST
    if not alarm(frozen, held, index, name, low):
        return 0.0
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if alarm(frozen, held, index, name, middle) else (low, middle)
    return low


def nulls(frozen: Protocol, cell: Cell, block: int, limit: int) -> dict[str, Sequence[float]]:
    """One number a sweep and rule, on the arrays that thresholds are matched on; of ours the largest factor."""
    sweeps = draw(frozen, cell, block, tuning=True)
    held = effects(frozen, sweeps)
    ours = {name: [critical(frozen, held, index, name) for index in range(limit)] for name in LOWEST}
    return {**{name: told.tolist()[:limit] for name, told in statistics(frozen, sweeps).items()}, **ours}


def alarms(frozen: Protocol, cell: Cell, block: int, limit: int, limits: Mapping[str, float]) -> dict[str, Counter[str]]:
    """`n` and `regressed` of every rule at its matched threshold, ours at its factor, over the first sweeps of a block."""
    sweeps = draw(frozen, cell, block)
    held = effects(frozen, sweeps)
    hits = {name: int((told[:limit] > limits[name]).sum()) for name, told in statistics(frozen, sweeps).items()}
    for name in LOWEST:
        hits[name] = sum(alarm(frozen, held, index, name, limits[name]) for index in range(limit))
        if not block:
            agree(frozen, sweeps, rule(name, limits[name]), {}, min(SAMPLE, limit))
    return {name: Counter(n=limit, regressed=found) for name, found in hits.items()}


def threshold(null: Sequence[float], rate: float) -> Threshold:
    """The lowest value above which at most `rate` of the null sweeps lie; no lower than what was looked at."""
    held = np.sort(np.asarray(null))
    value = float(held[len(held) - 1 - int(rate * len(held))])
    return Threshold(value=value, tuned=float((held > value).mean()))


def setting(name: str, found: Threshold) -> float:
    """What a rule is set to: its threshold; ours a factor just above it, or the lowest one looked at."""
    return max(found.value * 1.0005, LOWEST[name]) if name in LOWEST else found.value
