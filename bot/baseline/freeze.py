"""The baseline as it is kept: once per bump, with everything said that can no longer be checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import structs

from bot.baseline.match import Match
from bot.model.result import Accounting, Baseline, Row, Samples


def freeze(
    found: Match,
    *,
    repushed: datetime | None = None,
    tasks: Iterable[str] = (),
    concurrencies: Iterable[int] = (),
    accounting: Sequence[Accounting] = (),
    samples: Sequence[Samples] = (),
) -> Baseline | None:
    """The matched baseline with its notes, older runs of the same configuration joined in; None when nothing matched.

    `repushed` is when the tag was last pushed: after the baseline's date the bytes that ran cannot be verified. `tasks`
    and `concurrencies` are what the recipe selects now; what differs is a note and its difference N/A. `accounting` and
    `samples` come from the producing run's artifacts, while these live: the published source holds neither.

    Notes are words, a value after the colon: `baseline-unverifiable:2026-09-03`, `eval-not-comparable:gsm8k`,
    `points-gone:32`, `points-new:16`, `baseline-single`, `fingerprint-unknown`.
    """
    if found.baseline is None:
        return None
    rows = (*found.baseline.rows, *(row for older in found.history for row in older.rows if row.metric != "eval"))
    notes = [
        *found.notes,
        *_pushed(found.baseline.date, repushed),
        *_tasks(found.baseline.rows, tasks),
        *_points(found.baseline.rows, concurrencies),
    ]
    if not found.history:
        notes.append("baseline-single")
    return structs.replace(
        found.baseline,
        rows=rows,
        notes=tuple(dict.fromkeys((*found.baseline.notes, *notes))),
        accounting=tuple(accounting) or found.baseline.accounting,
        samples=tuple(samples) or found.baseline.samples,
    )


def _pushed(date: str, repushed: datetime | None) -> list[str]:
    if repushed is None or repushed.date().isoformat() <= date:
        return []
    return [f"baseline-unverifiable:{repushed.date().isoformat()}"]


def _tasks(rows: Sequence[Row], selected: Iterable[str]) -> list[str]:
    wanted, published = set(selected), {row.task for row in rows if row.metric == "eval" and row.task}
    return [f"eval-not-comparable:{task}" for task in sorted(published - wanted)] if wanted else []


def _points(rows: Sequence[Row], concurrencies: Iterable[int]) -> list[str]:
    wanted, published = set(concurrencies), {row.point.concurrency for row in rows if row.metric != "eval"}
    if not wanted:
        return []
    return [f"points-gone:{conc}" for conc in sorted(published - wanted)] + [
        f"points-new:{conc}" for conc in sorted(wanted - published)
    ]
