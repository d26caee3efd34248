"""The rule itself, on plain numbers: one metric over a curve of log ratios. `compare` and the benchmarks call this one.

Within one sweep nothing tells a slow image from a slow room, so "regressed" is said only when the same clause holds on
a second run; good news buys no second run and is worded with its reasons instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from bot.model.result import Judgement
from bot.verdict.noise import Noise
from bot.verdict.statistics import Z_FAMILY, Z_ONE_SIDED, bonferroni_z, curve_se, hodges_lehmann, point_se, side
from bot.verdict.words import CLEARED

MEASUREMENTS = 3
"""A pool of fewer is no median: one excursion would carry it."""
COLD = 0.2
"""A repeat better by 20 log-% at most points says that the first run was cold, not that the image is slow."""
NOWHERE: frozenset[int] = frozenset()


class Point(Struct, frozen=True):
    """Log ratios of one point, positive when the new image is better: of the run judged, and of each measured besides.

    `runs` is how many values stand behind `first`, `history` how many behind the baseline. `whole` is the effect of all
    measurements together; the median of the log ratios where it is not given.
    """

    first: float
    again: tuple[float, ...] = ()
    history: int = 1
    runs: int = 1
    whole: float | None = None

    @property
    def together(self) -> float:
        return self.whole if self.whole is not None else median((self.first, *self.again)) if self.again else self.first

    @property
    def measured(self) -> int:
        return self.runs + len(self.again)


class Ruling(Struct, frozen=True, kw_only=True):
    """What a curve comes to. Points are told by their index.

    `pool` is the Hodges-Lehmann estimate over everything measured and `se` its standard error, both in log units; `z` is
    what one point of this curve has to be beyond.
    `suspects` are the points to measure once more; `confirmed` those where the clause held twice; `open` those where it
    held and nobody looked again, `cleared` those where it did not hold again. `raised` says whether the first run alone
    raised any clause.
    """

    finding: Judgement
    reasons: tuple[str, ...]
    pool: float
    se: float
    z: float = Z_FAMILY
    raised: bool = False
    pool_confirmed: bool = False
    confirmed: frozenset[int] = NOWHERE
    open: frozenset[int] = NOWHERE
    cleared: frozenset[int] = NOWHERE
    suspects: frozenset[int] = NOWHERE


def rule(points: Sequence[Point], *, margin: float, noise: Noise, family: int = 3) -> Ruling:
    """One curve judged: pool clause, point clause, confirmation, and what the interval shows.

    `margin` in log units, twice that for one point alone; `family` is how many metrics share the five percent. At least
    one point. Missing points are simply not there; saturated ones must not be.
    """
    z = bonferroni_z(len(points), family)
    cold = _cold(points)
    if cold and all(len(point.again) > 1 for point in points):  # two warm runs stand without the cold one
        points, cold = [Point(point.again[0], point.again[1:], point.history) for point in points], False
    pool, se = _pooled(points, [point.together for point in points], [point.measured for point in points], noise)
    if cold:
        return Ruling(finding="inconclusive", reasons=("cold-run",), pool=pool, se=se, z=z, raised=True,
                      suspects=frozenset(index for index, point in enumerate(points) if len(point.again) < 2))  # fmt: skip
    fallen = frozenset(index for index, point in enumerate(points) if _falls(point, point.first, point.runs, margin, noise, z))
    sunk = _sinks(points, [point.first for point in points], [point.runs for point in points], margin, noise)
    confirmed = frozenset(index for index in fallen if _fell_again(points[index], margin, noise, z))
    everywhere = all(point.again for point in points)
    pool_confirmed = sunk and everywhere and _sank_again(points, pool, se, margin, noise)
    unseen = frozenset(index for index in fallen if not points[index].again)
    settled = pool_confirmed or bool(confirmed)
    ask = NOWHERE if settled else unseen | (frozenset(range(len(points))) if sunk and not everywhere else NOWHERE)
    finding, reason = _finding(points, pool, se, margin, settled=settled, open_=bool(ask))
    doubt = "not-confirmed" if ask else CLEARED
    told = (*((doubt,) if (sunk or fallen) and not settled else ()), *((reason,) if reason else ()))
    return Ruling(finding=finding, reasons=told, pool=pool, se=se, z=z, raised=sunk or bool(fallen),
                  pool_confirmed=pool_confirmed, confirmed=confirmed, suspects=ask,
                  open=NOWHERE if settled else unseen, cleared=fallen - confirmed - unseen)  # fmt: skip


def _finding(
    points: Sequence[Point], pool: float, se: float, margin: float, *, settled: bool, open_: bool
) -> tuple[Judgement, str | None]:
    """The finding, and the reason when the numbers themselves leave it open."""
    if settled:
        return "regressed", None
    if open_:
        return "inconclusive", None
    if sum(point.measured for point in points) < MEASUREMENTS:
        return "inconclusive", "too-few-points"
    if pool >= margin and pool - Z_FAMILY * se > 0:
        return "improved", None
    return ("neutral", None) if pool - Z_ONE_SIDED * se > -margin else ("inconclusive", "wide-interval")


def _pooled(points: Sequence[Point], effects: Sequence[float], runs: Sequence[int], noise: Noise) -> tuple[float, float]:
    sides = sum(1 / count + side(point.history) for point, count in zip(points, runs, strict=True)) / len(points)
    return hodges_lehmann(effects), curve_se(sigma=noise.sigma, tau=noise.tau, points=len(points), sides=sides)


def _sinks(points: Sequence[Point], effects: Sequence[float], runs: Sequence[int], margin: float, noise: Noise) -> bool:
    """The pool clause. One or two points make no pool: of 192 trials on single cells, measured three times alike, twelve
    fell by five percent twice, six of them through it alone. There each stands for itself, at twice the margin."""
    if len(points) < MEASUREMENTS:
        return False
    pool, se = _pooled(points, effects, runs, noise)
    return pool <= -margin and pool + Z_FAMILY * se < 0


def _sank_again(points: Sequence[Point], pool: float, se: float, margin: float, noise: Noise) -> bool:
    """The pool clause on the second looks alone, and on everything: of several repeats one slow one does not decide."""
    again, runs = [median(point.again) for point in points], [len(point.again) for point in points]
    return _sinks(points, again, runs, margin, noise) and pool <= -margin and pool + Z_FAMILY * se < 0


def _falls(point: Point, effect: float, runs: int, margin: float, noise: Noise, z: float) -> bool:
    if effect > -2 * margin:
        return False
    return effect + z * point_se(sigma=noise.sigma, tau=noise.tau, runs=runs, history=point.history) < 0


def _fell_again(point: Point, margin: float, noise: Noise, z: float) -> bool:
    """The point clause on one further measurement, and on all together."""
    return any(_falls(point, effect, 1, margin, noise, z) for effect in point.again) and _falls(
        point, point.together, point.measured, margin, noise, z
    )


def _cold(points: Sequence[Point]) -> bool:
    """Whether the run judged was cold: at most of two or more points measured again the repeat is far better."""
    seen = [point for point in points if point.again]
    return len(seen) > 1 and 2 * sum(median(point.again) - point.first > COLD for point in seen) > len(seen)
