"""Rows made of single requests beside rows that a tool made of the same requests: they must agree, and what only single
requests tell (that the server was not warm yet) is told of the others too."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Accounting, Row
from bot.results import places
from bot.results.parsed import GENERATOR, GUEST, REQUESTS
from bot.results.together.repeats import File

_SAME = ("ttft", "itl", "e2el", "intvty", "profiled_requests")
"""What both make in one way. Rates are not among them: a summary divides by a time that no request tells."""
_ROUNDED = 1e-6


def reconciled(files: Sequence[File]) -> list[File]:
    """The files with the flags of their request exports, those that stand beside an export agreeing with it.

    A summary is of the export in its own folder; a guest's row of any at its concurrency, since guests keep both apart.
    BadInput says which value does not agree: one of the two is of another run, or was cut short.
    """
    exports = [file for file in files if file.made.rank == REQUESTS]
    for file in files if exports else ():
        if file.made.rank == GUEST:
            _counted(file, exports)
    for export in exports:
        for file in files:
            if file.made.rank == GENERATOR and places.folder(file.name) == places.folder(export.name):
                _agree(export.made.rows, export.name, file.made.rows, file.name)
    flagged = any(row.flags for export in exports for row in export.made.rows)
    return [_flagged(file, exports) for file in files] if flagged else list(files)


def _flagged(file: File, exports: Sequence[File]) -> File:
    def flags(row: Row) -> tuple[str, ...]:
        told = (
            other.flags for export in exports for other in export.made.rows[:1]
            if (places.folder(export.name) == places.folder(file.name) if file.made.rank == GENERATOR
                else file.made.rank == GUEST and row.metric != "eval" and other.point.concurrency == row.point.concurrency)
        )  # fmt: skip
        return tuple(dict.fromkeys((*row.flags, *(flag for each in told for flag in each))))

    rows = tuple(structs.replace(row, flags=flags(row)) for row in file.made.rows)
    return file._replace(made=structs.replace(file.made, rows=rows))


def _counted(file: File, exports: Sequence[File]) -> None:
    """Refuses a guest's count that the exports at its concurrency cannot give, of one of them or of all: nine requests of an
    export had failed, and the row that said "none of 237" was believed.

    Where a row tells warm-up and errors together, its failed requests are what it proves and may be fewer than there were.
    """
    for one in file.made.accounting:
        told = _at(exports, one.concurrency)
        failed = sum(each.profiling_invalid for each in told)
        if told and (one.profiling_invalid > failed or one.invalid == 0 < min(each.invalid for each in told)):
            raise _otherwise(file.name, one.concurrency, "measured requests failed", one.profiling_invalid, failed, exports)
    for row in file.made.rows:
        told = _at(exports, row.point.concurrency) if row.metric == "profiled_requests" else []
        least, most = min((each.profiled for each in told), default=0), sum(each.total - each.invalid for each in told)
        if told and not least <= row.value <= most:
            raise _otherwise(file.name, row.point.concurrency, "requests went well", int(row.value),
                             sum(each.profiled for each in told), exports)


def _at(exports: Sequence[File], concurrency: int) -> list[Accounting]:
    return [each for export in exports for each in export.made.accounting if each.concurrency == concurrency]


def _otherwise(name: str, concurrency: int, what: str, said: int, has: int, exports: Sequence[File]) -> BadInput:
    export = next(export.name for export in exports if _at([export], concurrency))
    return BadInput(f"{said} {what} at concurrency {concurrency}, but {export} has {has}",
                    "one of them is of another run or was cut; give the files of one attempt", file=name)


def _agree(rows: Sequence[Row], name: str, theirs: Sequence[Row], summary: str) -> None:
    told = {(row.metric, row.stat): row.value for row in theirs if row.metric in _SAME}
    for row in rows:
        value = told.get((row.metric, row.stat), row.value)
        if abs(value - row.value) > _ROUNDED * abs(row.value):
            what = " ".join(filter(None, (row.metric, row.stat)))
            raise BadInput(f"{what} of its requests is {row.value:g}, but {summary} says {value:g}",
                           "one of them is of another run or was cut; give the files of one attempt", file=name)
