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
    apart, rounded = abs(share * n - nearest), _ROUNDING * n
    # Of ten thousand questions and more a rounded share leaves several counts; an exact one leaves its own.
    return nearest if apart <= 1e-6 or apart <= rounded < 0.5 else None
