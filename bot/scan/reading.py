"""Recipes with their present images, read into fields. One that cannot be read hides no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from bot.errors import BadInput
from bot.images import reference, tags
from bot.images.schemes import Scheme
from bot.layout import Layout
from bot.model.scan import Scanned
from bot.ports import Tree
from bot.recipe.shelf import Shelf
from bot.recipe.sites import sites


def recipes(tree: Tree | Shelf, layout: Layout, schemes: Iterable[Scheme]) -> Iterator[Scanned]:
    """The recipes of a layout in file order, from files alone."""
    shelf, known = Shelf.of(tree), tuple(schemes)
    for key, home in shelf.homes(layout).items():
        bare = Scanned(recipe=key, file=home.file)
        try:
            yield _read(replace(bare, image=sites(shelf, layout, key).image), known)
        except BadInput as error:
            yield replace(bare, image=home.text(home.entry.image[0]), unknown=(f"the recipe does not hold: {error}",))


def _read(bare: Scanned, schemes: tuple[Scheme, ...]) -> Scanned:
    try:
        found = reference.parse(bare.image or "")
    except BadInput as error:
        return replace(bare, unknown=(f"the image is no reference: {error}",))
    named = replace(bare, registry=found.registry, repository=found.repository, tag=found.tag, digest=found.digest)
    if found.tag is None:
        return replace(named, unknown=("the image has no tag, and only tags are ordered",))
    told = tags.fields(found.tag, schemes)
    return replace(named, scheme=told.scheme, fields=told.fields)
