"""Several sources of baselines as one: what each holds stands side by side, in the order in which the sources are named."""

from __future__ import annotations

from collections.abc import Mapping

from bot.errors import Unreachable
from bot.model.baseline import Aside, Offer, Question
from bot.model.result import Baseline
from bot.ports import Published


class SeveralBaselines:
    """Satisfies the Published port over others, by the name each is told by. Of one run in two sources the first counts;
    of different runs the newest leads and the others stand behind it, wherever they come from (`bot.baseline.match`)."""

    def __init__(self, sources: Mapping[str, Published]) -> None:
        self._sources = sources

    def offer(self, question: Question) -> Offer:
        """All offers together. A source that does not answer is a note while another does; Unreachable when none does, and
        where there is none at all the note says so."""
        sets, asides, notes = list[Baseline](), list[Aside](), list[str]()
        gone: list[Unreachable] = []
        for name, source in self._sources.items():
            try:
                found = source.offer(question)
            except Unreachable as error:
                gone.append(error)
                notes.append(f"source-unreachable:{name}")
                continue
            sets, asides, notes = [*sets, *found.sets], [*asides, *found.asides], [*notes, *found.notes]
        if gone and len(gone) == len(self._sources):
            raise gone[0]
        return Offer(sets=tuple(sets), asides=tuple(asides), notes=tuple(notes) if self._sources else ("no-source",))
