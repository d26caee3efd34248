"""Where a value is told by an alias (`image: *img`): the value stands elsewhere, and its other users must not move with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml

from bot.recipe.files.document import Document, Hit, Path

_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\[\]{}]+)")


def alias(source: Document, hit: Hit) -> tuple[int, int] | None:
    """The place of the alias that stands as a key's value, in code points; None where the value stands there itself."""
    if hit.key is None or hit.node.start_mark.index > hit.key.start_mark.index:
        return None
    found = _ALIAS.match(source.text, hit.key.end_mark.index)
    return found.span(1) if found else None


def own(source: Document, hit: Hit) -> tuple[int, int]:
    """The place that is this path's alone: its alias, or the value itself."""
    return alias(source, hit) or source.span(hit.node)


Place = tuple[int, Path]


def holders(source: Document, goals: Mapping[Place, Any], recipes: Collection[Place]) -> dict[Place, Any]:
    """The places outside all recipes at which a value stands that a goal's path reaches by aliases or merges, each with that
    goal: `x-llm.image` of `x-llm: &c {image: ...}` for a service with `<<: *c`. It is one text, and only recipes run it."""
    if "&" not in source.text or "*" not in source.text:
        return {}
    first = {index: _first(source.roots[index]) for index in {index for index, _ in goals}}
    ways = [((index, (*first[index][id(node)], *path[end:])), goal)
            for (index, path), goal in goals.items() for end, node in _along(source.roots[index], path)]
    return {place: goal for place, goal in ways if place not in goals and not any(_within(place, root) for root in recipes)}


def _within(place: Place, root: Place) -> bool:
    return place[0] == root[0] and place[1][:len(root[1])] == root[1]


def _along(node: yaml.Node, path: Path) -> Iterator[tuple[int, yaml.Node]]:
    """The nodes on a path, each with how many steps lead to it."""
    for end, step in enumerate(path, start=1):
        children = dict(_children(node))
        if step not in children:
            return
        node = children[step]
        yield end, node


def _first(root: yaml.Node) -> dict[int, Path]:
    """Where each node stands itself: an anchor comes before its aliases, so the first path to it in the file is its own."""
    found: dict[int, Path] = {}
    stack: list[tuple[Path, yaml.Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if id(node) not in found:
            found[id(node)] = path
            stack += [((*path, step), child) for step, child in reversed(_children(node))]
    return found


def _children(node: yaml.Node) -> list[tuple[str | int, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        return [(key.value, child) for key, child in node.value]
    return list(enumerate(node.value)) if isinstance(node, yaml.SequenceNode) else []
