"""The image that a recipe moves to when nobody names one."""

from __future__ import annotations

from bot.errors import Refusal, Unreachable
from bot.layout import Layout
from bot.model.scan import Scanned
from bot.ports import Tree
from bot.recipe.shelf import Shelf
from bot.scan.asking import Scan, Sources, scan


def proposed(tree: Tree | Shelf, layout: Layout, sources: Sources, recipe: str) -> tuple[Scanned, Scan]:
    """The line of one recipe that has a candidate, with the scan that found it. Refusal where there is none, with
    the reasons; Unreachable where the registry did not answer; Missing for a recipe that is not there."""
    shelf = Shelf.of(tree)
    shelf.home(layout, recipe)
    found = scan(shelf, layout, sources, {recipe})
    line = found.lines[0]
    if line.candidate is not None:
        return line, found
    why = "; ".join((*line.reasons, *line.unknown)) or "nothing follows its image"
    if not found.answered:
        raise Unreachable(f"no candidate for {recipe}: {why}", "try again later, or name an image with --image")
    named = f"{line.disposition.value}: " if line.disposition else ""
    raise Refusal(f"{named}no candidate for {recipe}: {why}", "name an image with --image to have it judged")
