"""A source of published points in memory: it measured whatever is asked for, but for what is told otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.errors import Unreachable
from bot.model.baseline import Aside, Configuration, Offer, Question
from bot.model.result import Baseline, Cell, Row


class Measured(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was published of each recipe with the image that it runs. `retired` are workloads or topologies beside those that are
    asked for, as `TP8 1k1k`; `lacks` concurrencies that were not measured; `scores` by task, with `asked` questions each."""

    date: str = "2026-09-01"
    run: int = 34_000_000_000
    retired: tuple[str, ...] = ()
    extra: tuple[int, ...] = ()
    lacks: tuple[int, ...] = ()
    scores: dict[str, float] = {}
    asked: int = 1319


class PublishedHere:
    """Satisfies Published. None: nothing is published; the text `away`: nobody answers."""

    def __init__(self, told: Measured | str | None) -> None:
        self._told = told

    def offer(self, question: Question) -> Offer:
        if isinstance(self._told, str):
            raise Unreachable("the source of baselines does not answer", "try again later")
        if self._told is None:
            return Offer()
        return Offer(sets=tuple(self._set(question, one, self._told) for one in question.configurations),
                     asides=tuple(self._asides(question, self._told)))

    def _set(self, question: Question, one: Configuration, told: Measured) -> Baseline:
        rows = [Row(point=self._cell(question, one, conc), metric="output_throughput_per_gpu", value=100.0 + conc, unit="tok/s",
                    run=told.run, image=question.image)
                for conc in (*one.concurrencies, *told.extra) if conc not in told.lacks]
        scores: Mapping[str, float] = told.scores or {spec.task: 0.95 for spec in question.evals}
        rows += [Row(point=self._cell(question, one, max(one.concurrencies)), metric="eval", value=score, unit="share", n=told.asked,
                     run=told.run, image=question.image, task=task) for task, score in scores.items()]
        return Baseline(date=told.date, image=question.image, run=told.run, attempt=1, head="f" * 40, pull=None,
                        fingerprint=one.fingerprint, rows=tuple(rows), source="published", identity=one.identity)

    def _asides(self, question: Question, told: Measured) -> Sequence[Aside]:
        found = []
        for text in told.retired:
            topology, _, workload = text.partition(" ")
            parts = next(one.identity for one in question.configurations if one.identity).split("|")
            parts[4:6] = [topology, workload]
            found.append(Aside(image=question.image, fingerprint="e" * 64, identity="|".join(parts), date=told.date, run=told.run,
                               topology=topology, concurrency=8))
        return found

    @staticmethod
    def _cell(question: Question, one: Configuration, concurrency: int) -> Cell:
        return Cell(recipe=question.recipe, concurrency=concurrency, workload=one.workload or None, topology=one.topology or None,
                    fingerprint=one.fingerprint)
