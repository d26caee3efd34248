"""The parts that are pinned beside the engine (Dynamo): where the recipe says which, and whether it may be changed there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from bot.layout.globs import matches
from bot.layout.paths import steps
from bot.layout.records import Layout
from bot.layout.upstream import Coupled
from bot.model.recipe import Recipe
from bot.model.uses import Pin
from bot.model.uses import Written as At
from bot.recipe.homes import Home
from bot.recipe.shelf import Shelf
from bot.recipe.uses.found import Found
from bot.recipe.uses.lined import Leaf, Variant

_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[.-]?(?:a|b|rc|dev|post)\.?\d*)*(?:\+[A-Za-z0-9.]+)?")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_KINDS = ("commit", "version", "wheel", "ref")
ROUTER = "dynamo-router"


def read(shelf: Shelf, layout: Layout, recipe: Recipe, documents: Sequence[Variant], found: Found) -> None:
    """One pin for each configuration that states one; one that nobody knows where the recipe must have one and none is told."""
    for coupled in layout.preflight.coupled:
        made = [pin for document in documents if (pin := _of_document(layout, coupled, document))]
        made = made or _of_entry(shelf, layout, recipe, coupled)
        if not made and coupled.images and any(matches(glob, recipe.framework) for glob in coupled.images):
            found.unread.append(f"{recipe.key}: no file of this repository says which {coupled.name} it runs with")
            made = [_pin(coupled, {}, At(file=recipe.file, key=recipe.key), owned=False)]
        found.pins += made


def _of_document(layout: Layout, coupled: Coupled, document: Variant) -> Pin | None:
    said: dict[str, str] = {}
    at: tuple[str, Leaf] | None = None
    for kind in _KINDS:
        for path in getattr(coupled, kind):
            hit = next(_found(document.tree, steps(path), ""), None)
            if hit and isinstance(hit[1].value, (str, int, float)) and not isinstance(hit[1].value, bool):
                said.setdefault(kind, str(hit[1].value))
                at = at or hit
    if at is None:
        return None
    key = at[0]
    return _pin(coupled, said, At(file=document.file, line=at[1].line, key=key), owned=_owned(layout, document.file, key))


def _of_entry(shelf: Shelf, layout: Layout, recipe: Recipe, coupled: Coupled) -> list[Pin]:
    """What the recipe's own mapping says, where no file that it links says more: the first path of each kind.

    `router: {name: dynamo-router, version: 0.8.1}` is of the release that is installed, and a repair does not move it: what is
    installed is said in a file that is elsewhere."""
    home = shelf.homes(layout).get(recipe.key)
    hits = [(kind, path, hit) for kind in _KINDS for path in getattr(coupled, kind)
            for hit in (home.find(path) if home is not None else ()) if isinstance(hit.node, yaml.ScalarNode) and hit.node.value]
    told = [(kind, path, hit) for kind, path, hit in hits if not path.startswith(".router.") or _routes(home, coupled)]
    if home is None or not told:
        return []
    _, path, hit = told[0]
    key = ".".join(map(str, hit.steps))
    at = At(file=home.file, line=home.document.line(hit.node.start_mark.index), key=key)
    said = {kind: hit.node.value for kind, _, hit in reversed(told)}
    return [_pin(coupled, said, at, owned=not path.startswith(".router.") and _owned(layout, home.file, key))]


def _routes(home: Home | None, coupled: Coupled) -> bool:
    """Whether the recipe's router is the coupled part's own."""
    named = home.text(".router.name") if home is not None else None
    return coupled.name == ROUTER.partition("-")[0] and (named or ROUTER) == ROUTER


def _pin(coupled: Coupled, said: dict[str, str], at: At, *, owned: bool) -> Pin:
    """A `wheel` is a version to srt-slurm, and may be a file's name or address elsewhere."""
    wheel = said.get("wheel")
    version = said.get("version")
    if wheel and _VERSION.fullmatch(wheel):
        version, wheel = version or wheel, None
    commit = said.get("commit")
    if commit and not _COMMIT.fullmatch(commit):
        said.setdefault("ref", commit)
        commit = None
    return Pin(name=coupled.name, package=coupled.package, module=coupled.module, source=coupled.source,
               version=version.removeprefix("v") if version and not commit else None, commit=commit,
               wheel=None if commit else wheel, ref=None if commit or version or wheel else said.get("ref"), at=at, owned=owned)


def _found(tree: Any, path: Sequence[Any], way: str) -> Iterator[tuple[str, Leaf]]:
    """Leaves at a path, with the whole key of each; `*` is every key."""
    if not path:
        if isinstance(tree, Leaf):
            yield way, tree
        return
    if isinstance(tree, dict):
        for key, child in tree.items():
            if path[0] in ("*", key):
                yield from _found(child, path[1:], f"{way}.{key}" if way else key)


def _owned(layout: Layout, file: str, key: str) -> bool:
    """Whether a repair may change it: its file and its key are in the layout's scope."""
    return any(matches(glob, file) for glob in layout.scope.files) and any(
        matches(glob, key, ".") or matches(glob, key.partition(".")[2], ".") for glob in layout.scope.keys)
