"""The files of one revision, each read and parsed once. Pure: it only remembers what the tree already said."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from bot.errors import BadInput, Refusal
from bot.layout.globs import fitting, matches
from bot.layout.records import Layout
from bot.ports import Tree
from bot.recipe.files.document import Document, Path, value
from bot.recipe.homes import Gathered, Home, gather, opened

__all__ = ["Home", "Shelf", "matches"]


class Shelf:
    """A Tree with a memory. Give one to several questions about the same revision and each file is parsed once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._bytes: dict[str, bytes | None] = {}
        self._documents: dict[str, Document | None] = {}
        self._homes: list[tuple[Layout, Gathered]] = []
        self.values: dict[str, Any] = {}
        self.derived: dict[tuple[str, int], Any] = {}
        """What others made of all files, by its name and the layout's id: asked for each recipe, it is made once."""

    @classmethod
    def of(cls, tree: Tree | Shelf) -> Shelf:
        return tree if isinstance(tree, Shelf) else cls(tree)

    def read(self, path: str) -> bytes | None:
        if path not in self._bytes:
            self._bytes[path] = self._tree.read(path)
        return self._bytes[path]

    def paths(self, prefix: str = "") -> tuple[str, ...]:
        return tuple(self._tree.paths(prefix))

    def document(self, path: str) -> Document | None:
        """The parsed file; None when it is not there. BadInput when it is no YAML, or no Dockerfile."""
        if path not in self._documents:
            data = self.read(path)
            self._documents[path] = None if data is None else opened(data, path)
        return self._documents[path]

    def plain(self, path: str) -> Any:
        """A file's first document as plain values; None when the file is not there."""
        if path not in self.values:
            document = self.document(path)
            self.values[path] = value(document.roots[0]) if document and document.roots else None
        return self.values[path]

    def homes(self, layout: Layout) -> dict[str, Home]:
        """Every recipe of the layout that can be read: its key and where it stands, in file order."""
        return self._gathered(layout).homes

    def home(self, layout: Layout, key: str) -> Home:
        """One recipe. Refusal or BadInput with the reason where there is none of that name."""
        found = self._gathered(layout)
        if key in found.homes:
            return found.homes[key]
        why = found.missing(key, layout, self.read)
        if why.hint:
            raise why
        also = [*found.empty, *(f"not read: {fault.reason}" for fault in found.broken.values())]
        raise Refusal(why.reason, _instead(key, list(found.homes), also))

    def broken(self, layout: Layout) -> dict[str, BadInput]:
        """The files that the layout names and nobody can read, with what is wrong; their recipes are missing."""
        return dict(self._gathered(layout).broken)

    def places(self, layout: Layout, file: str) -> tuple[tuple[int, Path], ...]:
        """Where in a file recipes stand, also those that cannot be told apart: number of the document, and path."""
        return tuple(self._gathered(layout).places.get(file, ()))

    def faults(self, layout: Layout) -> tuple[BadInput, ...]:
        """Why recipes are missing: files that cannot be read, and names that stand twice."""
        found = self._gathered(layout)
        return (*found.broken.values(), *found.clashes.values())

    def empty(self, layout: Layout) -> tuple[str, ...]:
        """The layout's entries that find no recipe, in words."""
        return tuple(self._gathered(layout).empty)

    def fitting(self, globs: Sequence[str]) -> list[str]:
        """The files that globs find."""
        return fitting(globs, self.paths)

    def _gathered(self, layout: Layout) -> Gathered:
        for known, found in self._homes:
            if known is layout:
                return found
        found = gather(layout, self.paths, self.document)
        self._homes.append((layout, found))
        return found


def _instead(key: str, known: Sequence[str], also: Sequence[str]) -> str:
    """What somebody who asked for `key` may have meant."""
    if not known:
        return "; ".join(("the layout finds none here", *also, "look at its `recipes`, and at --repo"))
    close = [name for name in known if key in name or name in key] or get_close_matches(key, known, n=3)
    if close:
        return "; ".join((f"did you mean {', '.join(close[:3])}?", *also))
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    return "; ".join((f"known: {', '.join(known[:3])}{more}", *also))
