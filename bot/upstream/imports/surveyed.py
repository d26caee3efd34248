"""The surveys of one tree's files, asked for when they are needed and in as few questions as can be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from bot.ports import Tree
from bot.upstream.imports.records import Module

NAME = "imports"
Survey = Callable[[str, Tree, Sequence[str]], Mapping[str, Any]]
"""The Surveyor's one method: name of a survey, tree, paths -> plain values, None for a file that could not be read."""


class Surveyed:
    """Each file is asked for once; `unread` are those that could not be read: what stands in them is unknown."""

    def __init__(self, survey: Survey, tree: Tree) -> None:
        self._survey, self._tree = survey, tree
        self._known: dict[str, Module | None] = {}

    def fetch(self, paths: Collection[str]) -> None:
        """Asks for all of these at once."""
        lacking = sorted({path for path in paths if path and path not in self._known})
        if lacking:
            told = self._survey(NAME, self._tree, lacking)
            for path in lacking:
                self._known[path] = None if told.get(path) is None else msgspec.convert(told[path], Module)

    def get(self, path: str) -> Module | None:
        self.fetch([path])
        return self._known[path]

    @property
    def unread(self) -> list[str]:
        return sorted(path for path, module in self._known.items() if module is None)


def absolute(statement_module: str, level: int, name: str, package: bool) -> str | None:
    """The whole name of a module that a statement in module `name` asks for; None where the dots lead out of its package."""
    if not level:
        return statement_module
    parts = name.split(".") if package else name.split(".")[:-1]
    if level - 1 >= len(parts) or not parts:
        return None
    base = parts[: len(parts) - (level - 1)]
    return ".".join([*base, *filter(None, [statement_module])])
