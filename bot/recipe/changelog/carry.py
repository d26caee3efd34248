"""Entries that a branch alone has, carried over to the end of the default branch's changelog as the branch wrote them.

Which they are is known from the common ancestor. Without it only the last entry is surely the branch's, with those of its
pull request: any other that main lacks was there once and was taken back by people (32 real commits of a guest did that).
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.changelog.append import Entry, barred, text_of
from bot.recipe.changelog.check import check, gap
from bot.recipe.changelog.entries import texts
from bot.recipe.changelog.sides import Side, pairs, shared


class Carried(Struct, frozen=True, kw_only=True):
    """Main's bytes with the branch's entries at their end, None where it has none of its own; and what is told of the others."""

    data: bytes | None
    notes: tuple[str, ...] = ()


def carry(main: Side, head: Side, style: Changelog, base: Side | None = None) -> Carried:
    """An entry in the house's style stays byte for byte, whatever optional fields it has; any other is written in that style.

    `base` is the common ancestor. An entry of the same keys and link is the same one: main's words stand. BadInput where main
    breaks its rules, where an entry would break them, and where the files have nothing to do with each other.
    """
    own = _since(base, head, style) if base else _last(head, style)
    held = pairs(head, main, style, own)
    told = [f"entry {at + 1} is taken for {main.title(held[at], style)} of {main.file}, whose words stand" for at in sorted(own)
            if at in held and head.entries[at] != main.entries[held[at]]]
    if not base:
        told += _gone(main, head, style, own, held)
    fresh = sorted(own - held.keys())
    if not fresh:
        return Carried(data=None, notes=_of(head, told))
    made = main.data
    for at in fresh:
        kept = _house(head.blocks[at], style)
        made += gap(made) + (head.blocks[at] if kept else _written(head, at, style))
        told += [] if kept else [f"entry {at + 1} is not in the house's style and is written anew, without comments"]
        lost = set(head.comments(at)) - {line.rstrip() for side in (main, base) if side for line in side.data.split(b"\n")}
        told += [f"the comment beside entry {at + 1} is not carried: nothing but entries may be appended"] if lost else []
    _hold(main, head, made, fresh, style)
    return Carried(data=made, notes=_of(head, told))


def _since(base: Side, head: Side, style: Changelog) -> set[int]:
    """Entries of `head` that the common ancestor has not."""
    if head.data.startswith(base.data):
        return set(range(len(base.entries), len(head.entries)))
    known = pairs(head, base, style)
    if base.entries and head.entries and not known:
        raise BadInput(f"holds no entry of {base.file}, which is no ancestor of it", "name the common ancestor's file",
                       file=head.file)
    return set(range(len(head.entries))) - known.keys()


def _last(head: Side, style: Changelog) -> set[int]:
    """The last entry and those of its pull request; where a placeholder stands for that, those right before it."""
    links = [entry.get(style.link) for entry in head.entries]
    if not links or links[-1] not in style.placeholders:
        return {at for at, link in enumerate(links) if link == links[-1]}
    others = [at for at, link in enumerate(links) if link not in style.placeholders]
    return set(range(others[-1] + 1 if others else 0, len(links)))


def _gone(main: Side, head: Side, style: Changelog, own: set[int], held: dict[int, int]) -> list[str]:
    """What is told of entries that stood on main once; BadInput where none is left by which the two files know each other."""
    if main.entries and head.entries and not held and not shared(main, head):
        raise BadInput(f"holds no entry of {main.file}: their history is not the same",
                       "compare it with the default branch's file, or name the common ancestor with --base (an empty file where "
                       "there was none)", file=head.file)
    why = "without the common ancestor (--base) only the last entry and those of its link count as the branch's"
    return [f"{head.title(at, style)} is not in {main.file} and is not carried: {why}"
            for at in range(len(head.entries)) if at not in own | held.keys()]


def _of(head: Side, told: list[str]) -> tuple[str, ...]:
    return tuple(f"{head.file}: {line}" for line in told)


def _hold(main: Side, head: Side, made: bytes, fresh: list[int], style: Changelog) -> None:
    """BadInput, by the file that is at fault, where the result breaks the rules."""
    problems = check(main.data, made, style)
    for problem in problems and barred(main.data, replace(style, file=main.file)):
        raise BadInput(problem.removeprefix(f"{main.file}: "), "mend the file on its main branch first", file=main.file)
    for problem in problems:
        number = re.compile(r"entry (\d+)").match(problem)
        at = int(number[1]) - 1 - len(main.entries) if number else 0
        told = f"entry {fresh[at] + 1}{problem[number.end():]}" if number else problem
        raise BadInput(told, "correct the entry", file=head.file)


def _house(block: bytes, style: Changelog) -> bool:
    """Whether every line is one of the house's: the first, a field's, an item's (a description in double quotes), a comment."""
    field, item = re.compile(r"  [A-Za-z][\w-]*:( \S.*)?"), " " * style.item_indent + "- "
    first, *lines = block.decode("utf-8", "replace").split("\n")[:-1]
    within = style.keys
    for line in lines:
        if field.fullmatch(line):
            within = line.strip().partition(":")[0]
        elif line != line.rstrip() or not (line.lstrip().startswith("#") or line.startswith(
                item + ('"' if within == style.description else ""))):
            return False
    return first == f"- {style.keys}:"


def _written(head: Side, at: int, style: Changelog) -> bytes:
    entry = head.entries[at]
    named = {style.keys, style.description, style.link, *([style.scenarios] if style.scenarios else [])}
    if other := sorted(map(str, entry.keys() - named)):
        raise BadInput(f"entry {at + 1} has the field {other[0]} and is not in the house's style",
                       "write it like its neighbours", file=head.file, key=other[0])
    lists = [entry.get(name) or [] if name else [] for name in (style.keys, style.description, style.scenarios)]
    if not all(not found or texts(found) for found in lists):
        raise BadInput(f"entry {at + 1}: its fields are no lists of texts", "compare it with its neighbours", file=head.file)
    keys, description, scenarios = map(tuple, lists)
    made = Entry(keys=keys, description=description, scenarios=scenarios, link=str(entry.get(style.link) or ""))
    try:
        return text_of(made, replace(style, file="")).encode()
    except BadInput as error:
        raise BadInput(f"entry {at + 1}: {error.reason}", error.hint, file=head.file) from None
