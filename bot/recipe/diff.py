"""A change as git shows it, so that `git apply` takes it: a/ and b/ paths, missing final newlines told."""

from __future__ import annotations

import difflib
from collections.abc import Mapping


def unified(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The diff of the files in `after` that differ from `before`, in path order; "" when none does."""
    return "".join(_one(path, before.get(path, b""), after[path]) for path in sorted(after)
                   if before.get(path, b"") != after[path])


def _one(path: str, old: bytes, new: bytes) -> str:
    first, second = _lines(old), _lines(new)
    lead = len(_common(first, second))
    tail = len(_common(first[lead:][::-1], second[lead:][::-1]))
    # difflib on the whole of a 10,000-line file spends its time on lines that are equal at both ends anyway.
    skip, keep = max(0, lead - 3), max(0, tail - 3)
    hunks = difflib.unified_diff(first[skip:len(first) - keep], second[skip:len(second) - keep], n=3, lineterm="\n")
    body = [_shifted(line, skip) for line in list(hunks)[2:]]
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body]
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{''.join(shown)}"


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
