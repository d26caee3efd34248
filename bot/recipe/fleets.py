"""What the launchers of a repository say of a family: one entry a fleet that the family's jobs may land on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.layout.records import Layout
from bot.layout.upstream import Launchers
from bot.model.preflight import Staged
from bot.model.recipe import Recipe
from bot.ports import Tree
from bot.recipe.launchers import Said, said
from bot.recipe.shelf import Shelf

Names = Mapping[tuple[str, ...], Sequence[str]]


def staged(tree: Tree | Shelf, layout: Layout, family: Sequence[Recipe], names: Names) -> tuple[Staged, ...]:
    """Per fleet what its launcher says: for which of the family's models it fetches the image itself or may do so, and the
    checkpoints that it lists. `names` are the machines behind each set of labels; a machine is called by its fleet and a number."""
    launchers, shelf = layout.preflight.staging.launchers, Shelf.of(tree)
    if not launchers.files:
        return ()
    found = []
    for labels, machines in names.items():
        recipes = [recipe for recipe in family if any(_labels(point.runner) == labels for point in recipe.points)]
        for fleet in dict.fromkeys(name.rpartition("_")[0] or name for name in machines):
            file = launchers.files.replace("{fleet}", fleet)
            script = shelf.read(file) if ".." not in file.split("/") else None
            if script is not None:
                found.append(_fleet(shelf, layout, fleet, file, script, recipes))
    return tuple(found)


def _fleet(shelf: Shelf, layout: Layout, fleet: str, file: str, script: bytes, recipes: Sequence[Recipe]) -> Staged:
    launchers = layout.preflight.staging.launchers
    read = {recipe.key: said(script, launchers, _known(shelf, layout, launchers, recipe)) for recipe in recipes}
    never = [one for one in read.values() if one.fetches is False]
    lists = [one.models for one in read.values() if one.models is not None]
    return Staged(
        runner=fleet, models=tuple(dict.fromkeys(name for names in lists for name in names)) if lists else None,
        imports=tuple(dict.fromkeys(recipe.prefix or recipe.model or recipe.key for recipe in recipes if read[recipe.key].fetches)),
        downloads=("*",) if launchers.downloads and lists else (), by_hand=bool(never), source=f"{file}{_line(never, read)}")


def _line(never: Sequence[Said], read: Mapping[str, Said]) -> str:
    at = next((one.at for one in never), None) or next((one.listed_at for one in read.values() if one.listed_at), None)
    return f":{at}" if at else ""


def _known(shelf: Shelf, layout: Layout, launchers: Launchers, recipe: Recipe) -> dict[str, str]:
    """The values of the variables that a launcher's conditions ask for, by the recipe's own text."""
    home = shelf.home(layout, recipe.key)
    values = {name: home.text(path) for name, path in launchers.facts.items()}
    return {name: value for name, value in values.items() if value is not None}


def _labels(runner: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in runner.split(",") if part.strip())
