"""Invalid requests against the baseline's. The unit of the test is the conversation, because failures cluster in one.

In the seed six of seven invalid answers were one conversation; by requests two identical systems differ at p = 0.015.
Requests that are no turns of a conversation are units themselves: 40 failures of 100 need no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.model.result import Accounting, Cell, Finding, Judgement, Row
from bot.verdict.statistics import fisher, newcombe

MARGIN = 0.02
LEVEL = 0.01
PLAIN = 0.10
"""By how much more requests must fail where nobody says whether they were turns of conversations: what a job may lose of its
requests at most. A conversation lost whole has moved the share by half of that."""


def independent(rows: Iterable[Row]) -> dict[tuple[str, int], float]:
    """The points whose requests are no conversations', by what their rows say of the workload, with the margin there."""
    made: dict[tuple[str, int], float] = {}
    for row in rows:
        if row.metric != "eval":
            own = 1.0 if (row.point.workload or "").startswith("agentic") else MARGIN if row.point.workload else PLAIN
            key = row.point.recipe, row.point.concurrency
            made[key] = max(own, made.get(key, 0.0))
    return {key: margin for key, margin in made.items() if margin < 1.0}


def findings(
    recipe: str, new: Sequence[Accounting], baseline: Sequence[Accounting], rows: Sequence[Row] = ()
) -> tuple[Finding, ...]:
    """A finding for each point that both sides counted; `recipe` is whose they are where the accounting does not say, `rows`
    tell the workload. Warm-up errors do not enter: they are no error rate."""
    plain = independent(rows)
    theirs = {(counted.recipe or recipe, counted.concurrency): counted for counted in baseline}
    made = []
    for mine in sorted(new, key=lambda counted: (counted.recipe, counted.concurrency)):
        owner = mine.recipe or recipe
        old = theirs.get((owner, mine.concurrency))
        if old is not None and measured(mine)[1] and measured(old)[1]:
            made.append(_finding(owner, mine, old, plain.get((owner, mine.concurrency), plain.get(("", mine.concurrency)))))
    return tuple(made)


def measured(counted: Accounting) -> tuple[int, int]:
    """(invalid, all) of the profiling phase."""
    return counted.profiling_invalid, counted.profiled + counted.profiling_invalid


def talks(counted: Accounting) -> tuple[int, int] | None:
    """(with an invalid answer, all) conversations of the profiling phase; None where nobody counted them."""
    if not counted.conversations or counted.conversations_invalid is None:
        return None
    return counted.conversations_invalid, counted.conversations


def _finding(recipe: str, mine: Accounting, theirs: Accounting, margin: float | None) -> Finding:
    finding, reasons = judgement(mine, theirs, margin)
    (bad, of), (bad_old, of_old) = measured(mine), measured(theirs)
    return Finding(
        metric="invalid_requests",
        point=Cell(recipe=recipe, concurrency=mine.concurrency),
        baseline=bad_old / of_old,
        new=bad / of,
        delta=bad / of - bad_old / of_old,
        unit="share",
        finding=finding,
        n=of,
        reasons=reasons,
        interval=newcombe((bad, of), (bad_old, of_old)),
    )


def judgement(mine: Accounting, theirs: Accounting, margin: float | None = None) -> tuple[Judgement, tuple[str, ...]]:
    """Worse only when more conversations fail, by the margin and beyond chance; failing requests alone are a flag. Where
    nobody counted conversations and `margin` says that the requests are none, the requests themselves must do so.

    `clustered` is told of several failures in one conversation, or where that may be; else there are too few to say more.
    """
    counted, counted_old = measured(mine), measured(theirs)
    more = counted[0] / counted[1] - counted_old[0] / counted_old[1]
    units, units_old = talks(mine), talks(theirs)
    if units and units_old:
        difference = units[0] / units[1] - units_old[0] / units_old[1]
        if difference >= MARGIN and fisher(units, units_old) < LEVEL:
            return "regressed", ()
        if max(more, difference) < MARGIN:
            return "neutral", ()
        return "inconclusive", ("clustered",) if counted[0] > units[0] else ("wide-interval",)
    if margin is not None and more >= margin and fisher(counted, counted_old) < LEVEL:
        return "regressed", ()
    if more < MARGIN:
        return "neutral", ()
    return "inconclusive", ("clustered",) if margin is None else ("wide-interval",)
