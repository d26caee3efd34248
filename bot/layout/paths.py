"""Paths as people write them in a layout: `.model.container`, `.spec.containers.*.image`, `."a.b"[0]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.errors import BadInput

Step = str | int
Path = tuple[Step, ...]
_PART = re.compile(r'\.?(?:"((?:[^"\\]|\\.)*)"|\[(\d+|\*)\]|([^.\[\]"]+))')


def steps(path: str | Sequence[Step]) -> Path:
    """`.a."b.c".*[0]` taken apart; a sequence is taken as it is. Keys with dots need the quotes, or the sequence."""
    if not isinstance(path, str):
        return tuple(path)
    found: list[Step] = []
    at = 0
    while at < len(path):
        part = _PART.match(path, at)
        if part is None:
            if path == ".":
                return ()
            raise BadInput(f"not a path: {path!r}", 'write it like .model.container, keys with dots as ."a.b"', key=path)
        quoted, index, word = part.groups()
        at = part.end()
        if index:
            found.append(int(index) if index != "*" else "*")
        else:
            found.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else word)
    return tuple(found)


def show(path: Sequence[Step]) -> str:
    """A path for people: `key.image`, `list.0.name`."""
    return ".".join(str(step) for step in path)
