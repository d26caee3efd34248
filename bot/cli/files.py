"""Commands over files of a repository: layout, edit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer

from bot import layout as layouts
from bot import proof
from bot.adapters.assets import PackagedAssets
from bot.cli.layouts import bare, generator_of, layout_of, named, tree_of, unread
from bot.cli.output import as_json, note, working
from bot.cli.packaged import LAYOUT_FILE, PRESETS, schemes
from bot.cli.place import Place, parsed
from bot.cli.writing import write_all
from bot.errors import BadInput, Refusal
from bot.images import reference, tags
from bot.images.policy import Policy, off_channel
from bot.images.schemes import Scheme
from bot.layout import Layout
from bot.model.image import Reference
from bot.model.recipe import Edit, Recipe, Scope
from bot.recipe import edit as edits
from bot.recipe import own
from bot.recipe.mentions import mentions
from bot.recipe.read import family as family_of
from bot.recipe.read import fleet, outline, policy
from bot.recipe.shelf import Shelf

Schemes = tuple[Scheme, ...]


def layout_check(place: Place, file: Path | None) -> None:
    """Reads the layout with its preset; one line and exit 1 for what does not hold. Without a name: the file beside
    the work, which is what its author is writing."""
    assets, beside = PackagedAssets(), place.repo / LAYOUT_FILE
    name = str(file) if file else place.layout or (str(beside) if beside.exists() else None)
    if name is None:
        note(f"there is no {beside}; a repository without it has the preset own")
    found = named(name or "own", assets)
    if name is not None and name not in PRESETS and (file is None or file.resolve().is_relative_to(place.repo.resolve())):
        _here(place, found)
    typer.echo(f"{name or 'own'} holds: {_counted(len(found.recipes), 'place')} of recipes, "
               f"{_counted(len(found.allow), 'repository', 'repositories')} of images allowed")


def _here(place: Place, layout: Layout) -> None:
    """Tells what the layout does not find in the repository, and what it finds and nobody can read."""
    if place.repo.is_dir() and not bare(place.repo):
        tree = Shelf(tree_of(place))
        for line in (*tree.empty(layout), *_baselines(tree, layout), *map(str, tree.faults(layout))):
            note(f"note: {line}")


def _baselines(tree: Shelf, layout: Layout) -> list[str]:
    """That the layout's folder of baselines is none: its baselines would be missing, and nobody would look there."""
    folder = layout.baselines.folder.strip("/")
    named = [path for path in (folder, *tree.paths(f"{folder}/")) if path.endswith((".json", ".jsonl"))]
    held = any(tree.read(path) is not None for path in named)
    return [f"baselines.folder: no .json or .jsonl file is at {folder}"] if folder and not held else []


def layout_schema(*, recipe: bool) -> None:
    """The JSON Schema of a layout file, or of an own recipe's."""
    as_json(own.schema() if recipe else layouts.schema())


def edit(place: Place, recipes: list[str], image: str, *, write: bool, format_: str) -> None:
    """The edit of the recipes named, proved to change nothing else; policy is told on stderr and stops nothing."""
    wanted = parsed(reference.parse, image)
    assets = PackagedAssets()
    layout, tree = layout_of(place, assets), Shelf(tree_of(place))
    with working("reading the recipes"):
        moved = edits.move(tree, layout, recipes, image)
        family = [outline(tree, layout, key) for key in dict.fromkeys(recipes)]
    unread(tree, layout)
    with working("proving the scope by the matrix before and after"):
        proved = _proved(place, tree, layout, recipes, moved)
    for line in _policy(tree, layout, family, wanted, schemes(assets)):
        note(f"policy: {line}")
    for finding in (*moved.findings, *_mentioned(tree, layout, family)):
        note(f"note: {finding}")
    if not moved.files:
        note(f"{', '.join(recipe.key for recipe in family)}: {image} stands there already")
    if write:
        write_all(place.repo, moved.files)
        note(f"written: {', '.join(moved.files)}" if moved.files else "nothing to write")
    if format_ == "json":
        as_json(told(family, proved, layout, image))
    elif format_ == "markdown":
        typer.echo(f"```diff\n{moved.diff}```")
    elif not write:
        typer.echo(moved.diff, nl=False)


