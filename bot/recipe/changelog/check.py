"""Whether a changelog only appends to another: in bytes, entry by entry, and each new entry with the link it must have."""

from __future__ import annotations

import re
from typing import Any

from bot.layout.records import Changelog
from bot.recipe.changelog.entries import canonical, parsed, shape


def check(base: bytes, head: bytes, style: Changelog, *, link: str | None = None) -> tuple[str, ...]:
    """What is wrong with `head` as a successor of `base`; empty when nothing is.

    Append-only in bytes, one blank line between entries, one final newline, no CR, tab, NUL or byte order mark, exact fields.
    `link` is the address a new entry must carry; without it any of the house's form will do, and a placeholder always does. An
    old entry's link may be corrected, alone. A file of comments only, or an empty one, holds no entry and is no fault.
    """
    problems, new = parsed(head, style)
    problems = problems or tuple(problem for at, entry in enumerate(new) for problem in shape(entry, at + 1, style))
    if problems or base == head:
        return problems
    problems, old = parsed(base, style)
    if problems:
        return tuple(f"history: {problem}" for problem in problems)
    if len(new) > len(old):
        return (*_old_kept(old, new), *_appended(base, head, len(new) - len(old), style),
                *(problem for entry in new[len(old):] for problem in _link_problem(entry, style, link)))
    return _corrected(base, head, old, new, style)


def gap(base: bytes) -> bytes:
    """What stands between a file and the entry that is appended: a blank line, where the file does not end with one."""
    return b"" if (b"\n\n" + base).endswith(b"\n\n") else b"\n"


def _old_kept(old: list[Any], new: list[Any]) -> list[str]:
    return [f"entry {at + 1} of history changed" for at, entry in enumerate(old) if entry != new[at]][:1]


def _appended(base: bytes, head: bytes, count: int, style: Changelog) -> list[str]:
    if not head.startswith(base):
        return ["bytes of history changed; take main's file and append at its end"]
    start = f"- {style.keys}:".encode()
    problems = []
    if not head[len(base):].startswith(gap(base) + start):
        problems.append("the new entry does not follow history after exactly one blank line" if base else
                        "the first entry does not start the file, which was empty")
    starts = [found.start() for found in re.finditer(rb"(?m)^" + re.escape(start), head)][-count:]
    if any(not head[:at].endswith(b"\n\n") or head[:at].endswith(b"\n\n\n") for at in starts[1:]):
        problems.append("appended entries are not parted by exactly one blank line")
    if head.endswith(b"\n\n"):
        problems.append("the file ends with a blank line")
    return problems


def _link_problem(entry: dict[str, Any], style: Changelog, link: str | None) -> list[str]:
    said = str(entry.get(style.link) or "")
    if said in style.placeholders or (said == link if link is not None else _house(said, style)):
        return []
    return [f"{style.link} is {said or 'empty'}, not {link or style.pull or 'an address'}"]


def _house(said: str, style: Changelog) -> bool:
    """Where the layout does not say how a pull request is linked, others may link it as they like."""
    return canonical(said, style) if style.pull else bool(said)


def _corrected(base: bytes, head: bytes, old: list[Any], new: list[Any], style: Changelog) -> tuple[str, ...]:
    """No entry more: all that may differ is the link of old entries, one line each."""
    if len(new) < len(old):
        return ("entries were deleted",)
    first, second = base.split(b"\n"), head.split(b"\n")
    field = f"  {style.link}:".encode()
    moved = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    if len(first) != len(second) or any(not (a.startswith(field) and b.startswith(field)) for a, b in moved):
        return ("nothing is appended and history changed",)
    links = [entry[style.link] for was, entry in zip(old, new, strict=True) if was != entry]
    if len(links) != len(moved) or not all(_house(said, style) for said in links):
        return ("a corrected link is not the house's form",)
    return ()
