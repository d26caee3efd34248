"""Proof of what an edit changes: the matrix before and after, compared as whole rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from bot.errors import BadInput
from bot.layout.records import Layout
from bot.model.recipe import Edit, Point, Scope
from bot.ports import Tree
from bot.recipe import evals, matrix
from bot.recipe.files.document import value
from bot.recipe.rows import Row
from bot.recipe.shelf import Home, Shelf

_SHOWN = 60


class Overlay:
    """A tree with some files replaced, as it will be after an edit."""

    def __init__(self, tree: Tree | Shelf, files: Mapping[str, bytes]) -> None:
        self._tree, self._files = tree, files

    def read(self, path: str) -> bytes | None:
        return self._files[path] if path in self._files else self._tree.read(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        below = {path for path in self._files if path.startswith(prefix)}
        return sorted({*self._tree.paths(prefix), *below})


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The matrix of one revision: the rows of each recipe of the family, the family's evals, and those of all other recipes.

    `entries` are the recipes of which no row can be made (the guest wrote its masters otherwise a year ago, or the file of
    runners is not at hand), as their own text has them: equal entries give equal rows. `unmade` says why, for the first.
    """

    family: Mapping[str, Sequence[Row]]
    evals: Sequence[Row]
    others: Sequence[Row] = ()
    other_evals: Sequence[Row] = ()
    entries: Mapping[str, Row] = {}
    unmade: str = ""


def side(tree: Tree | Shelf, layout: Layout, family: Collection[str]) -> Side:
    """One revision's matrix by our own rows."""
    shelf = Shelf.of(tree)
    made: dict[str, list[Row]] = {}
    entries: dict[str, Row] = {}
    unmade = ""
    for key, home in shelf.homes(layout).items():
        try:
            made[key] = matrix.generated(shelf, layout, home)
        except BadInput as error:
            made[key], unmade = [], unmade or str(error)
        if not made[key]:
            entries[key] = _entry(key, home)
            unmade = unmade or f"{home.file}: {key}: no row comes of it"
    mine = {key: made[key] for key in dict.fromkeys(family)}
    others = [row for key, rows in made.items() if key not in mine for row in rows]
    at_least = layout.evals.at_least
    return Side(family=mine, evals=evals.rows_of([row for rows in mine.values() for row in rows], at_least), others=others,
                other_evals=evals.rows_of(others, at_least), entries=entries, unmade=unmade)


def contrast(before: Side, after: Side, beside: Collection[str] = ()) -> tuple[Scope, str | None]:
    """How two matrices of the same recipes differ, and the first difference that is more than the family's image, told by row
    and field. Fields that nobody here knows count like all others; the settings `beside` name the image again."""
    changed = {key: _apart(rows, after.family.get(key, ())) for key, rows in before.family.items()}
    pairs = {key: (rows, after.family.get(key, ())) for key, rows in before.family.items()}
    pairs |= {f"{key}'s entry": ([before.entries[key]], [after.entries[key]])
              for key in before.family if key in before.entries and key in after.entries}
    pairs["evals of the family"] = before.evals, after.evals
    empty = next((key for key, rows in before.family.items() if rows and not after.family.get(key)), None)
    faults = [f"the rows of {empty} dropped to nothing"] if empty else []
    bare = {name: _apart(_bare(old, beside), _bare(new, beside)) for name, (old, new) in pairs.items()}
    faults += [fault for name, pair in bare.items() if (fault := _fault(name, *pair))]
    only_image = not faults
    apart = {"another recipe": _apart(before.others, after.others),
             "evals of other recipes": _apart(before.other_evals, after.other_evals),
             "another recipe's entry": _apart(_unlisted(before), _unlisted(after))}
    faults += [fault for name, pair in apart.items() if (fault := _fault(name, *pair))]
    found = Scope(changed_rows=sum(max(map(len, pair)) for pair in changed.values()),
                  other_rows_changed=sum(max(map(len, pair)) for pair in apart.values()), only_image=only_image)
    return found, faults[0] if faults else None


def beside(layout: Layout) -> frozenset[str]:
    """The settings in which the image may stand a second time, and moves with it."""
    return frozenset(name for entry in layout.recipes if entry.linked for name in entry.linked.beside)


