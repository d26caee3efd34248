"""What a linked recipe file of srt-slurm asks of the engine and of the program in front of it (CONTRACT 2.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot.errors import BadInput
from bot.layout.records import Layout
from bot.model.recipe import Recipe
from bot.model.uses import Used
from bot.model.uses import Written as At
from bot.recipe.files.document import Document
from bot.recipe.homes import opened
from bot.recipe.shelf import Shelf
from bot.recipe.sites import references
from bot.recipe.uses.found import Found
from bot.recipe.uses.lined import Leaf, Variant, flat, plain, variants
from bot.upstream.engines import Engine

Read = Callable[[str], bytes | None]
_FRONTEND = ("frontend",)
_GENERAL = "environment"


def documents(sources: Sequence[tuple[str, Read]], shelf: Shelf, layout: Layout, recipe: Recipe,
              found: Found) -> tuple[Variant, ...]:
    """The configurations that a recipe links, file by file; what cannot be read is told."""
    selected = _selected(shelf, layout, recipe)
    made: list[Variant] = []
    for path, read in sources:
        try:
            data = read(path)
            document = opened(data, path) if data is not None else None
            if document is not None and type(document) is Document:
                made += variants(document, tuple(selected.get(path, ())))
        except BadInput as fault:
            found.unread.append(f"{path}: {fault.reason}")
    return tuple(made)


def read(variant: Variant, engines: Mapping[str, Engine], found: Found) -> None:
    """Options and variables of every process that this configuration starts."""
    fronted = bool(variant.mapping("dynamo") or variant.find("frontend"))
    dynamo = fronted and (variant.text("frontend", "type") or "dynamo") == "dynamo"
    for engine in engines.values():
        for key in engine.keys:
            program = f"dynamo.{key.removesuffix('_config')}" if dynamo and key.endswith("_config") else ""
            for role, settings, way in _roles(variant, key):
                found.options += _options(variant, engine, settings, role, program, way)
    found.environment += _environment(variant)
    if dynamo:
        args = variant.mapping(*_FRONTEND, "args")
        found.options += [_used(variant, f"--{name}", leaf, "frontend", "dynamo.frontend", f"frontend.args.{name}")
                          for name, leaf in flat(args) if leaf.value is not False]


def _roles(variant: Variant, key: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Each process with its settings: prefill, decode, aggregated, or the one that there is."""
    block = variant.mapping("backend", key) or variant.mapping(key)
    way = f"backend.{key}" if variant.mapping("backend", key) else key
    processes = {name: child for name, child in block.items() if isinstance(child, Mapping)}
    named = [name for name in processes if name in ("prefill", "decode", "aggregated")]
    for name in named:
        yield name, processes[name], f"{way}.{name}"
    if block and not named:
        yield "", block, way


def _options(variant: Variant, engine: Engine, settings: Mapping[str, Any], role: str, program: str, way: str) -> Iterator[Used]:
    if engine.settings:
        for name, leaf in flat(settings):
            yield _used(variant, name, leaf, role, program, f"{way}.{name}")
        return
    for name, child in settings.items():
        if isinstance(child, Mapping):
            leaf = next((leaf for _, leaf in flat(child)), Leaf(None, 1))
            child = Leaf(json.dumps(plain(child), default=str), leaf.line - 1 if leaf.line > 1 else leaf.line)
        if child.value is not False:
            yield _used(variant, f"--{name}", child, role, program, f"{way}.{name}")


def _environment(variant: Variant) -> Iterator[Used]:
    backend = variant.mapping("backend")
    blocks = [(name.removesuffix("_environment"), backend[name], f"backend.{name}") for name in backend
              if name.endswith("_environment") and isinstance(backend[name], Mapping)]
    blocks += [("", variant.mapping("backend", _GENERAL), "backend.environment"), ("", variant.mapping(_GENERAL), _GENERAL),
               ("frontend", variant.mapping(*_FRONTEND, "env"), "frontend.env")]
    for role, block, way in blocks:
        for name, leaf in block.items():
            if isinstance(leaf, Leaf):
                value = None if leaf.value is None else str(leaf.value)
                yield Used(kind="environment", name=name, value=value, role=role, start=variant.name,
                           program="dynamo.frontend" if role == "frontend" else "",
                           at=At(file=variant.file, line=leaf.line, key=f"{way}.{name}"))


def _used(variant: Variant, name: str, leaf: Leaf, role: str, program: str, key: str) -> Used:
    value = None if leaf.value in (None, True) and name.startswith("-") else _text(leaf.value)
    return Used(kind="option", name=name, value=value, role=role, program=program, start=variant.name,
                at=At(file=variant.file, line=leaf.line, key=key))


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, (list, dict)):
        return json.dumps(value, default=str)
    return str(value)


def _selected(shelf: Shelf, layout: Layout, recipe: Recipe) -> dict[str, list[str]]:
    """The variants that a recipe names, by file."""
    home = shelf.homes(layout).get(recipe.key)
    if home is None or home.entry.linked is None:
        return {}
    made: dict[str, list[str]] = {}
    for text, file in references(home, home.entry.linked):
        if file:
            made.setdefault(file, []).append(text.partition("=")[2].partition(":")[2])
    return made
