"""The files of one revision, each read and parsed once. Pure: it only remembers what the tree already said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import yaml

from bot.errors import BadInput, Refusal
from bot.layout.records import Layout, RecipeFiles
from bot.ports import Tree
from bot.recipe.document import Document, Hit, steps, value


class Shelf:
    """A Tree with a memory. Give one to several questions about the same revision and each file is parsed once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._bytes: dict[str, bytes | None] = {}
        self._documents: dict[str, Document | None] = {}
        self._homes: list[tuple[Layout, dict[str, Home]]] = []
        self.values: dict[str, Any] = {}

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
        """The parsed file; None when it is not there. BadInput when it is no YAML."""
        if path not in self._documents:
            data = self.read(path)
            self._documents[path] = None if data is None else Document(data, path)
        return self._documents[path]

    def plain(self, path: str) -> Any:
        """A file's first document as plain values; None when the file is not there."""
        if path not in self.values:
            document = self.document(path)
            self.values[path] = value(document.roots[0]) if document and document.roots else None
        return self.values[path]

    def homes(self, layout: Layout) -> dict[str, Home]:
        """Every recipe of the layout: its key and where it stands, in file order."""
        for known, homes in self._homes:
            if known is layout:
                return homes
        found: dict[str, Home] = {}
        for entry in layout.recipes:
            for path in self._files(entry):
                for home in _recipes_of(self.document(path), entry, path):
                    if home.key in found:
                        raise BadInput(f"the recipe {home.key} stands in {found[home.key].file} too", "keep one",
                                       file=path, key=home.key)
                    found[home.key] = home
        self._homes.append((layout, found))
        return found

    def home(self, layout: Layout, key: str) -> Home:
        try:
            return self.homes(layout)[key]
        except KeyError:
            raise Refusal(f"no recipe is called {key}", _instead(key, list(self.homes(layout)))) from None

    def _files(self, entry: RecipeFiles) -> list[str]:
        found: list[str] = []
        for glob in entry.globs:
            fixed = re.split(r"[*?{\[]", glob, maxsplit=1)[0].rpartition("/")[0]
            found += [path for path in sorted(self.paths(fixed)) if path not in found and matches(glob, path)]
        return found


def _instead(key: str, known: Sequence[str]) -> str:
    """What somebody who asked for `key` may have meant."""
    if not known:
        return "the layout finds none here: look at its `recipes`, and at --repo"
    close = [name for name in known if key in name or name in key] or get_close_matches(key, known, n=3)
    if close:
        return f"did you mean {', '.join(close[:3])}?"
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    return f"known: {', '.join(known[:3])}{more}"


class Home:
    """Where one recipe stands: file, document, the node that is the recipe, and the layout's entry it came by."""

    __slots__ = ("document", "entry", "file", "hit", "index", "key")

    def __init__(self, key: str, file: str, document: Document, index: int, hit: Hit, entry: RecipeFiles) -> None:
        self.key, self.file, self.document, self.index, self.hit, self.entry = key, file, document, index, hit, entry

    def find(self, path: str) -> list[Hit]:
        """Nodes at a path that starts at the recipe; their steps start at the document's root."""
        return self.document.find((*self.hit.steps, *steps(path)), document=self.index)

    def text(self, path: str) -> str | None:
        return next((hit.node.value for hit in self.find(path) if isinstance(hit.node, yaml.ScalarNode)), None)


def _recipes_of(document: Document | None, entry: RecipeFiles, path: str) -> list[Home]:
    made: list[Home] = []
    for index, root in enumerate(document.roots if document else ()):
        assert document is not None
        if entry.key == "*":
            made += [Home(str(hit.steps[-1]), path, document, index, hit, entry)
                     for hit in document.find("*", document=index) if isinstance(hit.node, yaml.MappingNode)]
        else:
            name = document.scalar(entry.key, document=index)
            if name is not None:
                made.append(Home(name, path, document, index, Hit((), root), entry))
    return made


def matches(glob: str, path: str) -> bool:
    """Whether a path fits a glob: `*` and `?` within one folder, `**` across folders, `{a,b}` either."""
    return _pattern(glob).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/?|\*|\?|\{[^{}]*\})", glob)
    return re.compile("".join(_piece(part) for part in parts))


def _piece(part: str) -> str:
    fixed = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    if part in fixed:
        return fixed[part]
    if part.startswith("{") and part.endswith("}"):
        return "(?:" + "|".join(re.escape(word) for word in part[1:-1].split(",")) + ")"
    return re.escape(part)
