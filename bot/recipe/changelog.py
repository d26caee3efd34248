"""The append-only changelog: appended in the house's style, checked in bytes, carried over a moved main.

Two open bumps always conflict at the end of this file, and a conflicting pull request starts no workflow; so it is
never merged by lines: main's bytes are taken as they are and the entry appended again (CONTRACT 3.3, 3.5).
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from msgspec import Struct

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.files.document import Document, value

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_LINK = re.compile(r"[A-Za-z0-9][^\s#\"'\[\]{},]*\Z")
_PLAIN_LINK = re.compile(r"https?://[^\s\"']+\Z")


class Entry(Struct, frozen=True, kw_only=True):
    """One bump's entry: exact recipe keys, what changed (one line each), the pull request's address."""

    keys: tuple[str, ...]
    description: tuple[str, ...]
    link: str
    scenarios: tuple[str, ...] = ()


def append(data: bytes, entry: Entry, style: Changelog) -> bytes:
    """The file with one entry more; its first bytes are `data`. BadInput when `data` or the entry breaks the rules."""
    for problem in _parsed(data, style)[0] if data else ():
        raise BadInput(problem, "mend the file on its main branch first", file=style.file)
    gap = b"" if not data or data.endswith(b"\n\n") else b"\n"
    made = data + gap + text_of(entry, style).encode()
    for problem in check(data, made, style):
        raise BadInput(problem, "correct the entry", file=style.file)
    return made


def text_of(entry: Entry, style: Changelog) -> str:
    """The entry as it stands in the file, its final newline included."""
    _refuse(entry, style)
    item = " " * style.item_indent
    lines = [f"- {style.keys}:", *(f"{item}- {key}" for key in entry.keys)]
    if entry.scenarios and style.scenarios:
        lines += [f"  {style.scenarios}:", *(f"{item}- {name}" for name in entry.scenarios)]
    lines += [f"  {style.description}:", *(f"{item}- {json.dumps(line, ensure_ascii=False)}" for line in entry.description)]
    return "\n".join([*lines, f"  {style.link}: {entry.link}", ""])


def check(base: bytes, head: bytes, style: Changelog, *, link: str | None = None) -> tuple[str, ...]:
    """What is wrong with `head` as a successor of `base`; empty when nothing is.

    Append-only in bytes, one blank line between entries, one final newline, no CR, tab or NUL, exact fields. `link`
    is the address a new entry must carry; without it any of the house's form will do. An old entry's link may be
    corrected, alone.
    """
    problems, new = _parsed(head, style)
    if problems or base == head:
        return problems
    old = _parsed(base, style, strictly=False)[1] if base else []
    shapes = tuple(problem for at, entry in enumerate(new) for problem in _shape(entry, at + 1, style))
    if shapes:
        return shapes
    if len(new) > len(old):
        return (*_old_kept(old, new), *_appended(base, head, len(new) - len(old), style),
                *(problem for entry in new[len(old):] for problem in _link_problem(entry, style, link)))
    return _corrected(base, head, old, new, style)


def sync(main: bytes, entry: Entry, style: Changelog) -> bytes:
    """Main's bytes with the entry at their end; main itself when it already holds the entry."""
    if state(main, main, entry.link) == "present":
        return main
    return append(main, entry, style)


def state(main: bytes, head: bytes, pull_link: str) -> Literal["absent", "present", "behind"]:
    """Where a branch's entry stands: not there, there at the end of main's bytes, or there while main has moved on."""
    if pull_link not in _links(head):
        return "absent"
    whole = not main or main.endswith(b"\n")  # a main that lost its last newline conflicts with what stands after it
    return "present" if whole and head.startswith(main) else "behind"


def _links(data: bytes) -> set[str]:
    text = data.decode("utf-8", "replace")
    return {line.partition(":")[2].strip().strip("\"'") for line in text.splitlines() if re.match(r"  [\w-]+:\s", line)}


def _refuse(entry: Entry, style: Changelog) -> None:
    if not entry.keys or not entry.description:
        raise BadInput("an entry needs a key and a description", "name both", file=style.file)
    for key in (*entry.keys, *entry.scenarios):
        if not _KEY.match(key):
            raise BadInput(f"{key!r} is no exact key", "write keys out, without wildcards", file=style.file, key=style.keys)
    for name in entry.scenarios:
        if not _scenario(name, style):
            raise BadInput(f"{name!r} is no scenario", f"one of {', '.join(style.scenario_names)}", file=style.file,
                           key=style.scenarios)
    if not (_PLAIN_LINK.match(entry.link) or entry.link in style.placeholders or _LINK.match(entry.link)):
        raise BadInput(f"{entry.link!r} is no address", "give the pull request's", file=style.file, key=style.link)
    for line in entry.description:
        if not line.strip() or any(ord(char) < 32 or ord(char) in (0x7F, 0x85, 0x2028, 0x2029) for char in line):
            raise BadInput("a description line is empty or holds control characters", "write one plain line each",
                           file=style.file, key=style.description)


