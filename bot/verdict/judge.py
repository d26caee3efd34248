"""One primary metric of one recipe: its points given to the rule, and the findings that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from bot.model.result import Cell, Finding, Judgement
from bot.results.metrics import Metric
from bot.verdict.noise import Noise, floored
from bot.verdict.pairs import Pair
from bot.verdict.rule import Point, Ruling, rule
from bot.verdict.statistics import Z_ONE_SIDED, change, fraction, log_ratio, point_se
from bot.verdict.words import BLOCKING, CLEARED, known, word

__all__ = ["Judged", "Noise", "judge"]


class Judged(Struct, frozen=True, kw_only=True):
    """The pooled finding first, then one a point; and, for who asks what to run again, what they rest on.

    `ruling` tells points by their index in `pairs`, which are those that could be pooled; it is None when none could.
    `doubted` are points whose only measurement is questioned.
    """

    metric: Metric
    findings: tuple[Finding, ...]
    stat: str | None = None
    pairs: tuple[Pair, ...] = ()
    points: tuple[Point, ...] = ()
    ruling: Ruling | None = None
    noise: Noise | None = None
    doubted: tuple[Pair, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """What limits this metric: the pool's reasons and its points' flags. That one point alone has a wide interval
        limits nothing that the pool shows."""
        alone = (reason for found in self.findings[1:] for reason in found.reasons)
        return (*self.findings[0].reasons, *(reason for reason in alone if reason not in ("wide-interval", "baseline-single")))


def judge(
    metric: Metric,
    stat: str | None,
    pairs: Sequence[Pair],
    saturated: frozenset[Cell],
    noise: Noise | None,
    reasons: Sequence[str] = (),
) -> Judged:
    """Findings of one metric. `reasons` decorate the pooled finding; BLOCKING ones keep it inconclusive."""
    usable = tuple(pair for pair in pairs if pair.point not in saturated and not pair.blocked)
    noise = _loudest(floored(metric, stat, kind, noise) for kind in {pair.point.workload for pair in usable})
    doubted = tuple(pair for pair in pairs if pair.point not in saturated and pair.blocked)
    told = [*reasons, *(flag for pair in pairs if pair.point not in saturated for flag in pair.flags)]
    if usable and min(pair.history for pair in usable) == 1:
        told.append("baseline-single")
    if not usable or metric.margin is None or noise is None:
        told.append("noise-unknown" if usable else "too-few-points")
        plain = tuple(_plain(metric, pair, saturated) for pair in pairs)
        return Judged(metric=metric, stat=stat, doubted=doubted,
                      findings=(_pooled(metric, pairs, None, "inconclusive", told), *plain))  # fmt: skip
    points = tuple(_effects(metric, pair) for pair in usable)
    ruling = rule(points, margin=metric.margin, noise=noise)
    told += ruling.reasons
    blocked = any(word(reason) in BLOCKING for reason in told)
    finding: Judgement = "inconclusive" if blocked else ruling.finding
    if "not-confirmed" in ruling.reasons:  # why the second run confirms nothing: it is the only sound one
        told += [flag for place in sorted(ruling.suspects) for flag in usable[place].doubt]
    places = {pair.point: place for place, pair in enumerate(usable)}
    rest = tuple(
        _plain(metric, pair, saturated) if pair.point not in places
        else _point(metric, pair, points[places[pair.point]], places[pair.point], ruling, noise, blocked=blocked)
        for pair in pairs
    )  # fmt: skip
    return Judged(metric=metric, stat=stat, findings=(_pooled(metric, usable, ruling, finding, told), *rest), pairs=usable,
                  points=points, ruling=ruling, noise=noise, doubted=doubted)  # fmt: skip


def _loudest(known: Iterable[Noise | None]) -> Noise | None:
    """Of a curve with points of several workloads the noise is taken that none of them exceeds."""
    held = [noise for noise in known if noise]
    return Noise(sigma=max(noise.sigma for noise in held), tau=max(noise.tau for noise in held)) if held else None


def _effects(metric: Metric, pair: Pair) -> Point:
    return Point(
        log_ratio(median(pair.new), pair.base, metric.sign),
        tuple(log_ratio(value, pair.base, metric.sign) for value in pair.repeat),
        pair.history,
        len(pair.new),
        log_ratio(median((*pair.new, *pair.repeat)), pair.base, metric.sign),
    )


def _pooled(
    metric: Metric, pairs: Sequence[Pair], ruling: Ruling | None, finding: Judgement, told: Sequence[str]
) -> Finding:
    return Finding(
        metric=metric.id,
        point=None,
        baseline=None,
        new=None,
        delta=fraction(metric.sign * ruling.pool) if ruling else None,
        unit=metric.unit,
        finding=finding,
        interval=_interval(metric, ruling.pool, ruling.se) if ruling else None,
        n=len(pairs) if ruling else 0,
        reasons=known(told),
        recipe=pairs[0].point.recipe if pairs else "",
        how=_by_points(pairs, ruling) if finding == "regressed" else None,
    )


def _by_points(pairs: Sequence[Pair], ruling: Ruling | None) -> str | None:
    """The points that alone make a curve regressed: one at 64 users was a third slower, and a report called the whole
    curve, 0.9 % faster, worse than the baseline."""
    if ruling is None or ruling.pool_confirmed:
        return None
    return f"points:{','.join(f'c{pairs[place].point.concurrency}' for place in sorted(ruling.confirmed))}"


def _interval(metric: Metric, effect: float, se: float) -> tuple[float, float]:
    """Ninety percent, as fractions of the baseline."""
    low, high = sorted(fraction(metric.sign * (effect + side * Z_ONE_SIDED * se)) for side in (-1, 1))
    return low, high


def _point(metric: Metric, pair: Pair, point: Point, place: int, ruling: Ruling, noise: Noise, *, blocked: bool) -> Finding:
    """One point beside its curve. Its margin is twice the curve's, its share of the five percent a point's."""
    se = point_se(sigma=noise.sigma, tau=noise.tau, runs=point.measured, history=point.history)
    finding, reason = _alone(point, place, ruling, 2 * (metric.margin or 0.0), se)
    if blocked and finding == "regressed":
        finding = "inconclusive"
    reasons = (*((reason,) if reason else ()), *((CLEARED,) if place in ruling.cleared else ()), *pair.flags)
    return _finding(metric, pair, finding, _interval(metric, point.together, se), known(reasons))


def _alone(point: Point, place: int, ruling: Ruling, margin: float, se: float) -> tuple[Judgement, str | None]:
    effect = point.together
    if place in ruling.confirmed:
        return "regressed", None
    if place in ruling.open:
        return "inconclusive", "not-confirmed"
    if effect >= margin and effect - ruling.z * se > 0:
        # With one run behind it the baseline may have been the slow one: 13.5 % of sweeps that changed nothing show
        # such a point. It stands out of its curve then.
        mirage = point.history == 1 and effect - ruling.pool > margin
        return ("inconclusive", "baseline-single") if mirage else ("improved", None)
    return ("neutral", None) if effect - Z_ONE_SIDED * se > -margin else ("inconclusive", "wide-interval")


def _plain(metric: Metric, pair: Pair, saturated: frozenset[Cell]) -> Finding:
    """A point that is reported and not judged: saturated, or its numbers are not of what they claim to be."""
    reasons = (*pair.flags, *(("saturated",) if pair.point in saturated else ()))
    return _finding(metric, pair, "inconclusive", None, known(reasons))


def _finding(
    metric: Metric, pair: Pair, finding: Judgement, interval: tuple[float, float] | None, reasons: tuple[str, ...]
) -> Finding:
    new = median((*pair.new, *pair.repeat))
    return Finding(
        metric=metric.id,
        point=pair.point,
        baseline=pair.base,
        new=new,
        delta=change(new, pair.base),
        unit=metric.unit,
        finding=finding,
        interval=interval,
        n=pair.n,
        reasons=reasons,
        recipe=pair.point.recipe,
    )
