"""A changelog's file as the entries it holds, the forms that an entry's link may have, and when two entries are one.

A file of comments and blank lines, or of nothing, holds no entry: a repository begins so, and its first entry follows them.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.files.document import Document, value

_ADDRESS = re.compile(r"https?://[][A-Za-z0-9._~/:?&=%+,;@!-]*[A-Za-z0-9/]\Z")


def entries(data: bytes, file: str, style: Changelog) -> list[dict[str, Any]]:
    """The file's entries as plain values. BadInput where it is no list of entries, each starting on a line of its own."""
    document, found = _read(data, file)
    if found is None or not all(isinstance(entry, dict) for entry in found):
        raise BadInput("is not a list of entries", "compare it with the default branch's", file=file)
    if uncounted := _uncounted(document, found, style):
        raise BadInput(uncounted, "start each entry with that line", file=file)
    return found


def parsed(data: bytes, style: Changelog) -> tuple[tuple[str, ...], list[Any]]:
    """What is wrong with the file as a file, and its entries where they can be told."""
    named = (("does not end with a newline", bool(data) and not data.endswith(b"\n")), ("contains a CR", b"\r" in data),
             ("contains a tab", b"\t" in data), ("contains a NUL", b"\0" in data),
             ("starts with a byte order mark", data.startswith(codecs.BOM_UTF8)))
    if reasons := tuple(reason for reason, bad in named if bad):
        return reasons, []
    try:
        document, found = _read(data, style.file)
    except BadInput as error:
        return (str(error),), []
    if found is None:
        return ("is not one list of entries",), []
    merged = [at + 1 for at, node in enumerate(document.roots[0].value if document.roots else ()) if _merges(node)]
    if merged:
        return (f"entry {merged[0]} takes fields from elsewhere (<<): write them out",), found
    uncounted = _uncounted(document, found, style)
    return (uncounted,) if uncounted else (), found


def shape(entry: Any, number: int, style: Changelog) -> list[str]:
    """What is wrong with the fields of one entry, which is the `number`th of its file."""
    if not isinstance(entry, dict):
        return [f"entry {number} is no mapping"]
    needed = (style.keys, style.description, style.link)
    known = {*needed, *([style.scenarios] if style.scenarios else []), *style.flags, *style.counts}
    problems = [f"entry {number} lacks {name}" for name in needed if name not in entry]
    problems += [f"entry {number} holds the unknown field {name}" for name in entry if name not in known]
    problems += [f"entry {number}: {name} is no list of texts" for name in (style.keys, style.description)
                 if name in entry and not texts(entry[name])]
    if style.link in entry and not isinstance(entry[style.link], str):
        problems.append(f"entry {number}: {style.link} is no text")
    said = entry.get(style.scenarios)
    if said is not None and not (texts(said) and all(scenario(name, style) for name in said)):
        problems.append(f"entry {number}: {style.scenarios} is no list of {', '.join(style.scenario_names) or 'texts'}")
    return [*problems, *(f"entry {number}: {problem}" for problem in _optional(entry, style))]


def texts(given: Any) -> bool:
    """Whether it is a list of texts, and not an empty one."""
    return isinstance(given, list) and bool(given) and all(isinstance(item, str) for item in given)


def scenario(name: str, style: Changelog) -> bool:
    """Whether it may stand among an entry's kinds of workload."""
    return name in style.scenario_names or not style.scenario_names


def canonical(link: str, style: Changelog) -> bool:
    """Whether it is a pull request's address as the layout writes them, or any address where it does not say.

    A number is written as the forge writes it: other digits, 0 and a leading 0 are no pull request's."""
    if not style.pull:
        return bool(_ADDRESS.match(link))
    before, _, after = style.pull.partition("{number}")
    return bool(re.fullmatch(re.escape(before) + "[1-9][0-9]*" + re.escape(after), link))


def identity(entry: dict[str, Any], style: Changelog) -> tuple[Any, ...] | None:
    """What makes it the same entry whatever its words: its keys and its pull request. None where a placeholder stands for that.

    The link alone is not enough: of 772 real entries 33 share theirs with another one.
    """
    link, keys = entry.get(style.link), entry.get(style.keys)
    if not isinstance(link, str) or not link or link in style.placeholders or not texts(keys):
        return None
    return (link, *sorted(keys))


def _read(data: bytes, file: str) -> tuple[Document, list[Any] | None]:
    document = Document(data, file)
    for double in document.doubles.values():
        raise double
    try:
        found = [value(root) for root in document.roots]
    except BadInput as error:
        raise BadInput(error.reason, error.hint, file=file) from None
    if not found:
        return document, []
    listed = found[0] if len(found) == 1 and isinstance(found[0], list) else None
    return document, listed


def _uncounted(document: Document, found: list[Any], style: Changelog) -> str:
    starts = sum(line.startswith(f"- {style.keys}:") for line in document.text.splitlines())
    return "" if starts == len(found) else f"has {starts} lines starting `- {style.keys}:` and {len(found)} entries"


def _merges(node: Any) -> bool:
    return any(part[0].tag.endswith(":merge") for part in node.value if isinstance(part, tuple))


def _optional(entry: dict[str, Any], style: Changelog) -> list[str]:
    problems = [f"{name} is {_shown(entry[name])}, not true or false" for name in style.flags
                if name in entry and not isinstance(entry[name], bool)]
    problems += [f"{name} is {_shown(entry[name])}, not a whole number from 1" for name in style.counts
                 if entry.get(name) is not None and not _count(entry[name])]
    for first, *others in style.apart:
        beside = [name for name in others if entry.get(name) not in (None, False)]
        if entry.get(first) not in (None, False) and beside:
            problems.append(f"{first} may not stand beside {', '.join(beside)}")
    return problems


def _count(said: Any) -> bool:
    return isinstance(said, int) and not isinstance(said, bool) and said > 0


def _shown(said: Any) -> str:
    """A value on one line: a text in its quotes, so that "true" and true differ."""
    plain = said is None or isinstance(said, (str, bool, int, float))
    return json.dumps(said)[:60] if plain else f"a {type(said).__name__}"
