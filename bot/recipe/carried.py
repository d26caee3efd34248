"""Entries that a branch alone has, carried over to the end of the default branch's changelog as the branch wrote them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe import changelog
from bot.recipe.changelog import Entry
from bot.recipe.files.document import Document, value


class Side(Struct, frozen=True, kw_only=True):
    """One side's file: its bytes, the name under which people know it, its entries, and the bytes of each."""

    data: bytes
    file: str
    entries: tuple[Any, ...]
    blocks: tuple[bytes, ...]

    @classmethod
    def read(cls, data: bytes, file: str, style: Changelog) -> Side:
        """BadInput where the file is no list of entries, each starting on a line of its own."""
        document = Document(data, file)
        found = value(document.roots[0]) if document.roots else []
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise BadInput("is not a list of entries", "compare it with the default branch's", file=file)
        starts = [at.start() for at in re.finditer(rb"(?m)^- " + re.escape(style.keys.encode()) + rb":", data)]
        if len(starts) != len(found):
            raise BadInput(f"has {len(starts)} lines starting `- {style.keys}:` and {len(found)} entries",
                           "start each entry with that line", file=file)
        blocks = (data[at:end] for at, end in pairwise([*starts, len(data)]))
        return cls(data=data, file=file, entries=tuple(found), blocks=tuple(block.rstrip() + b"\n" for block in blocks))


def carry(main: Side, head: Side, style: Changelog) -> bytes | None:
    """Main's bytes with the entries that only `head` has at their end; None when it has none.

    An entry in the house's style stays byte for byte, whatever optional fields it has; any other is written in that style.
    """
    fresh = _fresh(main, head, style)
    if not fresh:
        return None
    for problem in changelog.check(main.data, main.data, style) if main.data else ():
        raise BadInput(problem, "mend the file on its main branch first", file=main.file)
    made = main.data
    for at in fresh:
        made += b"" if not made or made.endswith(b"\n\n") else b"\n"
        made += head.blocks[at] if _house(head.blocks[at], style) else _written(head, at, style)
    for problem in changelog.check(main.data, made, style):
        number = re.compile(r"entry (\d+)").match(problem)
        at = int(number[1]) - 1 - len(main.entries) if number else 0
        told = f"entry {fresh[at] + 1}{problem[number.end():]}" if number else problem
        raise BadInput(told, "correct the entry", file=head.file)
    return made


def _fresh(main: Side, head: Side, style: Changelog) -> list[int]:
    """Which entries of `head` main lacks: those at its end. One in between is a change of history, which is not ours to carry."""
    known = [_known(entry, at == len(head.entries) - 1, main, style) for at, entry in enumerate(head.entries)]
    fresh = [at for at, there in enumerate(known) if not there]
    if fresh and any(known[fresh[0]:]):
        raise BadInput(f"entry {fresh[0] + 1} is not in {main.file}, which holds a later one", "put history back as it is there",
                       file=head.file)
    return fresh


def _known(entry: dict[str, Any], last: bool, main: Side, style: Changelog) -> bool:
    """Whether main holds it: as it is, by its link, or under a link that was corrected there. The last entry under another
    link is no corrected one but the branch's own, of a bump that says what another said."""
    link = entry.get(style.link)
    if entry in main.entries or (link not in style.placeholders and link and link in [one.get(style.link) for one in main.entries]):
        return True
    bare = {name: said for name, said in entry.items() if name != style.link}
    twin = any(bare == {name: said for name, said in one.items() if name != style.link} for one in main.entries)
    return twin and (not last or link in style.placeholders)


def _house(block: bytes, style: Changelog) -> bool:
    """Whether every line is one of the house's: the first, a field's, or an item's, a description in double quotes."""
    field, item = re.compile(r"  [A-Za-z][\w-]*:( \S.*)?"), " " * style.item_indent + "- "
    first, *lines = block.decode("utf-8", "replace").split("\n")[:-1]
    within = style.keys
    for line in lines:
        if field.fullmatch(line):
            within = line.strip().partition(":")[0]
        elif not line.startswith(item + ('"' if within == style.description else "")) or line != line.rstrip():
            return False
    return first == f"- {style.keys}:"


def _written(head: Side, at: int, style: Changelog) -> bytes:
    entry = head.entries[at]
    named = {style.keys, style.description, style.link, *([style.scenarios] if style.scenarios else [])}
    if other := sorted(map(str, entry.keys() - named)):
        raise BadInput(f"entry {at + 1} has the field {other[0]} and is not in the house's style",
                       "write it like its neighbours", file=head.file, key=other[0])
    lists = [entry.get(name) or [] if name else [] for name in (style.keys, style.description, style.scenarios)]
    if not all(isinstance(found, list) and all(isinstance(item, str) for item in found) for found in lists):
        raise BadInput(f"entry {at + 1}: its fields are no lists of texts", "compare it with its neighbours", file=head.file)
    keys, description, scenarios = map(tuple, lists)
    made = Entry(keys=keys, description=description, scenarios=scenarios, link=str(entry.get(style.link) or ""))
    return changelog.text_of(made, msgspec.structs.replace(style, file=head.file)).encode()
