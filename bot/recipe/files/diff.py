"""A change as git shows it, so that `git apply` takes it: paths quoted as git does, missing final newlines told."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping


def unified(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The diff of the files in `after` that differ from `before`, in path order; "" when none does. A file that is not
    in `before` is a new one."""
    return "".join(_one(path, before.get(path), after[path]) for path in sorted(after) if before.get(path) != after[path])


def _one(path: str, old: bytes | None, new: bytes) -> str:
    first, second = _lines(old or b""), _lines(new)
    lead = len(_common(first, second))
    tail = len(_common(first[lead:][::-1], second[lead:][::-1]))
    # difflib on the whole of a 10,000-line file spends its time on lines that are equal at both ends anyway.
    skip, keep = max(0, lead - 3), max(0, tail - 3)
    hunks = difflib.unified_diff(first[skip:len(first) - keep], second[skip:len(second) - keep], n=3, lineterm="\n")
    body = [_shifted(line, skip) for line in list(hunks)[2:]]
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body]
    mode = "new file mode 100644\n" if old is None else ""
    ends = f"--- {_ended('a/' + path) if old is not None else '/dev/null'}\n+++ {_ended('b/' + path)}\n"
    return f"diff --git {_named('a/' + path)} {_named('b/' + path)}\n{mode}{ends if shown else ''}{''.join(shown)}"


def _named(path: str) -> str:
    """A path as git writes it: in C's quotes where it holds a quote, a backslash, a control character or no ASCII."""
    raw = path.encode("utf-8", "surrogateescape")
    if re.fullmatch(rb"[^\x00-\x1f\x7f-\xff\"\\]*", raw):
        return path
    return '"' + re.sub(rb"[\x00-\x1f\x7f-\xff\"\\]", _octal, raw).decode() + '"'


def _octal(found: re.Match[bytes]) -> bytes:
    return b"\\" + found[0] if found[0] in b"\"\\" else b"\\%03o" % ord(found[0])


def _ended(path: str) -> str:
    """A path on its own line: a tab ends one that holds a blank, or what follows it could be taken for a date."""
    named = _named(path)
    return f"{named}\t" if " " in named else named


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    *whole, rest = text.split("\n")
    return [*(line + "\n" for line in whole), *([rest] if rest else [])]


def _common(first: list[str], second: list[str]) -> list[str]:
    same = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    return first[:same]


def _shifted(line: str, skip: int) -> str:
    if not line.startswith("@@ ") or not skip:
        return line
    old, new = line.split()[1:3]
    return f"@@ {_moved(old, skip)} {_moved(new, skip)} @@\n"


def _moved(place: str, skip: int) -> str:
    start, comma, count = place[1:].partition(",")
    return f"{place[0]}{int(start) + skip}{comma}{count}"
