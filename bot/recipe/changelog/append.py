"""An entry appended in the house's style, and where it stands on a branch.

Two open bumps always conflict at the end of this file, and a conflicting pull request starts no workflow; so it is
never merged by lines: main's bytes are taken as they are and the entry appended again (CONTRACT 3.3, 3.5).
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Literal

from msgspec import Struct

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.changelog.check import check, gap
from bot.recipe.changelog.entries import canonical, entries, identity, scenario

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
# What a reader does not see, or sees elsewhere than it stands: controls, bidi and other formats, what has no UTF-8 or no meaning.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


class Entry(Struct, frozen=True, kw_only=True):
    """One bump's entry: exact recipe keys, what changed (one line each), the pull request's address."""

    keys: tuple[str, ...]
    description: tuple[str, ...]
    link: str
    scenarios: tuple[str, ...] = ()


def append(data: bytes, entry: Entry, style: Changelog) -> bytes:
    """The file with one entry more; its first bytes are `data`. BadInput when `data` or the entry breaks the rules."""
    made = data + gap(data) + text_of(entry, style).encode()
    if problems := check(data, made, style):
        at_fault = barred(data, style)
        problem, hint = (at_fault[0], "mend the file on its main branch first") if at_fault else (problems[0], "correct the entry")
        raise BadInput(problem, hint, file="" if problem.startswith(style.file) else style.file)
    return made


def barred(data: bytes, style: Changelog) -> tuple[str, ...]:
    """Why no entry may be appended to the file, whatever it says; empty when one may. A file with no entry only begins."""
    if problems := check(data, data, style):
        return problems
    link = style.pull.replace("{number}", "1") or "https://example.org/1"
    probe = Entry(keys=("a",), description=("a",), link=link)
    made = data + gap(data) + text_of(probe, style).encode()
    return tuple(f"takes no entry at its end: {problem}" for problem in check(data, made, style))


def text_of(entry: Entry, style: Changelog) -> str:
    """The entry as it stands in the file, its final newline included."""
    _refuse(entry, style)
    item = " " * style.item_indent
    lines = [f"- {style.keys}:", *(f"{item}- {key}" for key in entry.keys)]
    if entry.scenarios and style.scenarios:
        lines += [f"  {style.scenarios}:", *(f"{item}- {name}" for name in entry.scenarios)]
    lines += [f"  {style.description}:", *(f"{item}- {json.dumps(line, ensure_ascii=False)}" for line in entry.description)]
    return "\n".join([*lines, f"  {style.link}: {entry.link}", ""])


def sync(main: bytes, entry: Entry, style: Changelog) -> bytes:
    """Main's bytes with the entry at their end; main itself when it already holds the entry."""
    return main if _holds(main, entry, style) else append(main, entry, style)


def state(main: bytes, head: bytes, entry: Entry, style: Changelog) -> Literal["absent", "present", "behind"]:
    """Where a branch's entry stands: not there, there at the end of main's bytes, or there while main has moved on."""
    if not _holds(head, entry, style):
        return "absent"
    whole = not main or main.endswith(b"\n")  # a main that lost its last newline conflicts with what stands after it
    return "present" if whole and head.startswith(main) else "behind"


def unfit(link: str, style: Changelog) -> str:
    """Why a link is none that an entry may carry; empty when it is one."""
    if canonical(link, style) or link in style.placeholders:
        return ""
    return f"{link!r} is no pull request's address{f' like {style.pull}' if style.pull else ''}"


def _holds(data: bytes, entry: Entry, style: Changelog) -> bool:
    """Whether the file has it: its keys under its link. Asked at every look, so it is parsed only where the link stands."""
    wanted = identity({style.keys: list(entry.keys), style.link: entry.link}, style)
    if wanted is None or entry.link.encode() not in data:
        return False
    try:
        return any(identity(one, style) == wanted for one in entries(data, style.file, style))
    except BadInput:
        return entry.link in _links(data)  # what cannot be read is told by whoever would append to it


def _links(data: bytes) -> set[str]:
    text = data.decode("utf-8", "replace")
    return {line.partition(":")[2].strip().strip("\"'") for line in text.splitlines() if re.match(r"  [\w-]+:\s", line)}


def _refuse(entry: Entry, style: Changelog) -> None:
    def no(reason: str, hint: str, field: str = "") -> BadInput:
        return BadInput(reason, hint, file=style.file, key=field)

    if not entry.keys or not entry.description:
        raise no("an entry needs a key and a description", "name both")
    for field, names in ((style.keys, entry.keys), (style.scenarios, entry.scenarios)):
        for name in names:
            if not _KEY.match(name):
                raise no(f"{name!r} is no exact key", "write keys out, without wildcards", field)
            if names.count(name) > 1:
                raise no(f"{name} stands twice", "name it once", field)
    for name in entry.scenarios:
        if not scenario(name, style):
            raise no(f"{name!r} is no scenario", f"one of {', '.join(style.scenario_names)}", style.scenarios)
    if problem := unfit(entry.link, style):
        raise no(problem, "give the pull request's", style.link)
    for line in entry.description:
        if not line.strip():
            raise no("a description line is empty", "write one plain line each", style.description)
        for letter in line:
            if unicodedata.category(letter) in _INVISIBLE:
                raise no(f"a description line holds the control character U+{ord(letter):04X}",
                         "write one plain line each, of letters that can be seen", style.description)
