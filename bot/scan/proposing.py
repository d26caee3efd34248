"""The image that a recipe moves to when nobody names one."""

from __future__ import annotations

from bot.errors import Refusal, Unreachable
from bot.layout import Layout
from bot.model.scan import Scanned
from bot.ports import Tree
from bot.recipe.shelf import Shelf
from bot.scan.asking import Scan, Sources, scan


def look(tree: Tree | Shelf, layout: Layout, sources: Sources, recipe: str) -> Scan:
    """The scan of one recipe. Refusal for one that is not there."""
    shelf = Shelf.of(tree)
    shelf.home(layout, recipe)
    return scan(shelf, layout, sources, {recipe})


def proposed(found: Scan) -> Scanned:
    """The line of the one recipe that was looked at. Refusal where it has no candidate, with the reasons; Unreachable where
    the registry did not answer."""
    line, = found.lines
    if line.candidate is not None:
        return line
    why = "; ".join((*line.reasons, *line.unknown)) or "nothing follows its image"
    if not found.reached:
        raise Unreachable(f"no candidate for {line.recipe}: {why}", "try again later, or name an image with --image")
    named = f"{line.disposition.value}: " if line.disposition else ""
    raise Refusal(f"{named}no candidate for {line.recipe}: {why}", "name an image with --image to have it judged")
