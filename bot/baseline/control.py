"""A run of the old image beside the sweep as its baseline: what it measured, beside what was published of the evals."""

from __future__ import annotations

from msgspec.structs import replace

from bot.model.bump import Judged
from bot.model.result import Baseline


def same_day(published: Baseline | None, arm: Judged, *, image: str, date: str) -> Baseline:
    """The baseline that a whole control arm is, in place of the published points; `date` (ISO) is the day on which it began.

    Its evals are not run again: their rows, samples, thresholds and notes stay those that were published, and what could not be
    verified of the published points is no doubt about these.
    """
    made = Baseline(date=date, image=image, run=arm.run, attempt=None, head=arm.head, pull=None, fingerprint=None, rows=(),
                    source="control-arm")
    kept = made if published is None else replace(
        made, rows=tuple(row for row in published.rows if row.metric == "eval"), samples=published.samples,
        thresholds=published.thresholds, notes=tuple(note for note in published.notes if note.startswith("eval-")))
    return replace(kept, rows=(*(row for row in arm.rows if row.metric != "eval"), *kept.rows), accounting=arm.accounting)
