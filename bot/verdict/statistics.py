"""The arithmetic of a verdict. Log ratios throughout; exact tests and intervals are SciPy's, imported when asked for.

Sources: Hodges & Lehmann 1963 (the median of the Walsh averages; 1.05 is the inverse of its efficiency at the normal,
3/pi); Wilson 1927; Newcombe 1998, method 10; Fisher; McNemar. A t quantile is never used: four points cannot see the
shift that all of them share, so the spread comes from a ledger of A/A pairs and the quantile is the normal's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist, median

Z_ONE_SIDED = 1.645
Z_FAMILY = NormalDist().inv_cdf(1 - 0.05 / 3)
"""One-sided 5 % shared by the three primaries: 2.13."""
_POOLED = 1.05
_MEDIAN = 1.57
"""pi/2: the variance of a median of h over that of their mean."""


def log_ratio(new: float, old: float, sign: int) -> float:
    """How much better `new` is, in natural-log units; `sign` is the metric's direction. Both must be positive."""
    return sign * (math.log(new) - math.log(old))


def fraction(effect: float) -> float:
    """A log ratio as new/old - 1, finite whatever two values stood there."""
    return math.expm1(min(effect, 700.0))


def change(new: float, old: float) -> float:
    """new/old - 1, finite too."""
    ratio = new / old
    return ratio - 1 if math.isfinite(ratio) else fraction(log_ratio(new, old, 1))


def hodges_lehmann(values: Iterable[float]) -> float:
    """The median of all pairwise means, a value paired with itself too. One wild point in five cannot drag it away."""
    held = sorted(values)
    if not held:
        raise ValueError("no values to pool")
    return median((held[i] + held[j]) / 2 for i in range(len(held)) for j in range(i, len(held)))


def side(history: int) -> float:
    """What a baseline of `history` runs adds to the variance, in runs: one run counts whole, of several the median is taken."""
    return 1.0 if history <= 1 else _MEDIAN / history


def pooled_se(*, sigma: float, tau: float, points: int, runs: float, history: float) -> float:
    """Standard error of the pooled log ratio over `points` points: `runs` of the new image, `history` of the old."""
    return curve_se(sigma=sigma, tau=tau, points=points, sides=1 / runs + side(int(history)))


def curve_se(*, sigma: float, tau: float, points: int, sides: float) -> float:
    """The same where points differ in runs and history: `sides` is the mean over the points of 1/runs + side(history).

    A mean is right for what is each point's own, and an upper bound for the shift that the points of a sweep share.
    """
    return math.sqrt(sides * (tau**2 + _POOLED * sigma**2 / points))


def point_se(*, sigma: float, tau: float, runs: int, history: int) -> float:
    """The same for one point alone."""
    return math.sqrt((1 / runs + side(history)) * (tau**2 + sigma**2))


@lru_cache(maxsize=256)
def bonferroni_z(points: int, metrics: int = 3) -> float:
    """One-sided 5 % shared by every point of every primary."""
    return NormalDist().inv_cdf(1 - 0.05 / (max(points, 1) * metrics))


def wilson(correct: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of a share."""
    if n < 1 or not 0 <= correct <= n:
        raise ValueError(f"{correct} of {n} is no share")
    share, spread = correct / n, z * z / n
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def newcombe(new: tuple[int, int], old: tuple[int, int], z: float = 1.959964) -> tuple[float, float]:
    """Interval of the difference of two shares, (right, asked) each, new minus old."""
    p, q = new[0] / new[1], old[0] / old[1]
    (low, high), (low_old, high_old) = wilson(*new, z), wilson(*old, z)
    return (p - q - math.hypot(p - low, high_old - q), p - q + math.hypot(high - p, q - low_old))


def newcombe_paired(both: int, only_new: int, only_old: int, neither: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of the difference of two shares of the same questions (Newcombe 1998, paired, method 10: Wilson's limits
    of each share, less what they have in common)."""
    n = both + only_new + only_old + neither
    p, q = (both + only_new) / n, (both + only_old) / n
    (low, high), (low_old, high_old) = wilson(both + only_new, n, z), wilson(both + only_old, n, z)
    product = (both + only_new) * (only_old + neither) * (both + only_old) * (only_new + neither)
    common = both * neither - only_new * only_old
    corrected = max(common - n / 2, 0.0) if common > 0 else common
    phi = corrected / math.sqrt(product) if product else 0.0

    def width(one: float, other: float) -> float:
        return math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))

    return p - q - width(p - low, high_old - q), p - q + width(high - p, q - low_old)


def fisher(new: tuple[int, int], old: tuple[int, int]) -> float:
    """Two-sided exact p of (hits, of) against (hits, of)."""
    from scipy.stats import fisher_exact

    table = [[new[0], new[1] - new[0]], [old[0], old[1] - old[0]]]
    return float(fisher_exact(table)[1])


def mcnemar(only_new: int, only_old: int) -> float:
    """Two-sided exact p of paired answers: questions only the new image got right, only the old one did."""
    from scipy.stats import binomtest

    discordant = only_new + only_old
    return 1.0 if discordant == 0 else float(binomtest(only_new, discordant, 0.5).pvalue)


def homogeneous(counts: Sequence[tuple[int, int]]) -> float:
    """p of one share behind several (hits, of); 1.0 where there is nothing to compare."""
    from scipy.stats import chi2_contingency

    hits, misses = [hit for hit, _ in counts], [of - hit for hit, of in counts]
    if len(counts) < 2 or not any(hits) or not any(misses):
        return 1.0
    return float(chi2_contingency([hits, misses], correction=False)[1])


def at_least(correct: int, n: int, share: float) -> float:
    """Probability of this many right answers or more if the true share were `share`."""
    from scipy.stats import binom

    return float(binom.sf(correct - 1, n, share))


def at_most(correct: int, n: int, share: float) -> float:
    """Probability of this many right answers or fewer if the true share were `share`."""
    from scipy.stats import binom

    return float(binom.cdf(correct, n, share))
