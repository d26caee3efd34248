"""How far two measurements of one image differ: floors that are data, and what a ledger of A/A pairs has shown beyond.

A sweep cannot see its own noise: the shift of a whole room is in every one of its points. So each time an image is
measured twice at the same points, the differences are kept (`NoiseSeen`), and later verdicts are told what they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct

from bot.model.result import Row
from bot.results.metrics import Metric, Metrics
from bot.verdict.pairs import Key, canonical, index, pairs
from bot.verdict.statistics import hodges_lehmann

PRIOR = 5
"""What the floor weighs against pairs, in pairs: three of them that agree by luck must not look like silence."""
SWEEPS = 3
"""Fewer sweeps say nothing of the shift that each of them has."""
_QUANTILES = ((0.5, 0.674490), (0.8, 1.281552))
"""The share of differences below, and the normal's. Half of them alone would not see a tail, which the four fifths do; one
excursion in five moves neither."""


class Noise(Struct, frozen=True, kw_only=True):
    """Log units: `sigma` of one point measured again, `tau` of a whole sweep. `pairs` is how many differences showed it."""

    sigma: float
    tau: float
    pairs: int = 0


class NoiseSeen(Struct, frozen=True, kw_only=True):
    """One image measured twice, as a ledger keeps it: one record a metric and pair of runs, written once.

    `effects` are log ratios, the later run over the earlier, one a point that both measured. The key to look records up by
    is (hardware, engine, metric, stat, workload): "h200", "sglang", "ttft", "p50", "agentic-coding".
    """

    hardware: str
    engine: str
    metric: str
    stat: str | None
    workload: str | None
    effects: tuple[float, ...]
    source: str = ""


def seen(
    first: Sequence[Row], second: Sequence[Row], *, metrics: Metrics, hardware: str, engine: str, source: str = ""
) -> tuple[NoiseSeen, ...]:
    """What two measurements of the same image and points show, for every metric that can decide. Flagged rows (a cold
    run, an image that is not proven) show nothing and are left out."""
    one, two = (index(row for row in canonical(rows, metrics) if not row.flags) for rows in (first, second))
    made = []
    for metric, stat in sorted(set(one) & set(two), key=str):
        if metric not in metrics or not metrics[metric].primary:
            continue
        for workload, effects in _by_workload((metric, stat), one, two).items():
            made.append(NoiseSeen(hardware=hardware, engine=engine, metric=metric, stat=stat, workload=workload or None,
                                  effects=tuple(effects), source=source))  # fmt: skip
    return tuple(made)


def _by_workload(key: Key, one: Mapping, two: Mapping) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for pair in pairs(key, two, one, {}):
        found.setdefault(pair.point.workload or "", []).append(math.log(median(pair.new) / pair.base))
    return found


def noise(records: Iterable[NoiseSeen], metrics: Metrics, *, workload: str | None = None) -> dict[str, Noise]:
    """Noise by metric id from records of one hardware and engine, never below the floor; what `compare(noise=)` takes.

    Records of other workloads are left out when `workload` says which one is judged.
    """
    groups: dict[tuple[str, str | None], list[NoiseSeen]] = {}
    for record in records:
        if record.metric in metrics and (workload is None or record.workload in (None, workload)):
            groups.setdefault((record.metric, record.stat), []).append(record)
    made: dict[str, Noise] = {}
    for (metric, stat), found in sorted(groups.items(), key=str):
        told = estimate([record.effects for record in found], floor(metrics[metric], stat, workload))
        made[metric] = _louder(made.get(metric), told) if told else made[metric]
    return made


def _louder(one: Noise | None, other: Noise) -> Noise:
    if one is None:
        return other
    return Noise(sigma=max(one.sigma, other.sigma), tau=max(one.tau, other.tau), pairs=one.pairs + other.pairs)


def estimate(sweeps: Sequence[Sequence[float]], least: Noise | None) -> Noise | None:
    """Sigma and tau of one measurement from the differences of A/A sweeps, one list a sweep, drawn to the floor `least`.

    A difference holds the noise of two measurements. What all points of a sweep share is its Hodges-Lehmann pool; the
    spread about it is sigma (quantiles of the absolute residuals, so that an excursion stays one), the spread of the pools
    beyond what sigma gives them is tau. Without a floor and without pairs: None.
    """
    kept = [list(sweep) for sweep in sweeps if sweep]
    pools = [hodges_lehmann(sweep) for sweep in kept]
    residuals = [
        (effect - pool) * math.sqrt(len(sweep) / (len(sweep) - 1))
        for sweep, pool in zip(kept, pools, strict=True) if len(sweep) > 1 for effect in sweep
    ]  # fmt: skip
    lone = [sweep[0] for sweep in kept if len(sweep) == 1]  # no sweep about it: all that it differs by is taken for its own
    count = len(residuals) + len(lone)
    if not count:
        return least
    sigma = _shrunk(spread([*residuals, *lone]) / math.sqrt(2), count, least.sigma if least else None)
    points = sum(map(len, kept)) / len(kept)
    beyond = max(spread(pools) ** 2 / 2 - 1.05 * sigma**2 / points, 0.0) if len(pools) >= SWEEPS else 0.0
    tau = _shrunk(math.sqrt(beyond), len(pools), least.tau if least else None)
    return Noise(sigma=sigma, tau=tau, pairs=count)


def spread(values: Sequence[float]) -> float:
    """A standard deviation about zero that one value in five cannot move: the larger of what the middle and what the
    fourth fifth of the absolute values say."""
    ranked = sorted(map(abs, values))
    return max(ranked[math.ceil(share * len(ranked)) - 1] / normal for share, normal in _QUANTILES)


def _shrunk(measured: float, count: int, least: float | None) -> float:
    if least is None:
        return measured
    return max(least, math.sqrt((PRIOR * least**2 + count * measured**2) / (PRIOR + count)))


def floor(metric: Metric, stat: str | None, workload: str | None = None) -> Noise | None:
    """The least noise of this metric, statistic and kind of workload (metrics.yaml); None where nobody knows any."""
    fitting = [
        one for one in metric.floors
        if one.stat in (None, stat) and (one.workload is None or (workload or "").startswith(one.workload))
    ]  # fmt: skip
    sigmas = [one.sigma for one in fitting] + ([metric.sigma] if metric.sigma is not None else [])
    taus = [one.tau for one in fitting] + ([metric.tau] if metric.tau is not None else [])
    return Noise(sigma=max(sigmas), tau=max(taus), pairs=sum(one.pairs for one in fitting)) if sigmas and taus else None


def floored(metric: Metric, stat: str | None, workload: str | None, measured: Noise | None) -> Noise | None:
    """A ledger with few pairs can look quieter than the room is: never below the floor."""
    least = floor(metric, stat, workload)
    if least is None or measured is None:
        return measured or least
    return Noise(sigma=max(least.sigma, measured.sigma), tau=max(least.tau, measured.tau), pairs=measured.pairs)
