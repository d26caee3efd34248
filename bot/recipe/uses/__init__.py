"""What a family asks of its engine: options, variables, coupled pins, carried patches, each with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bot.layout.ask import source_of
from bot.layout.records import Layout
from bot.model.recipe import Recipe
from bot.model.uses import Pin, Used, Uses
from bot.ports import Tree
from bot.recipe import own as own_recipes
from bot.recipe import which
from bot.recipe.shelf import Shelf
from bot.recipe.uses import elsewhere as others
from bot.recipe.uses import linked, mine, patches, pins, scripts, words
from bot.recipe.uses.found import Found
from bot.upstream.engines import Engine, engine_of

__all__ = ["uses"]

Elsewhere = Callable[[str, str], Tree | None]


def uses(tree: Tree | Shelf, layout: Layout, recipes: Sequence[Recipe], engines: Mapping[str, Engine],
         elsewhere: Elsewhere | None = None) -> Uses:
    """All that these recipes, the files that they link and the scripts that start them use. `elsewhere` gives the files of a third
    repository (its address in the layout) at a revision. What cannot be understood is told in `unread`, never left out."""
    shelf = Shelf.of(tree)
    engine = next((name for recipe in recipes if (name := engine_name(layout, recipe, engines))), None)
    found = Found()
    for recipe in recipes:
        _of_one(shelf, layout, recipe, engines, engine, elsewhere, found)
    environment, options = _distinct(found.environment), _distinct(found.options)
    return Uses(engine=engine, options=options, environment=environment, pins=_distinct_pins(found.pins),
                carried=tuple(dict.fromkeys(found.carried)), words=words.words(recipes, options),
                unread=tuple(dict.fromkeys(found.unread)))


def engine_name(layout: Layout, recipe: Recipe, engines: Mapping[str, Engine]) -> str | None:
    """The engine of a recipe: whose source its image's repository has in the layout, or whose name its framework holds."""
    source = source_of(layout, which.repository(recipe.image))
    if source and (name := engine_of(engines, _owner_name(source))):
        return name
    said = recipe.framework.lower().replace("_", "-")
    return next((name for name, engine in engines.items()
                 if any(word in said.split("-") for word in (name, name.replace("_", "-"), *engine.called))), None)


def _of_one(shelf: Shelf, layout: Layout, recipe: Recipe, engines: Mapping[str, Engine], engine: str | None,
            elsewhere: Elsewhere | None, found: Found) -> None:
    mine_known = {engine: engines[engine]} if engine else {}
    if layout.generator == "own":
        mine.read(own_recipes.load(shelf.read(recipe.file) or b"", recipe.file), shelf, recipe.file, found)
    sources = [(path, shelf.read) for path in (*_whole(shelf, layout, recipe), *recipe.linked)]
    if layout.preflight.elsewhere and not recipe.linked:
        sources = others.files(shelf, layout, recipe, elsewhere, found)
    documents = linked.documents(sources, shelf, layout, recipe, found)
    for document in documents:
        linked.read(document, mine_known or engines, found)
    pins.read(shelf, layout, recipe, documents, found)
    # What links recipe files is started by them: a script of the same model and hardware starts another recipe.
    links = recipe.linked or others.named(shelf, layout, recipe)
    texts = {} if links else scripts.read(shelf, layout, recipe, mine_known, found)
    patches.read(shelf, layout, texts, found)


def _whole(shelf: Shelf, layout: Layout, recipe: Recipe) -> tuple[str, ...]:
    """The recipe's file, where all of it is this one recipe of somebody's own form: its engine's options may stand there."""
    home = shelf.homes(layout).get(recipe.key)
    return (home.file,) if home is not None and layout.generator != "own" and not home.hit.steps and not home.index else ()


def _owner_name(source: str) -> str:
    return "/".join(source.removesuffix(".git").rstrip("/").split("/")[-2:])


def _distinct(used: Iterable[Used]) -> tuple[Used, ...]:
    return tuple(dict.fromkeys(used))


def _distinct_pins(found: Iterable[Pin]) -> tuple[Pin, ...]:
    """One pin of each version, where it stands first; a pin that nobody knows only where no other of its name is known."""
    kept = {(pin.name, pin.version, pin.commit, pin.wheel, pin.ref): pin for pin in reversed(tuple(found))}
    known = {pin.name for pin in kept.values() if pin.version or pin.commit or pin.wheel or pin.ref}
    return tuple(pin for pin in reversed(tuple(kept.values()))
                 if pin.version or pin.commit or pin.wheel or pin.ref or pin.name not in known)
