"""A first sample of shuffled questions, before the sweep is paid for: stop, or go on, and how much it can have missed.

In the seed the sweep had used about 120 GPU-hours when its eval failed; a hundred questions in the smoke would have
stopped it with probability 0.999, at 0.6 % false alarms. Going on is no verdict: a hundred questions show none.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from bot.model.result import Samples
from bot.verdict.paired import Paired, paired
from bot.verdict.statistics import at_most, newcombe

LEVEL = 0.01
SAMPLE = 100
FALL = 0.02


class Canary(Struct, frozen=True, kw_only=True):
    """What a first sample says. `bound` is the most right answers that are still an alarm (-1: none could be), `chance`
    the probability of an alarm if nothing changed, `interval` that of the difference, for what it is worth.

    `finding` is `regressed` at an alarm and else `inconclusive`: the sweep's own eval is what may call it neutral.
    """

    decision: Literal["stop", "go-on"]
    finding: Literal["regressed", "inconclusive"]
    right: int
    asked: int
    baseline: float
    bound: int
    chance: float
    interval: tuple[float, float]
    paired: bool = False

    def power(self, share: float) -> float:
        """Probability that this sample would have raised the alarm if the true share of right answers were `share`."""
        return at_most(self.bound, self.asked, share) if self.bound >= 0 else 0.0


@lru_cache(maxsize=64)
def bound(asked: int, share: float, level: float = LEVEL) -> int:
    """The most right answers of `asked` whose probability, with `share` unchanged, is below `level`; -1 where none is."""
    return max((right for right in range(asked) if at_most(right, asked, share) < level), default=-1)


def canary(
    mine: tuple[int, int],
    baseline: tuple[int, int],
    *,
    samples: Samples | None = None,
    baseline_samples: Samples | None = None,
    level: float = LEVEL,
) -> Canary:
    """Judges (right, asked) of a first sample against the baseline's whole (right, asked).

    The questions must have been shuffled: the first hundred of a suite in its own order are another eval. Where both
    sides kept their answers, those to the same questions are compared too, and either alarm is one (each at half the
    level, so that together they keep to it). Raises ValueError where nothing was asked.
    """
    if mine[1] < 1 or baseline[1] < 1:
        raise ValueError("no questions to judge by")
    both = paired(samples, baseline_samples)
    each = level / 2 if both else level
    share = baseline[0] / baseline[1]
    limit = bound(mine[1], share, each)
    alarm = mine[0] <= limit or (both is not None and _fell(both, each))
    return Canary(
        decision="stop" if alarm else "go-on",
        finding="regressed" if alarm else "inconclusive",
        right=mine[0],
        asked=mine[1],
        baseline=share,
        bound=limit,
        chance=at_most(limit, mine[1], share) if limit >= 0 else 0.0,
        interval=newcombe(mine, baseline),
        paired=both is not None,
    )


def _fell(both: Paired, level: float) -> bool:
    discordant = both.only_new + both.only_old
    return discordant > 0 and at_most(both.only_new, discordant, 0.5) < level


def sequential(
    marks: str, share: float, *, fall: float = FALL, alpha: float = LEVEL, beta: float = 0.05
) -> tuple[Literal["bad", "good", "open"], int]:
    """Wald's sequential test over answers in shuffled, fixed order: `share` still holds, or it fell by `fall`.

    `marks` has a letter an answer, `r` for a right one. Gives the decision and after how many answers it fell; `open` when
    they were too few. It needs answers as they come; without them `canary` and then the rest do.
    """
    down = share - fall
    right, wrong = math.log(down / share), math.log((1 - down) / (1 - share))
    high, low, total = math.log((1 - beta) / alpha), math.log(beta / (1 - alpha)), 0.0
    for place, mark in enumerate(marks, start=1):
        total += right if mark == "r" else wrong
        if total >= high:
            return "bad", place
        if total <= low:
            return "good", place
    return "open", len(marks)
