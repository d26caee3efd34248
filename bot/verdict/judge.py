"""One primary metric over a curve: the pool clause, the point clause, and what a repeat makes of them.

Within one sweep nothing tells a slow image from a slow room, so "regressed" is said only when the same clause holds on
a second run; good news buys no second run and is worded with its reasons instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from bot.model.result import Cell, Finding, Judgement
from bot.results.metrics import Metric
from bot.verdict.pairs import Pair
from bot.verdict.statistics import Z_FAMILY, Z_ONE_SIDED, bonferroni_z, hodges_lehmann, log_ratio, point_se, pooled_se
from bot.verdict.words import BLOCKING, known, word

MEASUREMENTS = 3
"""A pool of fewer is no median: one excursion would carry it."""
COLD = 0.2
"""A repeat faster by 20 log-% at most points says that the first run was cold, not that the image is slow."""


class Noise(Struct, frozen=True, kw_only=True):
    """What A/A pairs of this hardware, engine and metric have shown, in log units."""

    sigma: float
    tau: float


class Judged(Struct, frozen=True, kw_only=True):
    """The pooled finding first, then one a point. `suspects` are the points worth running again, if any."""

    findings: tuple[Finding, ...]
    suspects: tuple[Cell, ...] = ()


class _Clause(Struct, frozen=True, kw_only=True):
    pool: bool
    points: frozenset[Cell]

    def __bool__(self) -> bool:
        return self.pool or bool(self.points)


class _Curve(Struct, frozen=True, kw_only=True):
    """The points that may be pooled, and how uncertain each is taken to be."""

    metric: Metric
    stat: str | None
    margin: float
    noise: Noise
    pairs: tuple[Pair, ...]

    def effects(self, values: Mapping[Cell, Sequence[float]]) -> dict[Cell, float]:
        return {
            pair.point: log_ratio(median(values[pair.point]), pair.base, self.metric.sign)
            for pair in self.pairs
            if values.get(pair.point)
        }

    def se(self, values: Mapping[Cell, Sequence[float]]) -> float:
        runs = min(len(values[pair.point]) for pair in self.pairs)
        history = min(pair.history for pair in self.pairs)
        return pooled_se(sigma=self.noise.sigma, tau=self.noise.tau, points=len(self.pairs), runs=runs, history=history)

    def clause(self, values: Mapping[Cell, Sequence[float]]) -> _Clause:
        """Which clause these values raise. The pool needs every point; a point stands for itself."""
        effects, z = self.effects(values), bonferroni_z(len(self.pairs))
        points = frozenset(
            pair.point
            for pair in self.pairs
            if pair.point in effects
            and effects[pair.point] <= -2 * self.margin
            and effects[pair.point]
            + z * point_se(sigma=self.noise.sigma, tau=self.noise.tau, history=pair.history, runs=len(values[pair.point]))
            < 0
        )
        if len(effects) < len(self.pairs):
            return _Clause(pool=False, points=points)
        pooled = hodges_lehmann(effects.values())
        return _Clause(pool=pooled <= -self.margin and pooled + Z_FAMILY * self.se(values) < 0, points=points)


def judge(
    metric: Metric,
    stat: str | None,
    pairs: Sequence[Pair],
    saturated: frozenset[Cell],
    noise: Noise | None,
    reasons: Sequence[str] = (),
) -> Judged:
    """Findings of one metric. `reasons` decorate the pooled finding; BLOCKING ones keep it inconclusive."""
    margin, noise = metric.margin, _floored(metric, noise)
    usable = tuple(pair for pair in pairs if pair.point not in saturated and not _blocked(pair))
    told = [*reasons, *(flag for pair in pairs if pair.point not in saturated for flag in pair.flags)]
    if usable and min(pair.history for pair in usable) == 1:
        told.append("baseline-single")
    if not usable or margin is None or noise is None:
        told.append("noise-unknown" if usable else "too-few-points")
        pooled = Finding(
            metric=metric.id,
            point=None,
            baseline=None,
            new=None,
            delta=None,
            unit=metric.unit,
            n=len(usable),
            finding="inconclusive",
            reasons=known(told),
            recipe=pairs[0].point.recipe if pairs else "",
        )
        return Judged(findings=(pooled, *(_plain(metric, pair, saturated) for pair in pairs)))
    return _decide(_Curve(metric=metric, stat=stat, margin=margin, noise=noise, pairs=usable), pairs, saturated, told)


def _decide(curve: _Curve, pairs: Sequence[Pair], saturated: frozenset[Cell], told: list[str]) -> Judged:
    main = {pair.point: pair.new for pair in curve.pairs}
    again = {pair.point: pair.repeat for pair in curve.pairs if pair.repeat}
    both = {pair.point: (*pair.new, *pair.repeat) for pair in curve.pairs}
    first, second = curve.clause(main), curve.clause(again)
    confirmed = frozenset(first.points & second.points)
    proven = bool(confirmed) or first.pool and second.pool
    covered = first.points <= again.keys() and (not first.pool or len(again) == len(curve.pairs))
    pool, se = hodges_lehmann(curve.effects(both).values()), curve.se(both)
    if first and not proven:
        told.append("not-confirmed")
        told += ["cold-run"] if _cold(curve, main, again) else []
    if any(word(reason) in BLOCKING for reason in told):
        finding: Judgement = "inconclusive"
    elif proven:
        finding = "regressed"
    elif first and not covered:
        finding = "inconclusive"
    else:
        finding = _plainly(curve, pool, se, sum(map(len, both.values())), told)
    blocked = any(word(reason) in BLOCKING - {"cold-run"} for reason in told)  # no second run mends what these say
    asked = first if first and not (proven or blocked) else _Clause(pool=False, points=frozenset())
    suspects = tuple(pair.point for pair in curve.pairs if asked.pool or pair.point in asked.points)
    open_points = frozenset() if covered or proven else first.points
    points = tuple(_point(curve, pair, saturated, confirmed, open_points, both) for pair in pairs)
    return Judged(findings=(_pooled(curve, pool, se, finding, told), *points), suspects=() if covered else suspects)


def _plainly(curve: _Curve, pool: float, se: float, measured: int, told: list[str]) -> Judgement:
    if measured < MEASUREMENTS:
        told.append("too-few-points")
        return "inconclusive"
    if pool >= curve.margin and pool - Z_FAMILY * se > 0:
        return "improved"
    if pool - Z_ONE_SIDED * se > -curve.margin:
        return "neutral"
    told.append("wide-interval")
    return "inconclusive"


def _pooled(curve: _Curve, pool: float, se: float, finding: Judgement, told: Sequence[str]) -> Finding:
    sign = curve.metric.sign
    low, high = sorted(math.expm1(sign * (pool + side * Z_ONE_SIDED * se)) for side in (-1, 1))
    return Finding(
        metric=curve.metric.id,
        point=None,
        baseline=None,
        new=None,
        delta=math.expm1(sign * pool),
        unit=curve.metric.unit,
        finding=finding,
        interval=(low, high),
        n=len(curve.pairs),
        reasons=known(told),
        recipe=curve.pairs[0].point.recipe,
    )


def _point(
    curve: _Curve,
    pair: Pair,
    saturated: frozenset[Cell],
    confirmed: frozenset[Cell],
    open_points: frozenset[Cell],
    both: Mapping[Cell, Sequence[float]],
) -> Finding:
    if pair.point not in both:
        return _plain(curve.metric, pair, saturated)
    effect = curve.effects(both)[pair.point]
    se = point_se(sigma=curve.noise.sigma, tau=curve.noise.tau, runs=len(both[pair.point]), history=pair.history)
    finding: Judgement = "neutral"
    if pair.point in confirmed:
        finding = "regressed"
    elif pair.point in open_points:
        finding = "inconclusive"
    elif effect >= 2 * curve.margin and effect - bonferroni_z(len(curve.pairs)) * se > 0:
        finding = "improved"
    low, high = sorted(math.expm1(curve.metric.sign * (effect + side * Z_ONE_SIDED * se)) for side in (-1, 1))
    reasons = ("not-confirmed",) if finding == "inconclusive" else ()
    return _finding(curve.metric, pair, finding, (low, high), median(both[pair.point]), known((*reasons, *pair.flags)))


def _plain(metric: Metric, pair: Pair, saturated: frozenset[Cell]) -> Finding:
    """A point that is reported and not judged: saturated, or its numbers are not of what they claim to be."""
    reasons = (*pair.flags, *(("saturated",) if pair.point in saturated else ()))
    return _finding(metric, pair, "inconclusive", None, median((*pair.new, *pair.repeat)), known(reasons))


def _finding(
    metric: Metric,
    pair: Pair,
    finding: Judgement,
    interval: tuple[float, float] | None,
    new: float,
    reasons: tuple[str, ...],
) -> Finding:
    return Finding(
        metric=metric.id,
        point=pair.point,
        baseline=pair.base,
        new=new,
        delta=new / pair.base - 1,
        unit=metric.unit,
        finding=finding,
        interval=interval,
        n=pair.n,
        reasons=reasons,
        recipe=pair.point.recipe,
    )


def _cold(curve: _Curve, main: Mapping[Cell, Sequence[float]], again: Mapping[Cell, Sequence[float]]) -> bool:
    before, after = curve.effects(main), curve.effects(again)
    faster = sum(after[point] - before[point] > COLD for point in after)
    return bool(after) and 2 * faster > len(after) and len(after) > 1


def _blocked(pair: Pair) -> bool:
    return any(word(flag) in BLOCKING for flag in pair.flags)


def _floored(metric: Metric, measured: Noise | None) -> Noise | None:
    """A ledger with few pairs can look quieter than the room is: never below the floor."""
    if metric.sigma is None or metric.tau is None:
        return measured
    if measured is None:
        return Noise(sigma=metric.sigma, tau=metric.tau)
    return Noise(sigma=max(metric.sigma, measured.sigma), tau=max(metric.tau, measured.tau))