def _parsed(data: bytes, style: Changelog, *, strictly: bool = True) -> tuple[tuple[str, ...], list[Any]]:
    """What is wrong with the file by itself, and its entries. A base is history: only what it says counts."""
    named = (("the file is empty", not data), ("does not end with a newline", not data.endswith(b"\n")),
             ("contains a CR", b"\r" in data), ("contains a tab", b"\t" in data), ("contains a NUL", b"\0" in data))
    found = tuple(reason for reason, bad in named if bad)
    if found and strictly:
        return found[:1] if not data else found, []
    try:
        document = Document(data, style.file)
        entries = value(document.roots[0]) if document.roots else None
    except BadInput as error:
        return (str(error),), []
    if not isinstance(entries, list) or len(document.roots) > 1:
        return ("is not one list of entries",), []
    starts = sum(line.startswith(f"- {style.keys}:") for line in document.text.splitlines())
    if starts != len(entries) and strictly:
        return (f"has {starts} lines starting `- {style.keys}:` and {len(entries)} entries",), entries
    return (), entries


def _shape(entry: Any, number: int, style: Changelog) -> list[str]:
    if not isinstance(entry, dict):
        return [f"entry {number} is no mapping"]
    needed = (style.keys, style.description, style.link)
    known = {*needed, *([style.scenarios] if style.scenarios else []), *style.optional}
    problems = [f"entry {number} lacks {name}" for name in needed if name not in entry]
    problems += [f"entry {number} holds the unknown field {name}" for name in entry if name not in known]
    problems += [f"entry {number}: {name} is no list of texts" for name in (style.keys, style.description)
                 if name in entry and not _texts(entry[name])]
    if style.link in entry and not isinstance(entry[style.link], str):
        problems.append(f"entry {number}: {style.link} is no text")
    said = entry.get(style.scenarios)
    if said is not None and not (_texts(said) and all(_scenario(name, style) for name in said)):
        problems.append(f"entry {number}: {style.scenarios} is no list of {', '.join(style.scenario_names) or 'texts'}")
    return problems + [f"entry {number}: {name} is no flag or count" for name in style.optional
                       if name in entry and not _flag_or_count(entry[name])]


def _scenario(name: str, style: Changelog) -> bool:
    return name in style.scenario_names or not style.scenario_names


def _flag_or_count(said: Any) -> bool:
    return isinstance(said, bool) or (isinstance(said, int) and said > 0)


def _texts(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(item, str) for item in given)


def _old_kept(old: list[Any], new: list[Any]) -> list[str]:
    return [f"entry {at + 1} of history changed" for at, entry in enumerate(old) if entry != new[at]][:1]


def _appended(base: bytes, head: bytes, count: int, style: Changelog) -> list[str]:
    if not head.startswith(base):
        return ["bytes of history changed; take main's file and append at its end"]
    start = f"- {style.keys}:".encode()
    wanted = start if not base or base.endswith(b"\n\n") else b"\n" + start
    problems = []
    if not head[len(base):].startswith(wanted):
        problems.append("the new entry does not follow history after exactly one blank line")
    starts = [found.start() for found in re.finditer(rb"(?m)^" + re.escape(start), head)][-count:]
    if any(not head[:at].endswith(b"\n\n") or head[:at].endswith(b"\n\n\n") for at in starts[1:]):
        problems.append("appended entries are not parted by exactly one blank line")
    if head.endswith(b"\n\n"):
        problems.append("the file ends with a blank line")
    return problems


def _link_problem(entry: dict[str, Any], style: Changelog, link: str | None) -> list[str]:
    said = str(entry.get(style.link) or "")
    if said in style.placeholders or (link is None and _house_link(said, style)) or (link is not None and said == link):
        return []
    return [f"{style.link} is {said or 'empty'}, not {link or style.pull or 'an address'}"]


def _house_link(said: str, style: Changelog) -> bool:
    if not style.pull:
        return bool(said)
    before, _, after = style.pull.partition("{number}")
    return bool(re.fullmatch(re.escape(before) + r"\d+" + re.escape(after), said))


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
    if len(links) != len(moved) or not all(_house_link(said, style) for said in links):
        return ("a corrected link is not the house's form",)
    return ()
