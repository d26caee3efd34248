"""The words of a fault: one line, whatever the text that is at fault holds; and the faults that both formats know."""

from __future__ import annotations

from typing import Any, NamedTuple

Path = tuple[Any, ...]
MAX_DEPTH = 60
MAX_DIGITS = 300  # more than any double has; Python itself refuses 4,301 with a plain ValueError


class Fault(NamedTuple):
    reason: str
    hint: str


TWICE = Fault("this key stands twice", "keep one")
LONG = Fault("a number that is too long", f"at most {MAX_DIGITS} digits are read")


def key_of(path: Path) -> str:
    """A path as people write it: `runs.1.jobs`."""
    return one_line(".".join(map(str, path)))


def one_line(text: str, limit: int = 200) -> str:
    """One line that can be shown: blanks folded, what does not print replaced, cut where it is longer."""
    folded = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))
    return folded if len(folded) <= limit else f"{folded[:limit]}…"
