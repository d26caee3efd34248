"""Which points run otherwise than they did at an earlier revision: what a push or a pull request has to measure again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from bot.errors import BadInput
from bot.layout import Layout
from bot.model.recipe import Point
from bot.ports import Tree
from bot.recipe import matrix, own
from bot.recipe.shelf import Home, Shelf


class Changed(Struct, frozen=True, kw_only=True):
    """`points` are those of today that the base did not have just so; `gone` the recipes that only the base has; `unread` says
    of which recipes the base's text holds no more, so that every point counts as new."""

    points: tuple[Point, ...]
    gone: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def changed(base: Tree | Shelf, head: Tree | Shelf, layout: Layout, keys: Sequence[str] = ()) -> Changed:
    """Compares recipe by recipe, all or those named: image, topology, workload, gates, and how often each is measured. A
    comment or a policy changes nothing that runs. Refusal for a name that the head does not have."""
    old, new = Shelf.of(base), Shelf.of(head)
    had = _homes(old, layout)
    unread = [] if had is not None else ["the base's recipes cannot be read: all points count as new"]
    found: list[Point] = []
    for key in keys or new.homes(layout):
        made = matrix.points(new, layout, key)
        try:
            before = Counter(_marks(old, layout, key)) if key in (had or {}) else Counter()
        except BadInput as error:
            unread.append(f"{key} cannot be read at the base: {error}")
            before = Counter()
        found += [point for point, mark in zip(made, _marks(new, layout, key), strict=True) if _fresh(before, mark)]
    gone = [key for key in had or {} if key not in new.homes(layout) and (not keys or key in keys)]
    return Changed(points=tuple(found), gone=tuple(gone), unread=tuple(unread))


Mark = tuple[Point, tuple[object, ...]]


def _marks(shelf: Shelf, layout: Layout, key: str) -> list[Mark]:
    points, home = matrix.points(shelf, layout, key), shelf.home(layout, key)
    return [(point, _measured(shelf, layout, home, point)) for point in points]


def _measured(shelf: Shelf, layout: Layout, home: Home, point: Point) -> tuple[object, ...]:
    """What the point's own record leaves out: how many requests are sent, how often, and what must hold."""
    if layout.generator != "own":
        return ()
    return own.measured(own.load(shelf.read(home.file) or b"", home.file), point)


def _fresh(before: Counter[Mark], mark: Mark) -> bool:
    before[mark] -= 1
    return before[mark] < 0


def _homes(shelf: Shelf, layout: Layout) -> dict[str, Home] | None:
    try:
        return shelf.homes(layout)
    except BadInput:
        return None
