"""Rows under the identity of the point that was planned; those of another point, and what a point lacks, are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.errors import BadInput
from bot.images.reference import parse, same
from bot.model.bench import Order
from bot.model.result import Cell, Row

PARTIAL = "partial-run"


def placed(rows: Sequence[Row], order: Order) -> tuple[tuple[Row, ...], list[str]]:
    """The rows as the plan's point has them, each value once, and what is wrong with them in lines."""
    point = Cell(recipe=order.recipe, concurrency=order.concurrency, workload=order.workload, topology=order.topology,
                 fingerprint=order.fingerprint)
    wrong = [line for row in rows if (line := _fault(row, point, order)) is not None]
    if not any(_tells(row, order) for row in rows):
        wrong.append(f"no score of {order.eval.task}" if order.eval else "no speed was measured")
    kept: dict[object, Row] = {}
    for row in rows:
        key = (row.metric, row.stat, row.task, row.repeat)
        one = replace(row, point=point, image=order.image)
        known = kept.setdefault(key, one)
        if known is not one and (known.n is None or len(repr(known.value)) < len(repr(one.value))):
            kept[key] = one
    return tuple(kept.values()), list(dict.fromkeys(wrong))


def _tells(row: Row, order: Order) -> bool:
    if order.eval is None:
        return row.metric != "eval" and row.value > 0
    return row.metric == "eval" and row.task == order.eval.task


def _fault(row: Row, point: Cell, order: Order) -> str | None:
    for field in ("recipe", "concurrency", "workload", "topology", "fingerprint"):
        told, wanted = getattr(row.point, field), getattr(point, field)
        if told and wanted and told != wanted:
            return f"a row of another point: its {field} is not as planned"
    if (row.metric == "eval") != (order.eval is not None) and row.metric == "eval":
        return "a score among the results of a load"
    if row.image and not _same(row.image, order.image):
        return "a row names another image"
    return "a row of a partial run" if PARTIAL in row.flags else None


def _same(one: str, other: str) -> bool:
    """Whether a row's image is the planned one; it may say the digest that the recipe leaves out."""
    try:
        told, wanted = parse(one), parse(other)
    except BadInput:
        return one == other
    return same(told, wanted) or (wanted.digest is None and (told.name, told.tag) == (wanted.name, wanted.tag))


def concurrencies(orders: Iterable[Order]) -> tuple[int, ...]:
    """The loads of a recipe's points, lowest first."""
    return tuple(sorted({order.concurrency for order in orders if order.eval is None}))
