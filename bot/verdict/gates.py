"""Gates that must hold whatever the baseline was: eval scores against their threshold, failed requests against theirs.

Strict and flexible scores both gate, as in the guest's own check (every `exact_match,*` must reach the threshold).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.model.result import Accounting, Row, Samples, Score
from bot.verdict.errors import measured
from bot.verdict.evals import counts, nearest, normal
from bot.verdict.statistics import wilson

STRICT_LIMIT = 0.10
"""Share of failed requests that the guest's own check allows after a run; equal passes."""


class Thresholds(Struct, frozen=True, kw_only=True):
    """The guest's thresholds file: by task, and for some models other ones. Scores are shares."""

    default: dict[str, float]
    models: dict[str, dict[str, float]] = {}

    def of(self, model: str) -> dict[str, float]:
        """The thresholds of one model prefix: its own before the defaults."""
        return {**self.default, **self.models.get(model, {})}


class RequestGate(Struct, frozen=True, kw_only=True):
    """Failed requests of one point in the profiling phase. At `live` the load generator gives up itself."""

    concurrency: int
    recipe: str = ""
    invalid: int
    of: int
    limit: float
    passed: bool
    live: float | None = None
    live_passed: bool | None = None

    @property
    def share(self) -> float:
        return self.invalid / self.of if self.of else 1.0


def scores(
    rows: Sequence[Row],
    thresholds: Mapping[str, float],
    baseline: Sequence[Row],
    samples: Sequence[Samples] = (),
    default: float | None = None,
) -> tuple[Score, ...]:
    """Every eval at every point against its gate and beside its baseline.

    `default` is the threshold of a task that has none; without it such a score is reported and gates nothing. Where the
    baseline had another task the difference is N/A, and `missing` names what was published instead.
    """
    theirs = [normal(row) for row in baseline if row.metric == "eval"]
    answered = {(part.recipe, part.concurrency, part.task): part for part in samples}
    made = [
        _score(row, thresholds.get(row.task or "", default), theirs, answered)
        for row in (normal(row) for row in rows if row.metric == "eval")
    ]
    return tuple(
        sorted(made, key=lambda score: (score.recipe, score.task, score.concurrency, score.metric != "strict", score.metric,
                                        score.value))
    )


def _score(row: Row, threshold: float | None, baseline: Sequence[Row], answered: Mapping[tuple[str, int, str], Samples]) -> Score:
    old = nearest(row, baseline)
    published = sorted({other.task for other in baseline if other.task})
    key = (row.point.concurrency, row.task or "")
    others = [] if row.task in published else published  # under another filter alone it was published all the same
    missing = None if old else ":".join(["eval-not-comparable", *([",".join(others)] if others else [])])
    return Score(
        concurrency=row.point.concurrency,
        task=row.task or "",
        metric=row.stat or "score",
        value=row.value,
        n=row.n or 0,
        threshold=threshold,
        passed=None if threshold is None else row.value >= threshold,
        baseline=old.value if old else None,
        missing=missing,
        samples=answered.get((row.point.recipe, *key)) or answered.get(("", *key)),
        recipe=row.point.recipe,
        interval=wilson(*counted) if (counted := counts(row)) else None,
    )


def failed_requests(
    accounting: Sequence[Accounting], *, limit: float = STRICT_LIMIT, live: float | None = None
) -> tuple[RequestGate, ...]:
    """The gate on failed requests, point by point. No completed request fails it: nothing was measured."""
    made = []
    for counted in sorted(accounting, key=lambda counted: (counted.recipe, counted.concurrency)):
        invalid, of = measured(counted)
        share = invalid / of if of else 1.0
        alive = counted.profiled > 0
        made.append(
            RequestGate(
                concurrency=counted.concurrency,
                recipe=counted.recipe,
                invalid=invalid,
                of=of,
                limit=limit,
                passed=alive and share <= limit,
                live=live,
                live_passed=None if live is None else alive and share <= live,
            )
        )
    return tuple(made)


def coverage(rows: Sequence[Row], expected: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Recipe and concurrency of the points that should have been measured and have no throughput row, in order."""
    seen = {(row.point.recipe, row.point.concurrency) for row in rows if row.metric != "eval" and row.value > 0}
    return tuple(point for point in sorted(set(expected)) if point not in seen)
