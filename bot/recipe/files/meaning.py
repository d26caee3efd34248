"""Whether an edited YAML text says what the old one said, except at the places that were meant to change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from bot.errors import BadInput
from bot.recipe.files.document import MAX_NODES, Document, Path, value

GONE = object()
# Behind a word `&` is text: `TP & EP` and `?a=1&b=2` stand in comments of real files.
_ANCHOR = re.compile(r"(?<!\w)&[\w-]")
_MARKER = re.compile(r"(?:^|[\r\n\x85\u2028\u2029])(?:---|\.{3})")
_STR = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
Names = frozenset[tuple[str, str]]
Goals = Mapping[tuple[int, Path], Any]


def says(source: Document, made: str, goals: Goals, *, added: bool = False, may: Goals | None = None) -> bool:
    """True when `made` differs in meaning from `source` at the goals (document, path) alone, and there says each goal.

    An alias counts at every place it is used, so an edit that reaches a second place through one is seen; a key that a merge
    brings and its mapping has itself is read by nobody. `added` goals are keys that were absent before; the goal GONE is a key
    or item that is absent now; `may` are places that may say theirs or what they said.
    """
    part = _part(source, made, goals)
    if part is not None and _says(source, *part, goals, added, {}):
        return True
    return _says(source, source.roots, made, goals, added, may or {})


def _part(source: Document, made: str, goals: Goals) -> tuple[tuple[yaml.Node, ...], str] | None:
    """The top-level entries that hold every goal, as a root of their own, and their text in `made`; None where they cannot
    stand alone.

    An entry of a block mapping that begins in the first column means the same wherever it stands, as long as no anchor
    reaches into it, no document ends in it and its last line does: a block, a plain text and a comment end where the next
    entry begins, and an open quote or bracket is an error when the entry is read alone. So a file of 200 recipes need
    not be read again for one of them.
    """
    root = source.roots[0]
    if type(source) is not Document or len(source.roots) > 1 or _ANCHOR.search(source.text):
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    if any(len(path) < 2 for _, path in goals):
        return None
    names = {path[0] for _, path in goals}
    held = [at for at, (key, _) in enumerate(root.value) if key.value in names]
    starts = [*(key.start_mark.index for key, _ in root.value), len(source.text)]
    start, end = starts[held[0]], starts[held[-1] + 1]
    tail = len(source.text) - end
    if any(at and source.text[at - 1] != "\n" for at in (start, end)):
        return None
    if made[:start] != source.text[:start] or len(made) < start + tail or made[len(made) - tail:] != source.text[end:]:
        return None
    text = made[start:len(made) - tail]
    if _MARKER.search(text) or (tail and not text.endswith("\n")):
        return None
    return (yaml.MappingNode("tag:yaml.org,2002:map", root.value[held[0]:held[-1] + 1]),), text


def _says(source: Document, before: Sequence[yaml.Node], made: str, goals: Goals, added: bool, may: Goals) -> bool:
    try:
        after = source.again(made)
        if len(after.roots) != len(before):
            return False
        found = {place: _met(source, after, *place, goal, added) for place, goal in goals.items()}
        free = {place: _met(source, after, *place, goal, added) for place, goal in may.items()}
    except BadInput:
        return False
    if any(leaf is None for leaf in found.values()):
        return False
    found = {**{place: leaf for place, leaf in free.items() if leaf is not None}, **found}
    sides = [(old, new, {path: leaf for (at, path), leaf in found.items() if at == index})
             for index, (old, new) in enumerate(zip(before, after.roots, strict=True))]
    return all(_same(*side, False) or ("<<" in source.text and _same(*side, True)) for side in sides)


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


def _same(old: yaml.Node, new: yaml.Node, leaves: Mapping[Path, Any], merging: bool) -> bool:
    """Whether both mean the same but for `leaves`, by path below `old`: a node of `new` that was met, or GONE.

    Both are walked together; two collections met once, through an anchor, are not compared again. With `merging`, what a merge
    brings for nobody to read may differ.
    """
    seen: set[tuple[int, int, Names | None]] = set()
    stack: list[tuple[yaml.Node, yaml.Node, Mapping[Path, Any], Names | None]] = [(old, new, leaves, None)]
    weight = 0
    while stack:
        old, new, leaves, hidden = stack.pop()
        if () in leaves:
            if leaves[()] is not new:
                return False
            continue
        if old.tag != new.tag or type(old) is not type(new):
            return False
        if isinstance(old, yaml.ScalarNode):
            if old.value != new.value:
                return False
        elif leaves or (id(old), id(new), hidden) not in seen:
            if not leaves:
                seen.add((id(old), id(new), hidden))
            first, second = _items(old, leaves, _shown(hidden, leaves)), _items(new, {}, _shown(hidden, leaves))
            covers = _covers(old, [child for _, child, _ in first], hidden) if merging else [None] * len(first)
            weight += sum(1 + len(cover or ()) for cover in covers) if merging else 0
            if [item[0] for item in first] != [item[0] for item in second] or weight > MAX_NODES:
                return False
            stack += [(one, other, below, cover)
                      for (_, one, below), (_, other, _), cover in zip(first, second, covers, strict=True)]
    return True


def _items(node: yaml.Node, leaves: Mapping[Path, Any], hidden: Names) -> list[tuple[Any, yaml.Node, Mapping[Path, Any]]]:
    """What a collection holds, in order: name, node, and the leaves below it. GONE is left out, and what is hidden; a key that
    joins is last."""
    if isinstance(node, yaml.SequenceNode):
        return [(None, child, _below(leaves, at)) for at, child in enumerate(node.value) if leaves.get((at,)) is not GONE]
    items = [((key.tag, key.value), child, _below(leaves, key.value)) for key, child in node.value
             if leaves.get((key.value,)) is not GONE and (key.tag, key.value) not in hidden]
    if leaves:
        present = {key.value for key, _ in node.value}
        items += [((_STR, path[0]), leaf, {(): leaf}) for path, leaf in leaves.items()
                  if len(path) == 1 and path[0] not in present and leaf is not GONE]
    return items


def _shown(hidden: Names | None, leaves: Mapping[Path, Any]) -> Names:
    """The hidden names but for those that a path of a goal leads through."""
    return frozenset(name for name in hidden or () if all(path[0] != name[1] for path in leaves))


def _covers(node: yaml.Node, children: Sequence[yaml.Node], hidden: Names | None) -> list[Names | None]:
    """The names that are hidden in each of the children: a merge brings no key that its mapping has itself. None where nothing
    merges. Of a list of merges nothing hides another: readers differ on which counts."""
    if isinstance(node, yaml.SequenceNode):
        return [hidden] * len(children)
    bases = {id(child) for key, child in node.value if key.tag == _MERGE}
    own = (hidden or frozenset()).union((key.tag, key.value) for key, _ in node.value if key.tag != _MERGE) if bases else None
    return [own if id(child) in bases else None for child in children]


def _below(leaves: Mapping[Path, Any], step: str | int) -> dict[Path, Any]:
    return {path[1:]: leaf for path, leaf in leaves.items() if path and path[0] == step} if leaves else {}
