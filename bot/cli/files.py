"""Commands over files of a repository: layout, edit, changelog."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import typer

from bot import layout as layouts
from bot.adapters.assets import PackagedAssets
from bot.adapters.tree import FolderTree
from bot.cli.app import Place
from bot.cli.wiring import LAYOUT_FILE, PRESETS, layout_from, presets
from bot.errors import BadInput, Missing, Refusal
from bot.images import reference
from bot.layout import Layout
from bot.recipe import changelog, scope
from bot.recipe import edit as edits


def layout_of(place: Place, assets: PackagedAssets) -> Layout:
    """The layout that --layout names (a preset or a file), else the repository's own file, else the preset `own`."""
    if place.layout in PRESETS:
        return layout_from(assets, presets(assets)[place.layout].encode(), file=f"layout/presets/{place.layout}.yml")
    file = Path(place.layout) if place.layout else place.repo / LAYOUT_FILE
    if not file.is_file():
        if place.layout:
            raise Missing(f"there is no layout {place.layout}", f"presets: {', '.join(PRESETS)}; or name a file")
        return layout_from(assets, None, file=LAYOUT_FILE)
    return layout_from(assets, file.read_bytes(), file=str(file))


def tree_of(place: Place) -> FolderTree:
    """The files of the working tree at --repo."""
    return FolderTree(place.repo)


def layout_check(place: Place, file: Path | None) -> None:
    """Reads the layout file with its preset; one line and exit 1 for what does not hold."""
    found = layout_of(Place(place.repo, str(file) if file else place.layout, place.offline), PackagedAssets())
    typer.echo(f"the layout holds: {len(found.recipes)} places of recipes, {len(found.allow)} repositories of images allowed")


def layout_schema() -> None:
    """The JSON Schema of a layout file."""
    typer.echo(json.dumps(layouts.schema(), indent=2))


def edit(place: Place, recipes: list[str], image: str, *, write: bool, format_: str) -> None:
    """The edit of the recipes named, proved to change nothing else; policy is told on stderr and stops nothing."""
    layout, tree = layout_of(place, PackagedAssets()), tree_of(place)
    moved = scope.prove(tree, layout, recipes, edits.move(tree, layout, recipes, image))
    found = moved.scope
    if found is not None and (found.other_rows_changed or not found.only_image):
        raise Refusal("the edit would change more of the matrix than the image of these recipes",
                      "name the recipes that share its files too; nothing was written")
    name = reference.parse(image).name
    if layout.allow and name not in layout.allow:
        typer.echo(f"policy: {name} is not on the layout's list of repositories", err=True)
    for finding in moved.findings:
        typer.echo(f"note: {finding}", err=True)
    if write:
        for path, data in moved.files.items():
            (place.repo / path).write_bytes(data)
    if format_ == "json":
        sites = [{"file": site.file, "line": site.line, "path": site.path} for site in moved.sites]
        typer.echo(json.dumps([
            {"recipe": key, "old": _old(tree, layout, key) if not write else None, "new": image, "sites": sites,
             "diff": moved.diff, "matrix": msgspec.to_builtins(found), "findings": list(moved.findings), "proposal": None}
            for key in recipes], ensure_ascii=False, indent=2))
    elif not write:
        typer.echo(moved.diff, nl=False)


def changelog_check(place: Place, base: Path, head: Path) -> None:
    """Whether the second file is the first with entries appended; every fault a line, exit 1."""
    layout = layout_of(place, PackagedAssets())
    if layout.changelog is None:
        raise Refusal("this layout has no changelog", "set `changelog` in the layout")
    faults = changelog.check(_bytes(base), _bytes(head), layout.changelog)
    for fault in faults:
        typer.echo(f"{head}: {fault}", err=True)
    if faults:
        raise typer.Exit(1)


def _old(tree: FolderTree, layout: Layout, key: str) -> str:
    from bot.recipe.read import read

    return read(tree, layout, key).image


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", "name a file", file=str(file)) from None
