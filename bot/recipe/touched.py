"""Which recipes somebody's change of files touches, told from the lines of a patch and the file as it stands after it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bot.errors import BadInput
from bot.layout.globs import matches
from bot.layout.records import Layout
from bot.recipe.shelf import Home, Shelf
from bot.recipe.sites import references

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_TOP = re.compile(rb"^([^\s#][^:\n]*):", re.MULTILINE)
_IMAGE = re.compile(r"^\s*(?:-\s*)?[\"']?(?:image|container|newName)[\"']?:\s*[\"']?([^\s\"',}]+)")


class Change(Struct, frozen=True, kw_only=True):
    """One file that somebody changes: `patch` as a forge shows it, None where it shows none (too large, or no text)."""

    path: str
    patch: str | None = None


class Touched(Struct, frozen=True, kw_only=True):
    """The recipes, and the image that the change writes for them, where it writes one."""

    recipes: tuple[str, ...] = ()
    image: str | None = None


class Places:
    """Where recipes stand at the default branch's tip, asked of many changes: files that hold recipes, and files that they link."""

    def __init__(self, tree: Shelf, layout: Layout) -> None:
        self._tree, self._layout = tree, layout
        self._linked: dict[str, list[str]] | None = None
        self._files: dict[str, list[Home]] = {}
        for home in tree.homes(layout).values():
            self._files.setdefault(home.file, []).append(home)

    def shared(self, path: str) -> bool:
        """Whether a file holds several recipes, so that its text is needed to tell which a line belongs to."""
        return len(self._files.get(path, ())) > 1

    def concerns(self, path: str) -> bool:
        """Whether a change of this file may touch a recipe."""
        return path in self._files or path in self._links() or any(
            matches(glob, path) for entry in self._layout.recipes for glob in entry.globs)

    def touched(self, change: Change, after: bytes | None) -> Touched:
        """The recipes that a change touches; `after` is the file's text behind it, needed where `shared`."""
        lines = list(_lines(change.patch or ""))
        image = next((found[1] for _, text in lines if text.startswith("+") and (found := _IMAGE.match(text[1:]))), None)
        homes = self._files.get(change.path, ())
        if len(homes) == 1:
            return Touched(recipes=(homes[0].key,), image=image)
        if not homes:
            return Touched(recipes=tuple(self._links().get(change.path, ())), image=image)
        if after is None or change.patch is None:
            return Touched()
        keys = _starts(after, change.path, self._layout)
        numbers = [number for number, _ in lines]
        return Touched(recipes=tuple(dict.fromkeys(key for number in numbers if (key := _at(keys, number)))), image=image)

    def _links(self) -> Mapping[str, Sequence[str]]:
        if self._linked is None:
            self._linked = {}
            for home in self._tree.homes(self._layout).values():
                for _, file in references(home, home.entry.linked) if home.entry.linked else ():
                    if file:
                        self._linked.setdefault(file, []).append(home.key)
        return self._linked


def _starts(after: bytes, path: str, layout: Layout) -> list[tuple[int, str]]:
    """On which line (from 1) each recipe of a file begins. Where every mapping at the top is one, its name begins a line: that
    needs no parser, and a master file of ten thousand lines is looked at for every pull request."""
    entry = next((one for one in layout.recipes if any(matches(glob, path) for glob in one.globs)), None)
    if entry is not None and entry.key == "*":
        return [(after.count(b"\n", 0, found.start()) + 1, found[1].decode("utf-8", "replace").strip("\"' "))
                for found in _TOP.finditer(after)]
    try:
        homes = Shelf(_One(path, after)).homes(layout)
    except BadInput:
        return []
    return sorted((home.line, home.key) for home in homes.values())


class _One:
    """A tree of one file."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path, self._data = path, data

    def read(self, path: str) -> bytes | None:
        return self._data if path == self._path else None

    def paths(self, prefix: str = "") -> Sequence[str]:
        return (self._path,) if self._path.startswith(prefix) else ()


def _at(starts: Sequence[tuple[int, str]], line: int) -> str | None:
    at = bisect_right(starts, line, key=lambda start: start[0]) - 1
    return starts[at][1] if at >= 0 else None


def _lines(patch: str) -> Iterator[tuple[int, str]]:
    """Each line that a patch adds or takes away, with its number in the file as it stands after it. A line that says nothing
    (blank, or a comment) belongs to no recipe."""
    at = 0
    for line in patch.split("\n"):
        if hunk := _HUNK.match(line):
            at = int(hunk[1])
            continue
        if line[:1] in "+-" and line[1:].strip() and not line[1:].lstrip().startswith("#"):
            yield at, line
        if not line.startswith(("-", "\\")):
            at += 1
