"""Where in the text a key's own lines begin and end, and where a new key has room: the places of a splice, in code points."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from bot.errors import Refusal
from bot.recipe.files.document import Document, Hit, show

Place = tuple[int, int]
_DASH = re.compile(r"[ ]*-[ ]+\Z")


def apply(text: str, edits: Sequence[tuple[Place, str]]) -> str:
    """The text with each place replaced; places may not overlap."""
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def gap(source: Document, hit: Hit) -> tuple[Place, str]:
    """What to cut so that a key or list item is gone, and what to leave there (`{}` where nothing else remains)."""
    parent = hit.parent
    assert isinstance(parent, (yaml.MappingNode, yaml.SequenceNode))
    entries = [_entry(source, parent, at) for at in range(len(parent.value))]
    index = _index(parent, hit)
    if parent.flow_style:
        return _flow_gap(source, entries, index, hit), ""
    if len(entries) == 1:
        if isinstance(parent, yaml.SequenceNode):
            raise Refusal(f"{source.file}: {show(hit.steps)} is the only item of its list", "edit it by hand")
        return entries[0], "{}"
    return _block_gap(source, parent, entries, index, hit), ""


def room(source: Document, mapping: yaml.MappingNode, entry: str) -> tuple[Place, str]:
    """Where one more `key: value` joins the end of a mapping, and the text to put there."""
    entries = [_entry(source, mapping, at) for at in range(len(mapping.value))]
    if mapping.flow_style:
        if not entries:
            at = source.text.index("{", mapping.start_mark.index) + 1
            return (at, at), entry
        return (entries[-1][1], entries[-1][1]), f", {entry}"
    start = entries[0][0]
    indent = " " * (start - _line_start(source.text, start))
    end = _line_end(source.text, entries[-1][1])
    return (end, end), f"{source.newline}{indent}{entry}"


def _index(parent: yaml.Node, hit: Hit) -> int:
    if isinstance(parent, yaml.SequenceNode):
        return int(hit.steps[-1])
    return next(at for at, (key, _) in enumerate(parent.value) if key is hit.key)


def _flow_gap(source: Document, entries: list[Place], index: int, hit: Hit) -> Place:
    if len(entries) == 1:
        tail = re.match(r"\s*,", source.text[entries[0][1]:])
        place, crossed = (entries[0][0], entries[0][1] + (len(tail[0]) if tail else 0)), ","
    elif index + 1 < len(entries):
        place, crossed = (entries[index][0], entries[index + 1][0]), source.text[entries[index][1]:entries[index + 1][0]]
    else:
        place, crossed = (entries[index - 1][1], entries[index][1]), source.text[entries[index - 1][1]:entries[index][0]]
    if crossed.strip() != ",":
        raise Refusal(f"{source.file}: a comment stands beside {show(hit.steps)}", "edit it by hand")
    return place


def _block_gap(source: Document, parent: yaml.Node, entries: list[Place], index: int, hit: Hit) -> Place:
    text, (start, end) = source.text, entries[index]
    line, stop = _line_start(text, start), _line_end(text, end)
    tail = text[end:stop].strip()
    lead = text[line:start]
    own = not lead.strip() if isinstance(parent, yaml.MappingNode) else bool(_DASH.fullmatch(lead))
    if tail and not tail.startswith("#"):
        raise Refusal(f"{source.file}: something else stands on the line of {show(hit.steps)}", "edit it by hand")
    if own and stop < len(text):
        return line, text.index("\n", stop) + 1
    if own:
        back = line - 1 if line else 0
        return (back - 1 if back and text[back - 1] == "\r" else back), stop
    if index + 1 < len(entries) and not text[end:entries[index + 1][0]].strip():
        return start, entries[index + 1][0]
    raise Refusal(f"{source.file}: {show(hit.steps)} shares its line", "edit it by hand")


def _entry(source: Document, parent: yaml.Node, index: int) -> Place:
    """From the first character of a key (or item) to the last of its value."""
    item = parent.value[index]
    key, node = item if isinstance(parent, yaml.MappingNode) else (item, item)
    start = key.start_mark.index
    if start < parent.start_mark.index:
        raise Refusal(f"{source.file}: a list of aliases cannot be cut", "edit it by hand")
    return start, max(_end(source, node, key), key.end_mark.index)


def _end(source: Document, node: yaml.Node, key: yaml.Node) -> int:
    if node.start_mark.index < key.start_mark.index:
        alias = re.compile(r"\s*:\s*\*[^\s,\]}]+").match(source.text, key.end_mark.index)
        if alias is None:
            raise Refusal(f"{source.file}: an alias stands where none can be followed", "edit it by hand")
        return alias.end()
    start, end = source.span(node)
    if isinstance(node, yaml.ScalarNode):
        return start + len(source.text[start:end].rstrip()) if node.style in ("|", ">") else end
    if node.flow_style or not node.value:
        return end
    return _entry(source, node, len(node.value) - 1)[1]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Before the line break (and its carriage return)."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end