def _proved(place: Place, tree: Shelf, layout: Layout, recipes: list[str], moved: Edit) -> Edit:
    """The edit with its scope, by the guest's generator where that can be run; why it cannot is a note."""
    def say(line: str) -> None:
        note(f"note: {line}")

    guest = generator_of(place, layout) if moved.files else None
    found = proof.prove(tree, layout, recipes, moved, proof.witness(tree, layout, recipes, guest, say), say)
    if found.fault is not None:
        raise Refusal(f"the edit would change more of the matrix than the image of these recipes: {found.fault}",
                      "name the recipes that share its files too; nothing was written")
    told = (*moved.findings, *(text.en for text in found.notes))
    return msgspec.structs.replace(moved, scope=found.scope, findings=told)


def told(family: list[Recipe], moved: Edit, layout: Layout, image: str) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `edit`. Several recipes make one edit: `recipe` is the first, `recipes` all."""
    return {
        "recipe": family[0].key, "old": family[0].image, "new": image,
        "sites": [{"file": site.file, "line": site.line, "path": site.path} for site in moved.sites],
        "diff": moved.diff, "matrix": matrix_of(layout, moved.scope), "findings": [], "proposal": None,
        "recipes": [{"recipe": recipe.key, "old": recipe.image} for recipe in family], "notes": list(moved.findings),
    }


def matrix_of(layout: Layout, found: Scope | None) -> dict[str, Any] | None:
    """What changes in the matrix; null where the layout knows no generator, and so nobody knows a matrix."""
    return None if found is None or layout.generator == "none" else msgspec.to_builtins(found)


def _policy(tree: Shelf, layout: Layout, family: list[Recipe], wanted: Reference, known: Schemes) -> Iterator[str]:
    """What policy would say of an edit by hand, as far as files tell; age and platform are the registry's to say."""
    if layout.allow and wanted.name not in layout.allow:
        yield f"{wanted.name} is not on the layout's list of repositories"
    for recipe in family:
        rules = policy(tree, layout, recipe)
        if rules.keep:
            yield f"{recipe.key} is pinned: {rules.keep}"
        others = set(family_of(tree, layout, recipe.key)) - {member.key for member in family}
        if others:
            yield f"{recipe.key} moves together with {', '.join(sorted(others))}"
        machines = fleet(tree, layout, recipe)
        if wanted.digest and machines.digests != "proven":
            yield f"whether the launcher on {recipe.hardware or 'this hardware'} takes tag@digest is {machines.digests}"
        yield from _order(recipe.image, wanted, rules, known)


def _mentioned(tree: Shelf, layout: Layout, family: list[Recipe]) -> Iterator[str]:
    for one in mentions(tree, layout, [recipe.key for recipe in family]):
        yield f"{one.file}:{one.line}: {one.name} stands here too and stays; read whether it still holds"


def _order(text: str, wanted: Reference, rules: Policy, known: Schemes) -> Iterator[str]:
    try:
        old = reference.parse(text)
    except BadInput:
        return  # what stands there now is no reference, and has no order
    if old.name != wanted.name:
        yield f"{wanted.name} is another repository than {old.name}"
    elif old.tag and wanted.tag:
        order, why = tags.explain(wanted.tag, old.tag, known, free=rules.free)
        if order in ("older", "incomparable"):
            yield f"{wanted.tag} is {order} {'than' if order == 'older' else 'with'} {old.tag} ({why})"
        elif (off := off_channel(tags.fields(wanted.tag, known), tags.fields(old.tag, known), rules.channel)) is not None:
            yield f"{wanted.tag}: {off}"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


