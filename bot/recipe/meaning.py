"""Whether an edited YAML text says what the old one said, except at the places that were meant to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from bot.errors import BadInput
from bot.recipe.document import Document, Path, value

GONE = object()
_STR = "tag:yaml.org,2002:str"
Goals = Mapping[tuple[int, Path], Any]


def says(source: Document, made: str, goals: Goals, *, added: bool = False) -> bool:
    """True when `made` differs in meaning from `source` at the goals (document, path) alone, and there says each goal.

    An alias counts at every place it is used, so an edit that reaches a second place through one is seen. `added`
    goals are keys that were absent before; the goal GONE is a key or item that is absent now.
    """
    try:
        after = source.again(made)
    except BadInput:
        return False
    if len(after.roots) != len(source.roots):
        return False
    names = _Names()
    for index, (old, new) in enumerate(zip(source.roots, after.roots, strict=True)):
        here = {path: goal for (at, path), goal in goals.items() if at == index}
        leaves = {path: _met(source, after, index, path, goal, added) for path, goal in here.items()}
        if any(leaf is None for leaf in leaves.values()):
            return False
        if names.of(old, leaves) != names.of(new, {}):
            return False
    return True


def _met(source: Document, after: Document, index: int, path: Path, goal: Any, added: bool) -> Any:
    """The node at a goal's path when it says what is wanted, GONE for what should be gone, None when it fails."""
    if goal is GONE:
        return GONE
    hits = after.find(path, document=index)
    if len(hits) != 1 or not isinstance(hits[0].node, yaml.ScalarNode):
        return None
    node = hits[0].node
    before = None if added else source.find(path, document=index)[0].node
    if isinstance(goal, str) and before is not None and before.tag == node.tag:
        return node if node.value == goal else None
    try:
        said = value(node)
    except BadInput:
        return None
    return node if type(said) is type(goal) and said == goal else None


class _Names:
    """Numbers nodes so that two share a number exactly when they mean the same; shared nodes are looked at once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, tuple[yaml.Node, int]] = {}

    def of(self, node: yaml.Node, leaves: Mapping[Path, Any]) -> int:
        """`leaves` stand in at their paths below this node: another scalar, a key that joins, or GONE."""
        if () in leaves:
            node, leaves = leaves[()], {}
        if not leaves and id(node) in self._known:
            return self._known[id(node)][1]
        if isinstance(node, yaml.ScalarNode):
            made: tuple[Any, ...] = ("scalar", node.tag, node.value)
        elif isinstance(node, yaml.SequenceNode):
            made = ("list", node.tag, *(self.of(child, _below(leaves, at)) for at, child in enumerate(node.value)
                                        if leaves.get((at,)) is not GONE))
        else:
            made = ("map", node.tag, *self._entries(node, leaves))
        number = self._numbers.setdefault(made, len(self._numbers))
        if not leaves:
            self._known[id(node)] = (node, number)
        return number

    def _entries(self, node: yaml.MappingNode, leaves: Mapping[Path, Any]) -> list[tuple[str, str, int]]:
        entries = [(key.tag, key.value, self.of(child, _below(leaves, key.value))) for key, child in node.value
                   if leaves.get((key.value,)) is not GONE]
        present = {key.value for key, _ in node.value}
        joined = [(_STR, str(path[0]), self.of(leaf, {})) for path, leaf in leaves.items()
                  if len(path) == 1 and path[0] not in present]
        return [*entries, *joined]


def _below(leaves: Mapping[Path, Any], step: str | int) -> dict[Path, Any]:
    return {path[1:]: leaf for path, leaf in leaves.items() if path and path[0] == step} if leaves else {}