def disagreement(ours: Sequence[Row], theirs: Sequence[Row]) -> str | None:
    """The first field in which our own rows differ from the guest's: None when they say the same."""
    return _fault("", *_apart(ours, theirs))


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
                 only_image=_imageless(gone, family) == _imageless(come, family))


def proved(tree: Tree | Shelf, layout: Layout, family: Collection[str], edit: Edit) -> tuple[Scope, str | None, str]:
    """The scope of an edit by our own rows, the first difference beyond the family's image, and why some recipes have no rows
    here: every recipe of the layout is generated before and after."""
    before, after = Shelf.of(tree), Shelf(Overlay(tree, edit.files))
    if layout.generator == "inferencex":
        old = side(before, layout, family)
        return *contrast(old, side(after, layout, family), beside(layout)), old.unmade
    found = compare(_all(before, layout, family), _all(after, layout, family), family)
    return found, None if found.only_image and not found.other_rows_changed else "points came, went or moved", ""


Cell = tuple[str, str, str, str]


def _apart(old: Sequence[Row], new: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows that are only in one of two lists, each as often as it has no partner."""
    before, after = Counter(map(_text, old)), Counter(map(_text, new))
    return [json.loads(row) for row in (before - after).elements()], [json.loads(row) for row in (after - before).elements()]


def _unlisted(side: Side) -> list[Row]:
    return [entry for key, entry in side.entries.items() if key not in side.family]


def _bare(rows: Sequence[Row], beside: Collection[str]) -> list[Row]:
    """Rows without their image, wherever they name it."""
    return [_unnamed(row, beside) for row in rows]


def _unnamed(part: Any, beside: Collection[str], *, within: str = "") -> Any:
    if isinstance(part, dict):
        return {name: _unnamed(child, beside, within=name) for name, child in part.items() if within or name != "image"}
    if isinstance(part, list):
        return [_unnamed(child, beside, within=within or "-") for child in part]
    if isinstance(part, str) and part.partition("=")[0] in beside:
        return part.partition("=")[0]
    return part


def _fault(where: str, gone: Sequence[Row], come: Sequence[Row]) -> str | None:
    """The first row that went or came, or the first field in which it differs from the row most like it."""
    name = f"{where}: " if where else ""
    if not gone or not come:
        row = next(iter((*gone, *come)), None)
        return None if row is None else f"{name}the row {_name(row)} {'vanished' if gone else 'came'}"
    old = gone[0]
    new = min(come, key=lambda row: len(_fields(old, row)))
    field = _fields(old, new)[0]
    return f"{name}the row {_name(old)}: {field} {_shown(old.get(field))} -> {_shown(new.get(field))}"


def _fields(one: Row, other: Row) -> list[str]:
    return sorted(name for name in {*one, *other} if name not in one or name not in other or _text(one[name]) != _text(other[name]))


def _name(row: Row) -> str:
    name, conc = row.get("exp-name", "?"), _shown(row.get("conc"))
    return f"{name} at concurrency {conc}"


def _shown(part: Any) -> str:
    text = _text(part)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _text(part: Any) -> str:
    """Equal texts for equal values only: 1, 1.0 and true are three."""
    return json.dumps(part, sort_keys=True, ensure_ascii=False, default=str)


def _cell(point: Point) -> Cell:
    gate = f" {point.eval.threshold} {point.eval.limit}" if point.eval else ""
    return point.recipe, point.id + gate, point.image, point.kind


def _imageless(cells: Mapping[Cell, int], family: Collection[str]) -> Counter[tuple[str, str]]:
    """Cells of the family without their image."""
    bare: Counter[tuple[str, str]] = Counter()
    for (recipe, identity, _, _), count in cells.items():
        if recipe in family:
            bare[recipe, identity] += count
    return bare


def _all(shelf: Shelf, layout: Layout, family: Collection[str]) -> list[Point]:
    """Points of every recipe. One outside the family that does not hold has none, before the edit as after it."""
    made: list[Point] = []
    for key in shelf.homes(layout):
        try:
            made += matrix.points(shelf, layout, key)
        except BadInput:
            if key in family:
                raise
    return made


def _entry(key: str, home: Home) -> Row:
    try:
        return {"exp-name": key, **value(home.hit.node)}
    except BadInput:
        return {"exp-name": key, "text": home.document.text[slice(*home.document.span(home.hit.node))]}
