"""How many questions a score stands for."""

from __future__ import annotations

import math

_ROUNDING = 5e-5
"""Half a unit of the fourth decimal, to which published scores are rounded."""


def correct_of(share: float, n: int | None) -> int | None:
    """The number of right answers behind a share of `n`; None where it is no such fraction (a mean of ratings)."""
    if n is None:
        return None
    nearest = math.floor(share * n + 0.5)
    return nearest if abs(share * n - nearest) <= max(_ROUNDING * n, 1e-6) else None
