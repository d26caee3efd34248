"""Which points run otherwise than they did at an earlier revision: what a push or a pull request has to measure again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from bot.errors import BadInput
from bot.layout import Layout
from bot.model.recipe import Point
from bot.ports import Tree
from bot.recipe import matrix, own
from bot.recipe.files.document import value
from bot.recipe.shelf import Home, Shelf
from bot.recipe.sites import sites


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
    had = old.homes(layout)
    unread = [f"not read at the base, so that its points count as new: {fault}" for fault in old.faults(layout)]
    found: list[Point] = []
    for key in keys or new.homes(layout):
        made = matrix.points(new, layout, key)
        try:
            before = Counter(_marks(old, layout, key)) if key in had else Counter()
        except BadInput as error:
            unread.append(f"{key} cannot be read at the base: {error}")
            before = Counter()
        found += [point for point, mark in zip(made, _marks(new, layout, key), strict=True) if _fresh(before, mark)]
    gone = [key for key in had if key not in new.homes(layout) and (not keys or key in keys)]
    return Changed(points=tuple(found), gone=tuple(gone), unread=tuple(unread))


Mark = tuple[Point, tuple[object, ...]]


def _marks(shelf: Shelf, layout: Layout, key: str) -> list[Mark]:
    points, home = matrix.points(shelf, layout, key), shelf.home(layout, key)
    return [(point, _measured(shelf, layout, home, point)) for point in points]


def _measured(shelf: Shelf, layout: Layout, home: Home, point: Point) -> tuple[object, ...]:
    """What the point's own record leaves out: how many requests are sent, how often, and what must hold; of a guest, what its
    linked files say, where the arguments of several machines stand."""
    if layout.generator != "own":
        return tuple(_said(shelf, file) for file in sites(shelf, layout, home.key).linked)
    return own.measured(own.load(shelf.read(home.file) or b"", home.file), point)


def _said(shelf: Shelf, file: str) -> str:
    """A fingerprint of a file's values; its comments are none."""
    name = (f"said {file}", 0)
    if name not in shelf.derived:
        document = shelf.document(file)
        try:
            said = json.dumps([value(root) for root in document.roots] if document else [], sort_keys=True, default=str).encode()
        except BadInput:
            said = shelf.read(file) or b""
        shelf.derived[name] = sha256(said).hexdigest()
    return shelf.derived[name]


def _fresh(before: Counter[Mark], mark: Mark) -> bool:
    before[mark] -= 1
    return before[mark] < 0
