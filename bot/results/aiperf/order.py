"""Order statistics of very many values, without sorting them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_FEW = 20_000
_SAMPLE = 4_096


def quantiles(values: Sequence[float], shares: Sequence[float]) -> list[float]:
    """The quantile at each share (0 to 1): between the two values around place `share * (n - 1)` by straight line, as
    AIPerf and NumPy's default have it (type 7 of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996).

    Of many values only those near an asked place are sorted: a sample says between which two they lie, and counting says
    whether that was right. Where it was not (a sample that misleads), all are sorted; the answer is the same.
    """
    n = len(values)
    wanted = sorted({at for share in shares for at in (int(share * (n - 1)), min(int(share * (n - 1)) + 1, n - 1))})
    found = (_near(values, wanted) if n > _FEW else None) or dict(enumerate(sorted(values)))
    return between(found.__getitem__, n, shares)


def between(ranked: Callable[[int], float], n: int, shares: Sequence[float]) -> list[float]:
    """The same from the values by their rank (0 to n - 1)."""
    made = []
    for share in shares:
        place = share * (n - 1)
        low, high = ranked(int(place)), ranked(min(int(place) + 1, n - 1))
        made.append(low + (place - int(place)) * (high - low))
    return made


def _near(values: Sequence[float], wanted: Sequence[int]) -> dict[int, float] | None:
    """The values at these ranks, from the least asked for upwards; None where a sample did not enclose them."""
    n = len(values)
    sample = sorted(values[:: max(1, n // _SAMPLE)])
    step, slack = len(sample) / n, len(sample) // 64
    found: dict[int, float] = {}
    rest, below = values, 0
    for rank in wanted:
        if rank in found:
            continue
        middle = int(rank * step)
        low, high = middle - slack, middle + slack
        if low > 0:
            least = sample[low]
            rest = [value for value in rest if value >= least]
            below = n - len(rest)
        window = sorted([value for value in rest if value <= sample[high]] if high < len(sample) else rest)
        if not below <= rank < below + len(window):
            return None
        found |= {at: window[at - below] for at in wanted if below <= at < below + len(window)}
    return found
