"""Whose rows are whose, once all files are read: one name for what is one line, whichever file tells less of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Accounting, Row, Samples
from bot.results.lines import apart, renamed
from bot.results.together.repeats import File

T = TypeVar("T", Accounting, Samples)


def named(files: Sequence[File], recipe: str = "") -> list[File]:
    """The files under the names of their lines; what tells no line is of the only one that the others tell.

    With the name of a `recipe` all is that recipe's, so two lines under it contradict each other: BadInput names both.
    """
    told = {line: file.name for file in files for line in file.made.lines}
    if recipe:
        both = apart(told)
        if both:
            first, second = (one.name for one in both)
            where = next(name for line, name in told.items() if not line.fits(both[0]))
            raise BadInput(f"rows of {second} stand beside rows of {first}, all as {recipe}", "give one recipe's results",
                           file=where)
        return list(files)
    names = renamed(told)
    known = {names.get(line.name, line.name) for line in told} - {""}
    names[""] = next(iter(known)) if len(known) == 1 else ""
    return [file._replace(made=structs.replace(file.made, rows=rows(file.made.rows, names), accounting=counts(
        file.made.accounting, names))) for file in files]


def rows(told: Iterable[Row], names: Mapping[str, str]) -> tuple[Row, ...]:
    """Rows under other names."""
    return tuple(row if names.get(row.point.recipe, row.point.recipe) == row.point.recipe else structs.replace(
        row, point=structs.replace(row.point, recipe=names[row.point.recipe])) for row in told)


def counts(told: Iterable[T], names: Mapping[str, str]) -> tuple[T, ...]:
    """Requests or answers under other names."""
    return tuple(structs.replace(one, recipe=names.get(one.recipe, one.recipe)) for one in told)
