"""Invalid requests against the baseline's. The unit of the test is the conversation, because failures cluster in one.

In the seed six of seven invalid answers were one conversation; by requests two identical systems differ at p = 0.015.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.result import Accounting, Cell, Finding, Judgement
from bot.verdict.statistics import fisher, newcombe

MARGIN = 0.02
LEVEL = 0.01


def findings(recipe: str, new: Sequence[Accounting], baseline: Sequence[Accounting]) -> tuple[Finding, ...]:
    """A finding for each point that both sides counted; `recipe` is whose they are where the accounting does not say.
    Warm-up errors do not enter: they are no error rate."""
    theirs = {(counted.recipe or recipe, counted.concurrency): counted for counted in baseline}
    made = []
    for mine in sorted(new, key=lambda counted: (counted.recipe, counted.concurrency)):
        owner = mine.recipe or recipe
        old = theirs.get((owner, mine.concurrency))
        if old is not None and measured(mine)[1] and measured(old)[1]:
            made.append(_finding(owner, mine, old))
    return tuple(made)


def measured(counted: Accounting) -> tuple[int, int]:
    """(invalid, all) of the profiling phase."""
    return counted.profiling_invalid, counted.profiled + counted.profiling_invalid


def talks(counted: Accounting) -> tuple[int, int] | None:
    """(with an invalid answer, all) conversations of the profiling phase; None where nobody counted them."""
    if not counted.conversations or counted.conversations_invalid is None:
        return None
    return counted.conversations_invalid, counted.conversations


def _finding(recipe: str, mine: Accounting, theirs: Accounting) -> Finding:
    finding, reasons = judgement(mine, theirs)
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


def judgement(mine: Accounting, theirs: Accounting) -> tuple[Judgement, tuple[str, ...]]:
    """Worse only when more conversations fail, by the margin and beyond chance; failing requests alone are a flag."""
    grown = measured(mine)[0] / measured(mine)[1] - measured(theirs)[0] / measured(theirs)[1] >= MARGIN
    units, units_old = talks(mine), talks(theirs)
    if units and units_old:
        difference = units[0] / units[1] - units_old[0] / units_old[1]
        if difference >= MARGIN and fisher(units, units_old) < LEVEL:
            return "regressed", ()
        grown = grown or difference >= MARGIN
    return ("inconclusive", ("clustered",)) if grown else ("neutral", ())
