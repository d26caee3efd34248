"""The source patches that a recipe puts on its image: those of the layout's files that its scripts name."""

from __future__ import annotations

from collections.abc import Mapping

from bot.layout.records import Layout
from bot.model.uses import Written as At
from bot.recipe.shelf import Shelf
from bot.recipe.uses.found import Found
from bot.upstream import patches as upstream


def read(shelf: Shelf, layout: Layout, texts: Mapping[str, str], found: Found) -> None:
    """A patch belongs to a recipe whose script, or a script that this one names, holds its file's name."""
    files = shelf.fitting(layout.preflight.patches) if layout.preflight.patches else []
    for path in files:
        name = path.rsplit("/", 1)[-1]
        user = next((script for script, text in texts.items() if name in text and script != path), None)
        data = shelf.read(path)
        if user is None or data is None:
            continue
        line = next((number for number, said in enumerate(texts[user].split("\n"), 1) if name in said), None)
        try:
            found.carried.append(upstream.read(data, At(file=path, line=1)))
        except ValueError as fault:
            found.unread.append(f"{user}:{line}: {path}: {fault}")
