"""A text over the forge's limit becomes numbered parts. Lines are never cut, a table's head goes with its rows, and what
is folded is closed in each part and opened again in the next."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARK = 40
_OPEN, _CLOSE = "<details>", "</details>"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def split(text: str, limit: int) -> tuple[str, ...]:
    """Parts of at most `limit` characters, each numbered `(k/n)` when there is more than one.

    Raises RuntimeError when one line alone is over the limit: cutting it would break what it marks up.
    """
    if len(text) <= limit:
        return (text,)
    parts = _Parts(limit - _MARK)
    for line in _LINE.findall(text):
        parts.add(line if line.endswith("\n") else line + "\n")
    done = parts.finish()
    return tuple(f"({number}/{len(done)})\n\n{part}" for number, part in enumerate(done, start=1))


class _Parts:
    """Fills one part after the other. Of its lines the first `given` repeat what was open when the part before it ended."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._done: list[str] = []
        self._lines: list[str] = []
        self._given = 0
        self._opener = ""
        self._head: list[str] = []

    def add(self, line: str) -> None:
        in_table = line.startswith("|")
        row = in_table and len(self._head) == 2
        opener = line if line.startswith(_OPEN) else "" if line.startswith(_CLOSE) else self._opener
        while self._over(line, opener) and len(self._lines) > self._given:
            self._turn(self._head if row else [])
        if self._over(line, opener):
            raise RuntimeError("a line is longer than a comment may be: nothing was posted")
        if line.strip() or len(self._lines) > self._given:
            self._lines.append(line)
        self._opener = opener
        self._head = self._head if row else [*self._head, line] if in_table else []

    def finish(self) -> list[str]:
        return [*self._done, *([_closed(self._lines, self._opener)] if len(self._lines) > self._given else [])]

    def _turn(self, head: Sequence[str]) -> None:
        """Ends the part; headings and a table's head that would stand alone at its end go along to the next."""
        stays = _staying(self._lines, self._given)
        if stays <= self._given:
            stays = len(self._lines)
        self._done.append(_closed(self._lines[:stays], self._opener))
        goes = self._lines[stays:]
        while goes and not goes[0].strip():
            goes = goes[1:]
        given = [self._opener, "\n"] if self._opener else []
        if head and goes[-2:] != list(head):
            given += head
        self._lines, self._given = [*given, *goes], len(given)

    def _over(self, line: str, opener: str) -> bool:
        return sum(map(len, self._lines)) + len(line) + (len(_CLOSE) + 2 if opener else 0) > self._limit


def _staying(lines: Sequence[str], given: int) -> int:
    """How many lines stay: what stands at the end and only announces what follows does not."""
    end = len(lines)
    rows = next((count for count in range(end - given) if not lines[end - count - 1].startswith("|")), 0)
    end -= rows if rows <= 2 else 0
    while end > given and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return end


def _closed(lines: Sequence[str], opener: str) -> str:
    text = "".join(lines).rstrip("\n") + "\n"
    return f"{text}\n{_CLOSE}\n" if opener else text
