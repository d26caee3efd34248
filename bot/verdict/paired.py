"""Two images' answers to the same questions, side by side: what both answered alike is no noise then.

In pairs the standard error of a difference of 1319 questions is 0.26 to 0.36 points, in two separate shares 0.63 (STATS 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.model.result import Row, Samples

_PRINT = 4
"""Hexadecimal digits of one question's print."""


class Paired(NamedTuple):
    """The same questions on both sides: right (or cut) on both, on the new one only, on the old one only, on neither."""

    both: int
    only_new: int
    only_old: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.only_new + self.only_old + self.neither


def paired(mine: Samples | None, theirs: Samples | None, mark: str = "r") -> Paired | None:
    """How often both sides, or one, have `mark` on the questions both were asked; None where they cannot be paired.

    Marks stand in the order of the suite; a question pairs only where its print is the same on both sides. A sample of
    which less than half can be paired is another selection, and its pairs no fair ones.
    """
    if mine is None or theirs is None or not mine.marks or not theirs.marks:
        return None
    found = [
        (one == mark, other == mark)
        for place, (one, other) in enumerate(zip(mine.marks, theirs.marks, strict=False))
        if "-" not in (one, other) and _print(mine, place) == _print(theirs, place) != ""
    ]
    if not found or 2 * len(found) < min(mine.n, theirs.n):
        return None
    return Paired(found.count((True, True)), found.count((True, False)), found.count((False, True)), found.count((False, False)))


def _print(samples: Samples, place: int) -> str:
    told = samples.prints[_PRINT * place : _PRINT * (place + 1)]
    return "" if told.startswith("-") else told


def samples_of(row: Row, samples: Sequence[Samples]) -> Samples | None:
    """The answers behind a score: same task and concurrency, of this recipe or of one that is not told, and counting as
    many right ones as the score does (those of another run would pair with the wrong questions' luck)."""
    for recipe in (row.point.recipe, ""):
        for part in samples:
            told = part.recipe, part.concurrency, part.task
            if told == (recipe, row.point.concurrency, row.task) and part.n and abs(part.correct / part.n - row.value) < 5e-4:
                return part
    return None
