"""A YAML mapping as plain values with the line of each, and a recipe file's variants laid over its base."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from msgspec import Struct

from bot.recipe.files.document import Document, value

_SELECTED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?:\[(?P<index>\d+)\])?")
_OVERRIDES = ("override_", "zip_override_")
MAX_VARIANTS = 200


class Leaf(Struct, frozen=True):
    """A value that is no mapping, and its line."""

    value: Any
    line: int


class Variant(Struct, frozen=True, kw_only=True):
    """One server configuration of a file: its name in the file ("" for the file itself) and what it says."""

    file: str
    name: str
    tree: Mapping[str, Any]

    def find(self, *steps: str) -> Any:
        """What stands at a path: a mapping, a Leaf, or None."""
        at: Any = self.tree
        for step in steps:
            at = at.get(step) if isinstance(at, Mapping) else None
        return at

    def mapping(self, *steps: str) -> Mapping[str, Any]:
        found = self.find(*steps)
        return found if isinstance(found, Mapping) else {}

    def text(self, *steps: str) -> str | None:
        """The scalar at a path as text; None where there is none."""
        found = self.find(*steps)
        return str(found.value) if isinstance(found, Leaf) and isinstance(found.value, (str, int, float)) else None


def variants(document: Document, selected: tuple[str, ...] = ()) -> tuple[Variant, ...]:
    """The configurations of a file: itself, or those variants of its `base:` that are selected (all, where none is)."""
    tree = lined(document, document.roots[0]) if document.roots else {}
    if not isinstance(tree, Mapping):
        return ()
    base = tree.get("base")
    if not isinstance(base, Mapping):
        return (Variant(file=document.file, name="", tree=tree),)
    named = {name: one for name, one in _named(tree, base)}
    wanted = [name for text in selected for name in _wanted(text, named)]
    kept = {name: named[name] for name in wanted} or (named if not any(selected) else {}) or {"base": base}
    return tuple(Variant(file=document.file, name=name, tree=one) for name, one in list(kept.items())[:MAX_VARIANTS])


def lined(document: Document, node: yaml.Node) -> Any:
    """A node as mappings of Leaves. A key's own line counts, not that of its value."""
    if not isinstance(node, yaml.MappingNode):
        return Leaf(value(node), node.start_mark.line + 1)
    made: dict[str, Any] = {}
    for key, child in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value != "<<":
            inner = lined(document, child)
            made[key.value] = inner if isinstance(child, yaml.MappingNode) else Leaf(inner.value, key.start_mark.line + 1)
    return made


def flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every leaf with its dotted key."""
    for key, child in tree.items():
        if isinstance(child, Mapping):
            yield from flat(child, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", child


def plain(tree: Any) -> Any:
    """Without the lines."""
    return {key: plain(child) for key, child in tree.items()} if isinstance(tree, Mapping) else tree.value


def first_line(tree: Any) -> int | None:
    """The line on which it begins."""
    if isinstance(tree, Leaf):
        return tree.line
    return next((line for child in tree.values() if (line := first_line(child)) is not None), None)


def _named(tree: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, over in tree.items():
        if not name.startswith(_OVERRIDES) or not isinstance(over, Mapping):
            continue
        if name.startswith("override_"):
            yield name, _over(base, over)
            continue
        for index in range(min(_length(over), MAX_VARIANTS)):
            yield f"{name}[{index}]", _over(base, _picked(over, index))


def _wanted(text: str, named: Mapping[str, Any]) -> list[str]:
    found = _SELECTED.fullmatch(text)
    if not found:
        return []
    if text in named:
        return [text]
    return [name for name in named if name.partition("[")[0] == found["name"] and found["index"] is None]


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(base)
    for key, child in top.items():
        below = made.get(key)
        made[key] = _over(below, child) if isinstance(child, Mapping) and isinstance(below, Mapping) else child
    return made


def _length(tree: Any) -> int:
    if isinstance(tree, Mapping):
        return max((_length(child) for child in tree.values()), default=0)
    return len(tree.value) if isinstance(tree.value, list) else 1


def _picked(tree: Any, index: int) -> Any:
    if isinstance(tree, Mapping):
        return {key: _picked(child, index) for key, child in tree.items()}
    if not isinstance(tree.value, list) or not tree.value:
        return tree
    return Leaf(tree.value[min(index, len(tree.value) - 1)], tree.line)
