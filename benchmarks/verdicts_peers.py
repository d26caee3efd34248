"""Other tools' rules on the same arrays, and statistics with their thresholds matched.

A rule that is written down in another language, or bound to a server, is re-expressed here and called "style":
github-action-benchmark (`findAlerts`: ratio to the previous run above a threshold, 200 % unless set), Bencher (t test:
mean of the history and its population deviation, quantile of h - 1 degrees of freedom), rustc-perf (a change against the
last run beyond Q3 + 3 IQR of the changes between runs before it). Otava and asv run
from their own packages, elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.stats import t as student

from benchmarks.verdicts_draws import Array, Protocol, Sweeps

Flags = Array
"""[sweep, point, metric]: where a rule raised its alarm, or by how much something is worse there."""
FENCE = 3
LEVEL = 0.99


def worse(sweeps: Sweeps, run: int) -> Array:
    """How much worse a run is than the last published one, log units."""
    published: Array = sweeps.better[:, sweeps.history - 1]
    return published - sweeps.better[:, run]


def student_distance(frozen: Protocol, sweeps: Sweeps, run: int) -> Array | None:
    """Deviations of the history by which a run lies on the bad side of its mean; None with fewer than two runs."""
    if sweeps.history < 2:
        return None
    values = frozen.signs * sweeps.values
    old = values[:, : sweeps.history]
    distance: Array = (old.mean(1) - values[:, run]) / old.std(1)
    return distance


def fence_distance(frozen: Protocol, sweeps: Sweeps, run: int) -> Array | None:
    """Interquartile ranges by which a change for the worse lies beyond Q3; None where the history has fewer than two changes."""
    if sweeps.history < 3:
        return None
    old, last = sweeps.values[:, : sweeps.history], sweeps.values[:, sweeps.history - 1]
    changes = np.sort(np.abs(np.diff(old, axis=1)) / old[:, :-1], axis=1)
    low, high = changes[:, changes.shape[1] // 4], changes[:, changes.shape[1] * 3 // 4]
    change = frozen.signs * (last - sweeps.values[:, run]) / last
    distance: Array = (change - high) / (high - low)
    return distance


def t_limit(history: int) -> float:
    """Bencher's boundary in deviations."""
    return float(student.ppf(LEVEL, history - 1))


def rules(frozen: Protocol, sweeps: Sweeps) -> dict[str, Array]:
    """Which sweeps each rule, as shipped or as commonly set, raises an alarm in; those that need more history are absent."""
    first, second = worse(sweeps, -2), worse(sweeps, -1)
    told = {f"ratio {percent} % (github-action-benchmark style)": first > np.log(percent / 100) for percent in (200, 110, 105)}
    told["ratio 105 %, confirmed by a re-run"] = np.minimum(first, second) > np.log(1.05)
    t, fence = student_distance(frozen, sweeps, -2), fence_distance(frozen, sweeps, -2)
    t_again, fence_again = student_distance(frozen, sweeps, -1), fence_distance(frozen, sweeps, -1)
    if t is not None and t_again is not None:
        told["t limit .99 (Bencher style)"] = t > t_limit(sweeps.history)
        told["t limit .99, confirmed by a re-run"] = np.minimum(t, t_again) > t_limit(sweeps.history)
    if fence is not None and fence_again is not None:
        told["IQR fence x3 (rustc-perf style)"] = fence > FENCE
        told["IQR fence x3, confirmed by a re-run"] = np.minimum(fence, fence_again) > FENCE
    return {name: flags.any((1, 2)) for name, flags in told.items()}


def count(frozen: Protocol, sweeps: Sweeps, limit: int | None = None) -> dict[str, Counter[str]]:
    """`n` and `regressed`, the sweeps with an alarm, of every rule over the first `limit` sweeps of a block."""
    limit = frozen.block if limit is None else limit
    return {name: Counter(n=limit, regressed=int(alarms[:limit].sum())) for name, alarms in rules(frozen, sweeps).items()}


def walsh(effects: Array) -> Array:
    """Hodges-Lehmann over the points (axis 1): the median of all pairwise means, a value paired with itself too."""
    points = effects.shape[1]
    pairs = [(effects[:, i] + effects[:, j]) / 2 for i in range(points) for j in range(i, points)]
    return np.asarray(np.median(pairs, axis=0))


def from_median(sweeps: Sweeps, run: int) -> Array:
    """How much worse a run is than the median of those published, log units."""
    return np.asarray(np.median(sweeps.better[:, : sweeps.history], axis=1) - sweeps.better[:, run])


def statistics(frozen: Protocol, sweeps: Sweeps) -> dict[str, Array]:
    """One number a sweep and statistic, larger is worse: in units of each metric's margin where it is a log ratio."""
    one, two = from_median(sweeps, -2) / frozen.margins, from_median(sweeps, -1) / frozen.margins
    both, most = np.minimum(one, two), (1, 2)
    pools = np.minimum(walsh(one), walsh(two)).max(1)
    made = {
        "any point, one run": one.max(most),
        "geometric mean over points, one run": one.mean(1).max(1),
        "Hodges-Lehmann over points, one run": walsh(one).max(1),
        "any point, mean of two runs": ((one + two) / 2).max(most),
        "any point, both of two runs": both.max(most),
        "Hodges-Lehmann, both of two runs": pools,
        "max(Hodges-Lehmann, worst point / 2), both of two": np.maximum(pools, both.max(most) / 2),
    }
    distances: dict[str, Callable[[Protocol, Sweeps, int], Array | None]] = {
        "t limit": student_distance, "IQR fence": fence_distance}
    for name, distance in distances.items():
        first, second = distance(frozen, sweeps, -2), distance(frozen, sweeps, -1)
        if first is not None and second is not None:
            made[f"{name}, one run"] = first.max(most)
            made[f"{name}, both of two runs"] = np.minimum(first, second).max(most)
    return made
