"""Evals against the baseline's: two shares with their n, compared by Newcombe's interval. The gate is another question.

A gate at 0.90 with 1319 questions cannot see a fall from 0.973 to 0.92; and a score below it may be no fall at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import structs

from bot.model.result import Finding, Judgement, Row
from bot.verdict.pairs import identity, order
from bot.verdict.statistics import Z_FAMILY, Z_ONE_SIDED, newcombe

MARGIN = 0.02
QUESTIONS = 20
"""Fewer carry no verdict: one right answer of two says that the share lies between 0.09 and 0.91. They can still gate."""
STATS = {
    "em_strict": "strict",
    "strict-match": "strict",
    "exact_match,strict-match": "strict",
    "em_flexible": "flexible",
    "flexible-extract": "flexible",
    "exact_match,flexible-extract": "flexible",
}


def normal(row: Row) -> Row:
    """`gsm8k/em_strict` and the filters' long names in one spelling; a score without a filter is the strict one."""
    task, _, filtered = (row.task or "").partition("/")
    stat = row.stat or filtered or None
    return structs.replace(row, task=task or None, stat=STATS.get(stat or "strict", stat or "strict"))


def findings(new: Sequence[Row], baseline: Sequence[Row], margin: float = MARGIN) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """A finding for each eval with a comparable baseline; for the others a reason, because nothing can be found."""
    theirs = [normal(row) for row in baseline if row.metric == "eval"]
    made: list[Finding] = []
    reasons: list[str] = []
    for row in sorted((normal(row) for row in new if row.metric == "eval"), key=_order):
        old = nearest(row, theirs)
        if old is None:
            reasons.append(f"eval-not-comparable:{row.task}" if row.task else "eval-not-comparable")
        elif min(row.n or QUESTIONS, old.n or QUESTIONS) < QUESTIONS:
            reasons.append(f"too-few-points:{row.task}" if row.task else "too-few-points")
        else:
            made.append(_finding(row, old, margin))
    return tuple(made), tuple(dict.fromkeys(reasons))


def nearest(row: Row, baseline: Sequence[Row]) -> Row | None:
    """The baseline's score of the same recipe, task and filter, at the same concurrency or else the nearest.

    A score does not depend on concurrency (three points of the seed agree, p = 0.50), and often only one was published.
    """
    fitting = [old for old in baseline if (old.task, old.stat) == (row.task, row.stat)
               and (not old.point.recipe or not row.point.recipe or old.point.recipe == row.point.recipe)]
    return min(
        fitting,
        default=None,
        key=lambda old: (
            abs(math.log(max(old.point.concurrency, 1) / max(row.point.concurrency, 1))),
            -old.point.concurrency,
            -(old.run or 0),
            old.value,
        ),
    )


def _finding(row: Row, old: Row, margin: float) -> Finding:
    mine, theirs = counts(row), counts(old)
    difference = row.value - old.value
    interval, finding, reasons = None, "inconclusive", ("noise-unknown",)
    if mine and theirs:
        interval = newcombe(mine, theirs)
        finding = judgement(mine, theirs, margin)
        reasons = ("wide-interval",) if finding == "inconclusive" else ()
    return Finding(
        metric="eval",
        point=identity(row.point),
        baseline=old.value,
        new=row.value,
        delta=difference,
        unit="share",
        finding=finding,
        interval=interval,
        n=row.n,
        reasons=reasons,
    )


def judgement(mine: tuple[int, int], theirs: tuple[int, int], margin: float) -> Judgement:
    """Regressed: down by the margin and surely down. Neutral must be shown: surely not down by the margin."""
    difference = mine[0] / mine[1] - theirs[0] / theirs[1]
    low, high = newcombe(mine, theirs, Z_FAMILY)
    if difference <= -margin and high < 0:
        return "regressed"
    if difference >= margin and low > 0:
        return "improved"
    return "neutral" if newcombe(mine, theirs, Z_ONE_SIDED)[0] > -margin else "inconclusive"


def counts(row: Row) -> tuple[int, int] | None:
    """(right, asked); the nearest whole number where only the share is known; None without n."""
    if not row.n:
        return None
    correct = row.correct if row.correct is not None else math.floor(row.value * row.n + 0.5)
    return min(max(correct, 0), row.n), row.n


def _order(row: Row) -> tuple[object, ...]:
    return (row.task or "", row.stat or "", order(row.point), row.value)
