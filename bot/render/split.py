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
    """Fills one part after the other; `opener` is the line that folds, while something is folded."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._done: list[str] = []
        self._lines: list[str] = []
        self._given = 0
        self._opener, self._head = "", []  # type: str, list[str]

    def add(self, line: str) -> None:
        self._head = [] if not line.startswith("|") else self._head if len(self._head) == 2 else [*self._head, line]
        opener = line if line.startswith(_OPEN) else "" if line.startswith(_CLOSE) else self._opener
        if self._size(opener) + len(line) > self._limit:
            self._turn(line)
        if self._size(opener) + len(line) > self._limit:
            raise RuntimeError("a line is longer than a comment may be: nothing was posted")
        self._lines.append(line)
        self._opener = opener

    def finish(self) -> list[str]:
        return [*self._done, *([_closed(self._lines, self._opener)] if len(self._lines) > self._given else [])]

    def _turn(self, line: str) -> None:
        """Ends the part before `line`; headings and heads of tables that would stand alone at its end go along."""
        told, orphans = self._lines[: self._given], self._lines[self._given :]
        told, orphans = _parted([*told, *orphans], self._given)
        if len(told) > self._given:
            self._done.append(_closed(told, self._opener))
        else:
            told, orphans = [], [*orphans]
        repeated = self._head if line.startswith("|") and len(self._head) == 2 and line not in self._head else []
        given = [*([self._opener, "\n"] if self._opener else []), *([] if _ends_with(orphans, repeated) else repeated)]
        while orphans and not orphans[0].strip():
            orphans = orphans[1:]
        self._lines, self._given = [*given, *orphans], len(given)

    def _size(self, opener: str) -> int:
        return sum(map(len, self._lines)) + (len(_CLOSE) + 2 if opener else 0)


def _parted(lines: Sequence[str], given: int) -> tuple[list[str], list[str]]:
    """The lines that stay, and those at the end that only announce what follows."""
    end = len(lines)
    rows = 0
    while rows < 2 and end - rows > given and lines[end - rows - 1].startswith("|"):
        rows += 1
    if rows and end - rows > given and not lines[end - rows - 1].startswith("|"):
        end -= rows
    while end > given and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return list(lines[:end]), list(lines[end:])


def _ends_with(lines: Sequence[str], tail: Sequence[str]) -> bool:
    return list(lines[-len(tail) :]) == list(tail) if tail else True


def _closed(lines: Sequence[str], opener: str) -> str:
    text = "".join(lines).rstrip("\n") + "\n"
    return f"{text}\n{_CLOSE}\n" if opener else text
