"""The ledger's own results as published baselines: what earlier bumps and sweeps measured, one file a run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bot.baseline.identity import agrees
from bot.baseline.match import same_image
from bot.errors import BadInput, BumpbotError, Unreachable
from bot.ledger.paths import results_folder
from bot.ledger.store import Ledger
from bot.model.baseline import Aside, Configuration, Offer, Question
from bot.model.ledger import Measured, Snapshot
from bot.model.result import Baseline


class LedgerBaselines:
    """Satisfies the Published port over a ledger's `results/`, as they are when it is asked."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def offer(self, question: Question) -> Offer:
        """Every run of exactly this recipe with this image. A file that does not hold is a note and takes no other with it."""
        sets, asides, notes = list[Baseline](), list[Aside](), list[str]()
        for measured in self._measured(self._ledger.tip(), question.recipe, notes):
            image = _pinned(measured)
            for fingerprint in dict.fromkeys(row.point.fingerprint for row in measured.rows):
                made = _set(measured, image, fingerprint)
                if same_image(image, question.image) and any(_is(made, one) for one in question.configurations):
                    sets.append(made)
                else:
                    asides += [Aside(image=image, fingerprint=fingerprint or "", identity="", date=measured.date,
                                     topology=cell.topology or "", concurrency=cell.concurrency)
                               for cell in dict.fromkeys(row.point for row in made.rows)]
        return Offer(sets=tuple(sets), asides=tuple(dict.fromkeys(asides)), notes=tuple(notes))

    def _measured(self, snapshot: Snapshot, recipe: str, notes: list[str]) -> Iterator[Measured]:
        home = results_folder(recipe)
        for path in sorted(path for path in snapshot.paths if path.startswith(home)):
            try:
                found = self._ledger.load(snapshot, path, Measured)
                if found is not None:
                    yield sound(found, path)
            except Unreachable:
                raise
            except BumpbotError:
                notes.append(f"result-unreadable:{path}")


def sound(measured: Measured, path: str) -> Measured:
    """The record as it is; BadInput names a value that cannot be one, or a row that is told twice or of another recipe."""
    seen: set[object] = set()
    for number, row in enumerate(measured.rows):
        most = 1.0 if row.metric == "eval" else math.inf
        key = (row.point, row.metric, row.stat, row.task, row.repeat)
        fault = ("not a measurement" if not (math.isfinite(row.value) and 0 <= row.value <= most) else
                 "stands twice" if key in seen else
                 f"of recipe {row.point.recipe}" if row.point.recipe != measured.recipe else None)
        if fault:
            raise BadInput(fault, "publish what was measured, once", file=path, key=f"rows.{number}")
        seen.add(key)
    return measured


def _is(made: Baseline, wanted: Configuration) -> bool:
    return made.fingerprint == wanted.fingerprint and all(agrees(row.point.topology, row.point.workload, wanted)
                                                          for row in made.rows)


def _pinned(measured: Measured) -> str:
    """The image with the digest that it named when it was measured."""
    return f"{measured.image}@{measured.digest}" if measured.digest and "@" not in measured.image else measured.image


def _set(measured: Measured, image: str, fingerprint: str | None) -> Baseline:
    rows = tuple(row for row in measured.rows if row.point.fingerprint == fingerprint)
    at = {row.point.concurrency for row in rows}
    return Baseline(
        date=measured.date, image=image, run=measured.run, attempt=measured.attempt, head=measured.head, pull=measured.pull,
        fingerprint=fingerprint, rows=rows, source=f"ledger:results/{measured.recipe}/", thresholds=measured.thresholds,
        accounting=tuple(one for one in measured.accounting if one.concurrency in at),
        samples=tuple(one for one in measured.samples if one.concurrency in at),
        notes=() if measured.accounting else ("requests-unpublished",))
