"""Runs of a serving benchmark, several in one file, as points and their repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Reported, Row
from bot.results.lines import Line
from bot.results.parsed import GENERATOR, UNKNOWN, Context, Parsed
from bot.results.serving import common as serving
from bot.results.serving.common import Place
from bot.results.together.accounts import add

Run = Mapping[str, Any]


def parsed(found: Iterable[tuple[Place, Run]], file: str, context: Context, *, workload: Callable[[Run], str | None],
           told_apart: str, reported: Callable[[Run, Place], Iterable[Reported]] = lambda run, place: ()) -> Parsed:
    """Rows of every run. A point that stands twice is repeated where `told_apart` says that the runs are two, else refused."""
    points: dict[Cell, list[tuple[str, Place, Run]]] = {}
    told: list[Reported] = []
    lines: dict[Line, None] = {}
    for place, run in found:
        name = run.get(told_apart)
        name = name if isinstance(name, str) else ""
        own = serving.model(run)
        lines[own] = None
        same = points.setdefault(context.cell(place.count(run, "max_concurrency", 1), workload(run), line=own), [])
        if any(name == other for other, _, _ in same):
            raise place.wrong("max_concurrency", "this point stands twice", f"keep one run, or give each its own `{told_apart}`")
        same.append((name, place, run))
        told += reported(run, place)
    if not points:
        raise BadInput("no run", "the benchmark wrote nothing", file=file)
    return structs.replace(_joined(points, tuple(told), context), lines=tuple(line for line in lines if line.name))


def _joined(points: Mapping[Cell, list[tuple[str, Place, Run]]], told: tuple[Reported, ...], context: Context) -> Parsed:
    rows: list[Row] = []
    accounts: dict[Cell, Accounting] = {}
    for point, same in points.items():
        for index, (_, place, run) in enumerate(same, start=1):
            rows += serving.rows(run, point, place, context, repeat=index if len(same) > 1 else None)
            made = serving.accounting(run, point.concurrency, place)
            if made is not None:
                made = structs.replace(made, recipe="" if context.recipe else point.recipe)
                own = context.cell(point.concurrency) if context.recipe else structs.replace(point, workload=None)
                accounts[own] = add(accounts.get(own), made)
    alone = [same[0] for same in points.values()] if len(points) == 1 else []
    single = len(alone) == 1 and len(next(iter(points.values()))) == 1
    concurrencies = {point.concurrency for point in points} - {UNKNOWN}
    only = concurrencies.pop() if len(concurrencies) == 1 else None
    return Parsed(
        rows=tuple(rows), accounting=tuple(accounts.values()), rank=GENERATOR, concurrency=only,
        measurement=alone[0][0] if single else "",
        reported=tuple(structs.replace(one, concurrency=only or UNKNOWN) for one in dict.fromkeys(told)),
    )
