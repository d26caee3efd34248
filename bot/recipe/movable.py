"""Whether the images of recipes can be moved by editing this repository, and what stands in the way (CONTRACT 12.2).

`edit` does what it is told and reports; `plan` and `bump` refuse. A sweep after an image that moved by half, or that the
launcher never reads, measures the old bytes and publishes them under the new name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from bot import layout as layouts
from bot.errors import BadInput, Refusal
from bot.layout import Layout
from bot.ports import Tree
from bot.recipe.shelf import Shelf
from bot.recipe.sites import Place, Sites, references, sites

Kind = Literal["disagrees", "second-image", "outside", "launcher", "shared", "family"]

HINTS: dict[Kind, str] = {
    "disagrees": "bring its files to one image by hand first; nobody can tell which of them the published numbers are of",
    "second-image": "move both images by hand: only a person knows which pairs fit",
    "outside": "move it where that file is: it may name the image too, and then the job would not find its container",
    "launcher": "change the launcher first: a sweep would measure its image and publish it under the recipe's",
    "shared": "put the recipes into one family in the layout's `families`",
    "family": "bring them to one image by hand, or put them in families of their own in the layout's `families`",
}


class Obstacle(Struct, frozen=True, kw_only=True):
    """Why an image is not moved, and of which kind that is."""

    kind: Kind
    reason: str

    @property
    def hint(self) -> str:
        return HINTS[self.kind]


def obstacles(tree: Tree | Shelf, layout: Layout, family: Sequence[str]) -> tuple[Obstacle, ...]:
    """Everything that stands in the way of moving these recipes together; BadInput and Refusal as `sites`."""
    shelf = Shelf.of(tree)
    found = [sites(shelf, layout, key) for key in family]
    made = [*_images(found), *(one for at in found for one in _alone(shelf, layout, at)), *_shared(shelf, layout, found)]
    return tuple(dict.fromkeys(made))


def require(tree: Tree | Shelf, layout: Layout, family: Sequence[str], *, beside: Collection[Kind] = ()) -> None:
    """Refusal where something does, other than what is of a kind `beside`: the first reason of each kind, and what to do about the
    first."""
    found = [one for one in obstacles(tree, layout, family) if one.kind not in beside]
    if found:
        kinds = {one.kind: one for one in reversed(found)}
        more = len(found) - len(kinds)
        told = "; ".join(one.reason for one in found if one is kinds[one.kind])
        raise Refusal(f"{told}; and {more} more like these" if more else told, found[0].hint)


def _images(found: Sequence[Sites]) -> Iterator[Obstacle]:
    images = sorted({one.image for one in found})
    if len(images) > 1:
        yield Obstacle(kind="family", reason=f"the recipes of one family run different images: {', '.join(images)}")


def _alone(shelf: Shelf, layout: Layout, one: Sites) -> Iterator[Obstacle]:
    home = shelf.home(layout, one.key)
    facts = {name: home.text(path) or "" for name, path in home.entry.facts.items()}
    why = layouts.fixed(layout, facts)
    if why is not None:
        yield Obstacle(kind="launcher", reason=f"{one.key}: {why}")
    for remark in one.remarks:
        if remark.kind in ("disagrees", "second-image", "outside"):
            yield Obstacle(kind=remark.kind, reason=remark.text)


def _shared(shelf: Shelf, layout: Layout, found: Sequence[Sites]) -> Iterator[Obstacle]:
    """A file that moves with one recipe would move under another."""
    keys = {one.key for one in found}
    for file, others in shared(shelf, layout, found).items():
        yield Obstacle(kind="shared", reason=f"{file} is shared with {', '.join(others)}, outside {', '.join(sorted(keys))}")


def shared(shelf: Shelf, layout: Layout, found: Sequence[Sites]) -> dict[str, list[str]]:
    """Files that these recipes would edit, each with the recipes beside them for which it would be edited too."""
    keys = {one.key for one in found}
    linking, standing = _linking(shelf, layout), _standing(shelf, layout)
    told: dict[str, list[str]] = {}
    for place in (place for one in found for place in one.places):
        file = place.document.file
        others = [*(linking.get(file, ()) if all(file != one.file for one in found) else ()), *standing.get(place.where, ())]
        for key in others:
            if key not in keys and key not in told.setdefault(file, []):
                told[file].append(key)
    return {file: others for file, others in sorted(told.items()) if others}


def _linking(shelf: Shelf, layout: Layout) -> dict[str, list[str]]:
    """Linked files, each with the recipes that name it."""
    name = ("linking", id(layout))
    if name not in shelf.derived:
        made: dict[str, list[str]] = {}
        for key, home in shelf.homes(layout).items():
            for _, file in references(home, home.entry.linked) if home.entry.linked else ():
                if file:
                    made.setdefault(file, []).append(key)
        shelf.derived[name] = made
    return shelf.derived[name]


def _standing(shelf: Shelf, layout: Layout) -> dict[object, list[str]]:
    """Places, each with the recipes whose image stands there; nothing where no two recipes can share one."""
    name = ("standing", id(layout))
    if name not in shelf.derived:
        made: dict[object, list[str]] = {}
        homes = shelf.homes(layout)
        for key in homes if not all(home.lone for home in homes.values()) else ():
            for place in _places(shelf, layout, key):
                made.setdefault(place.where, []).append(key)
        shelf.derived[name] = made
    return shelf.derived[name]


def _places(shelf: Shelf, layout: Layout, key: str) -> tuple[Place, ...]:
    try:
        return sites(shelf, layout, key).places
    except BadInput:
        return ()  # what cannot be read has no site that could be said to move
