"""Whether a scenario can be played by this bot: what its folder names and only the bot knows. Asked before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from bot import strict
from bot.adapters.assets import PackagedAssets
from bot.adapters.tree import FolderTree
from bot.cli.packaged import LAYOUT_FILE, PRESETS, layout_from
from bot.cli.wiring import knowledge
from bot.errors import BadInput
from bot.layout import Layout
from bot.recipe.read import keys
from bot.recipe.shelf import Shelf
from bot.rehearse.scenario import FILE, Scenario


def prove(story: Scenario, assets: PackagedAssets) -> None:
    """BadInput with file, line and key for a layout, recipe or repair that is not there; nothing was started then."""
    if story.declared.layout not in PRESETS:
        _refuse(story, ("layout",), f"no preset is called {story.declared.layout!r}", f"presets: {', '.join(PRESETS)}")
    guest = story.repo
    file = guest / LAYOUT_FILE
    layout = guest_layout(story, file.read_bytes() if file.is_file() else None, assets, file=str(file))
    shelf = Shelf(FolderTree(guest))
    try:
        known = keys(shelf, layout)
        if story.declared.recipe not in known:
            for fault in shelf.faults(layout):  # the recipe may be in a file that nobody can read
                raise fault
    except BadInput as error:
        # The reason begins with the file's path, which starts at the repository's root.
        raise BadInput(f"{guest}/{error.reason}" if error.file else error.reason, error.hint) from None
    if story.declared.recipe not in known:
        _refuse(story, ("recipe",), f"repo/ holds no recipe {story.declared.recipe!r}", _names(known))
    repairs = {repair.id for repair in knowledge(assets).repairs}
    at = ("variants", story.variant, "policy", "repairs", "known")
    for index, name in enumerate(story.story.policy.repairs.known or ()):
        if name not in repairs:
            _refuse(story, (*at, index), f"no repair is called {name!r}", _names(repairs))


def guest_layout(story: Scenario, data: bytes | None, assets: PackagedAssets, *, file: str) -> Layout:
    """The layout that the guest's default branch states, else the preset that the scenario names, in the scenario's style."""
    return layout_from(assets, data or f"version: 1\npreset: {story.declared.layout}\n".encode(), file=file)


def _refuse(story: Scenario, path: tuple[str | int, ...], reason: str, hint: str) -> NoReturn:
    place = story.folder / FILE
    _, lines = strict.parse(place.read_text(encoding="utf-8"), file=str(place))
    line = next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)
    raise BadInput(reason, hint, file=str(place), line=line, key=".".join(map(str, path)))


def _names(known: Iterable[str]) -> str:
    names = sorted(known)[:5]
    return f"known: {', '.join(names)}" if names else "none is known there"
