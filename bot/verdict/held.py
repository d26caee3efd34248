"""Gates of the measurements themselves: where one did not hold, the numbers beside it are evidence of nothing good.

A server that answered 503 to everything once its load was over had the throughput of a healthy one, and was called neutral.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.model.result import Cell, Finding, Judgement, Row
from bot.results.rowfile import failed_gates
from bot.verdict.pairs import counterpart, identity, order

BESIDE = frozenset({"eval", "failed-requests"})
"""Gates of which the baseline's own score or share of failures decides whether it is worse: at most they leave it open."""


def findings(latest: Sequence[Row], second: Sequence[Row], baseline: Sequence[Row]) -> tuple[Finding, ...]:
    """A finding for each point of which a gate does not hold on either side; none is ever good. `regressed` where the baseline is
    known at that point and held, and no second measurement held either; `how` names the gates, `new` and `baseline` count them."""
    mine, again, old = _failed(latest), _failed(second), _failed(baseline)
    points = dict.fromkeys(sorted(mine | again, key=order))
    made = [_finding(cell, mine.get(cell, frozenset()), again.get(cell), _at(cell, old)) for cell in points]
    return tuple(found for found in made if found is not None)


def _failed(rows: Iterable[Row]) -> dict[Cell, frozenset[str]]:
    """The gates that did not hold at each point that was measured."""
    made: dict[Cell, frozenset[str]] = {}
    for row in rows:
        cell = identity(row.point)
        made[cell] = made.get(cell, frozenset()) | failed_gates(row.flags)
    return made


def _at(cell: Cell, old: Mapping[Cell, frozenset[str]]) -> frozenset[str] | None:
    found = counterpart(cell, old)
    return None if found is None else old[found]


def _finding(cell: Cell, mine: frozenset[str], again: frozenset[str] | None, old: frozenset[str] | None) -> Finding | None:
    names = mine | (again or frozenset()) | (old or frozenset())
    if not names:
        return None
    new = len(mine or again or ())
    return Finding(
        metric="gates", point=cell, baseline=None if old is None else float(len(old)), new=float(new),
        delta=None if old is None else float(new - len(old)), unit="gates", recipe=cell.recipe,
        finding=_judged(mine, again, old), reasons=_reasons(mine, again, old), how=f"gates:{','.join(sorted(names))}")


def _judged(mine: frozenset[str], again: frozenset[str] | None, old: frozenset[str] | None) -> Judgement:
    worse = mine - BESIDE - (old or frozenset()) if again is None else mine & again - BESIDE - (old or frozenset())
    return "regressed" if worse and old is not None else "inconclusive"


def _reasons(mine: frozenset[str], again: frozenset[str] | None, old: frozenset[str] | None) -> tuple[str, ...]:
    unlike = again is not None and mine != again
    return (*(("not-confirmed",) if unlike else ()), *(("baseline-unverifiable",) if old else ()))
