"""Which files tell of one measurement, which of several: the load generator's own runs, and what counts of each point.

A load generator names its runs; where it did not, the folder says which repetition it is. Two names at one point are two
repetitions, and no contradiction; the mean that the generator made of them gives way to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import structs

from bot.model.result import Cell, Row
from bot.results import places
from bot.results.parsed import GENERATOR, REQUESTS, Parsed

OF_ITS_RUNS = (GENERATOR, REQUESTS)
"""Rows of one run of the load generator each."""


class File(NamedTuple):
    """One file's name, what it says at its concurrency, and the mark of the measurement that it tells of."""

    name: str
    made: Parsed
    mark: str = ""


def marked(files: Sequence[File]) -> list[File]:
    """Each file with its mark: the name of the generator's run, else the repetition in its path, else none."""
    named: dict[str, str] = {}
    for file in files:
        if file.made.measurement:
            named.setdefault(places.folder(file.name), file.made.measurement)
    return [file._replace(mark=file.made.measurement or named.get(places.folder(file.name), "") or _numbered(file.name))
            for file in files]


def counting(files: Sequence[File]) -> list[File]:
    """The rows that count, those of the load generator at the workload that its run had and with their repetition."""
    best: dict[int, list[tuple[int, Cell]]] = {}
    for file in files:
        for row in file.made.rows:
            if _measures(row):
                best.setdefault(row.point.concurrency, []).append((file.made.rank, row.point))
    loads = _loads(files)
    kept = []
    for file in files:
        rows = [_loaded(row, loads.get((file.mark, row.point.concurrency))) if file.made.rank in OF_ITS_RUNS else row
                for row in file.made.rows]
        rows = [row for row in rows if row.metric == "eval" or not any(
            rank < file.made.rank and _may_be(row.point, point) for rank, point in set(best.get(row.point.concurrency, ())))]
        kept.append(file._replace(made=structs.replace(file.made, rows=tuple(rows))))
    return _counted(kept)


def _counted(files: Sequence[File]) -> list[File]:
    """Repetitions of a point numbered from 1, by the number in their path and then by name."""
    marks: dict[Cell, dict[str, tuple[int, str]]] = {}
    for file in files:
        for row in file.made.rows if file.made.rank in OF_ITS_RUNS else ():
            if row.repeat is None:
                order = places.repetition(file.name) or 0, file.name
                known = marks.setdefault(row.point, {})
                known[file.mark] = min(order, known.get(file.mark, order))
    numbers = {point: {mark: index for index, (_, mark) in enumerate(sorted((order, mark) for mark, order in known.items()), 1)}
               for point, known in marks.items() if len(known) > 1}

    def numbered(row: Row, mark: str) -> Row:
        number = numbers.get(row.point, {}).get(mark) if row.repeat is None else None
        return row if number is None else structs.replace(row, repeat=number)

    return [file._replace(made=structs.replace(file.made, rows=tuple(numbered(row, file.mark) for row in file.made.rows)))
            if file.made.rank in OF_ITS_RUNS else file for file in files]


def _loads(files: Sequence[File]) -> dict[tuple[str, int], str]:
    """The workload of each run of the generator, told by one of its files and true for the others."""
    return {(file.mark, row.point.concurrency): row.point.workload
            for file in files if file.made.rank == GENERATOR and file.mark for row in file.made.rows if row.point.workload}


def _loaded(row: Row, workload: str | None) -> Row:
    if workload is None or row.point.workload is not None:
        return row
    return structs.replace(row, point=structs.replace(row.point, workload=workload))


def _measures(row: Row) -> bool:
    """Whether this is a measurement of speed; a share (an eval, cache hits) is told beside one and does not replace it."""
    return row.unit != "share"


def _may_be(one: Cell, other: Cell) -> bool:
    return one.concurrency == other.concurrency and (not one.workload or not other.workload or one.workload == other.workload)


def _numbered(name: str) -> str:
    number = places.repetition(name)
    return "" if number is None else f"#{number}"
