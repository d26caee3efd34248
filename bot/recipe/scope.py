"""Proof of what an edit changes: the matrix before and after, point by point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import msgspec

from bot.layout.records import Layout
from bot.model.recipe import Edit, Point, Scope
from bot.ports import Tree
from bot.recipe import matrix
from bot.recipe.shelf import Shelf


class Overlay:
    """A tree with some files replaced, as it will be after an edit."""

    def __init__(self, tree: Tree | Shelf, files: Mapping[str, bytes]) -> None:
        self._tree, self._files = tree, files

    def read(self, path: str) -> bytes | None:
        return self._files[path] if path in self._files else self._tree.read(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        below = {path for path in self._files if path.startswith(prefix)}
        return sorted({*self._tree.paths(prefix), *below})


def compare(before: Sequence[Point], after: Sequence[Point], family: Collection[str]) -> Scope:
    """How two lists of points of the same recipes differ.

    `changed_rows` counts throughput cells of the family that differ in any way, `other_rows_changed` cells and evals of
    all other recipes. `only_image` holds when no cell or eval of the family came, went or differs beyond its image
    (an identity leaves out the image and nothing else, so equal identities differ in nothing else).
    """
    old, new = Counter(map(_cell, before)), Counter(map(_cell, after))
    gone, come = old - new, new - old
    changed = {cell[:2] for cell in (*gone, *come) if cell[0] in family and cell[3] == "throughput"}
    others = max(sum(count for cell, count in side.items() if cell[0] not in family) for side in (gone, come))
    return Scope(changed_rows=len(changed), other_rows_changed=others,
                 only_image=_unnamed(gone, family) == _unnamed(come, family))


def prove(tree: Tree | Shelf, layout: Layout, family: Collection[str], edit: Edit) -> Edit:
    """The edit with its scope: every recipe of the layout is generated before and after."""
    before, after = Shelf.of(tree), Shelf(Overlay(tree, edit.files))
    return msgspec.structs.replace(edit, scope=compare(_all(before, layout), _all(after, layout), family))


Cell = tuple[str, str, str, str]


def _cell(point: Point) -> Cell:
    gate = f" {point.eval.threshold} {point.eval.limit}" if point.eval else ""
    return point.recipe, point.id + gate, point.image, point.kind


def _unnamed(cells: Mapping[Cell, int], family: Collection[str]) -> Counter[tuple[str, str]]:
    """Cells of the family without their image."""
    bare: Counter[tuple[str, str]] = Counter()
    for (recipe, identity, _, _), count in cells.items():
        if recipe in family:
            bare[recipe, identity] += count
    return bare


def _all(shelf: Shelf, layout: Layout) -> list[Point]:
    return [point for key in shelf.homes(layout) for point in matrix.points(shelf, layout, key)]
