"""The changelog as one side of a merge has it, with the bytes of each entry, and which entries of two sides are the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Any

from msgspec import Struct

from bot.layout.records import Changelog
from bot.recipe.changelog.entries import entries, identity

_TAIL = re.compile(rb"(?:(?:#[^\n]*|[ \t\r]*)\n)*\Z")  # comments at the margin and blank lines: no entry's own


class Side(Struct, frozen=True, kw_only=True):
    """Its bytes, the name under which people know it, its entries, the bytes of each, and what stands before it and after."""

    data: bytes
    file: str
    entries: tuple[dict[str, Any], ...]
    blocks: tuple[bytes, ...]
    between: tuple[bytes, ...]

    @classmethod
    def read(cls, data: bytes, file: str, style: Changelog) -> Side:
        """BadInput where the file is no list of entries, each starting on a line of its own."""
        found = entries(data, file, style)
        starts = [at.start() for at in re.finditer(rb"(?m)^- " + re.escape(style.keys.encode()) + rb":", data)]
        parts = [data[at:end] for at, end in pairwise([*starts, len(data)])]
        blocks = [_TAIL.sub(b"", part if part.endswith(b"\n") else part + b"\n").rstrip() + b"\n" for part in parts]
        ends = [part[len(block.rstrip()):].partition(b"\n")[2] for part, block in zip(parts, blocks, strict=True)]
        return cls(data=data, file=file, entries=tuple(found), blocks=tuple(blocks),
                   between=(data[:starts[0] if starts else len(data)], *ends))

    def title(self, at: int, style: Changelog) -> str:
        """An entry as people find it: its number, its first keys, its link."""
        keys = self.entries[at].get(style.keys)
        named = ", ".join(map(str, keys[:2])) + (", ..." if len(keys) > 2 else "") if isinstance(keys, list) else keys
        return f"entry {at + 1} ({named}; {self.entries[at].get(style.link)})"

    def comments(self, at: int) -> tuple[bytes, ...]:
        """Comment lines between an entry and the one before, and behind the last one."""
        said = self.between[at] + (self.between[at + 1] if at == len(self.entries) - 1 else b"")
        return tuple(line.rstrip() for line in said.split(b"\n") if line.startswith(b"#"))


def shared(one: Side, two: Side) -> bool:
    """Whether two files begin with the same comment."""
    return one.between[0] == two.between[0] and bool(one.between[0].strip())


def pairs(head: Side, other: Side, style: Changelog, own: Collection[int] = ()) -> dict[int, int]:
    """Which entry of `other` each entry of `head` is; one of `other` answers for one of `head`, since a pull request may have
    several, even of the same keys.

    First those that are equal, then those of the same keys and link, then those that differ in the link alone, which people
    correct. That last is none of the branch's `own` entries under an address: two bumps may well say the same.
    """
    found: dict[int, int] = {}
    for name in (_whole, identity, _unlinked):
        free = defaultdict(list)
        for at in sorted(set(range(len(other.entries))) - set(found.values()), reverse=True):
            free[name(other.entries[at], style)].append(at)
        for at, entry in enumerate(head.entries):
            said = name(entry, style)
            fits = name is not _unlinked or at not in own or entry.get(style.link) in style.placeholders
            if at not in found and said is not None and fits and free[said]:
                found[at] = free[said].pop()
    return found


Name = Callable[[dict[str, Any], Changelog], Any]


def _whole(entry: dict[str, Any], style: Changelog) -> str:
    return repr(sorted(entry.items(), key=repr))


def _unlinked(entry: dict[str, Any], style: Changelog) -> str:
    return _whole({name: said for name, said in entry.items() if name != style.link}, style)
