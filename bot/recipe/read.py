"""A recipe as its repository states it: image, sites, points, and the facts people read about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot import layout as layouts
from bot.images import policy as policies
from bot.images.policy import Policy
from bot.layout import Layout
from bot.model.recipe import Recipe
from bot.ports import Tree
from bot.recipe import matrix, own, settings, spelling, which
from bot.recipe.shelf import Home, Shelf
from bot.recipe.sites import sites


def keys(tree: Tree | Shelf, layout: Layout) -> tuple[str, ...]:
    """Every recipe of the layout, in file order."""
    return tuple(Shelf.of(tree).homes(layout))


def read(tree: Tree | Shelf, layout: Layout, key: str) -> Recipe:
    """One recipe with its points. Refusal for an unknown key; BadInput (file, line, key) for what cannot be read."""
    shelf = Shelf.of(tree)
    home, found = shelf.home(layout, key), sites(shelf, layout, key)
    facts = {name: home.text(path) or "" for name, path in home.entry.facts.items()}
    facts["hardware"] = facts.get("hardware", "").removeprefix("cluster:").split("-")[0]
    said = _settings(shelf, layout, home, found.linked)
    return Recipe(key=key, file=home.file, image=found.image, sites=tuple(place.site for place in found.places),
                  model=facts.get("model", ""), hardware=facts["hardware"], framework=facts.get("framework", ""),
                  precision=facts.get("precision", ""), prefix=facts.get("prefix", ""),
                  points=matrix.points(shelf, layout, key), linked=found.linked, settings=said,
                  failed_requests=_failed_requests(shelf, layout, home),
                  notes=tuple(remark.text for remark in found.remarks))


def family(tree: Tree | Shelf, layout: Layout, key: str) -> tuple[str, ...]:
    """The recipes that move with one, itself included, in file order. Refusal for an unknown key."""
    shelf = Shelf.of(tree)
    home = shelf.home(layout, key)
    image = which.image(home, layout.allow)
    return layouts.family(layout, key, shelf.homes(layout),
                          lambda other: spelling.same(which.image(shelf.home(layout, other), layout.allow), image))


def policy(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> Policy:
    """What the recipe's image may become: as its own file and the layout say, on the hardware that it runs on."""
    runner = recipe.points[0].runner if recipe.points else recipe.hardware
    fleet = layouts.hardware(layout, runner)
    said = _own(Shelf.of(tree), recipe.file).policy if layout.generator == "own" else None
    return policies.policy(layouts.wanted(layout, recipe.key, said), allow=layout.allow, platform=fleet.platform,
                           pin=fleet.digests == "proven")


def _own(shelf: Shelf, file: str) -> own.OwnRecipe:
    return own.load(shelf.read(file) or b"", file)


def _failed_requests(shelf: Shelf, layout: Layout, home: Home) -> float | None:
    if layout.generator != "own":
        return None
    return _own(shelf, home.file).gates.failed_requests


def _settings(shelf: Shelf, layout: Layout, home: Home, linked: Sequence[str]) -> Mapping[str, str]:
    if layout.generator == "own":
        recipe = _own(shelf, home.file)
        return settings.of_own(recipe, layouts.wanted(layout, recipe.name, recipe.policy))
    if layout.generator == "inferencex":
        documents = [document for path in linked if (document := shelf.document(path))]
        return settings.of_rows(matrix.generated(shelf, layout, home), documents, layout)
    return {}
