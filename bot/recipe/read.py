"""A recipe as its repository states it: image, sites, points, and the facts people read about it."""

from __future__ import annotations

from msgspec.structs import replace

from bot import layout as layouts
from bot.errors import BadInput
from bot.images import contains, reference
from bot.images import policy as policies
from bot.images.policy import Policy
from bot.layout import Hardware, Layout
from bot.model.policy import Wanted
from bot.model.recipe import Recipe
from bot.model.upstream import Change
from bot.ports import Tree
from bot.recipe import matrix, own, settings, spelling, which
from bot.recipe.shelf import Home, Shelf
from bot.recipe.sites import sites
from bot.upstream.changes import wanted


def keys(tree: Tree | Shelf, layout: Layout) -> tuple[str, ...]:
    """Every recipe of the layout, in file order."""
    return tuple(Shelf.of(tree).homes(layout))


def outline(tree: Tree | Shelf, layout: Layout, key: str) -> Recipe:
    """One recipe without what only a matrix tells: of a guest's no points and no settings. An edit and a scan need no more, and
    are made where the guest's other files are not at hand. Refusal for an unknown key; BadInput (file, line, key)."""
    shelf = Shelf.of(tree)
    home, found = shelf.home(layout, key), sites(shelf, layout, key)
    facts = {name: home.text(path) or "" for name, path in home.entry.facts.items()}
    mine = _own(shelf, home.file) if layout.generator == "own" else None
    return Recipe(key=key, file=home.file, image=found.image, sites=tuple(place.site for place in found.places),
                  model=facts.get("model", ""), hardware=_label(home).removeprefix("cluster:").split("-")[0],
                  framework=facts.get("framework", ""), precision=facts.get("precision", ""), prefix=facts.get("prefix", ""),
                  points=own.points(mine) if mine else (), linked=found.linked,
                  settings=settings.of_own(mine, layouts.wanted(layout, mine.name, mine.policy)) if mine else {},
                  failed_requests=mine.gates.failed_requests if mine else None,
                  notes=tuple(remark.text for remark in found.remarks))


def read(tree: Tree | Shelf, layout: Layout, key: str) -> Recipe:
    """One recipe with its points. Refusal for an unknown key; BadInput (file, line, key) for what cannot be read."""
    shelf = Shelf.of(tree)
    found = outline(shelf, layout, key)
    if layout.generator != "inferencex":
        return found
    documents = [document for path in found.linked if (document := shelf.document(path))]
    made = matrix.generated(shelf, layout, shelf.home(layout, key))
    return replace(found, points=matrix.points(shelf, layout, key), settings=settings.of_rows(made, documents, layout))


def family(tree: Tree | Shelf, layout: Layout, key: str) -> tuple[str, ...]:
    """The recipes that move with one, itself included, in file order. Refusal for an unknown key."""
    shelf = Shelf.of(tree)
    home = shelf.home(layout, key)
    image = which.image(home, layout.allow)
    return layouts.family(layout, key, shelf.homes(layout),
                          lambda other: spelling.same(which.image(shelf.home(layout, other), layout.allow), image))


def fleet(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> Hardware:
    """What the layout knows of the machines that a recipe runs on."""
    runner = recipe.points[0].runner if recipe.points else _label(Shelf.of(tree).home(layout, recipe.key))
    return layouts.hardware(layout, runner)


def policy(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> Policy:
    """What the recipe's image may become: as its own file and the layout say, on the hardware that it runs on."""
    machines = fleet(tree, layout, recipe)
    rules = policies.policy(_wanted(tree, layout, recipe), allow=layout.allow, platform=machines.platform,
                            pin=machines.digests == "proven")
    return contains.own(rules, _source(layout, recipe))


def changes(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> tuple[Change, ...]:
    """Every change that the recipe's policy asks for or forbids, also those of parts that are pinned beside the engine."""
    rules = policies.policy(_wanted(tree, layout, recipe), allow=layout.allow, platform=None, pin=False)
    return wanted(rules.must_have, rules.must_not_have, _source(layout, recipe), why="policy")


def _source(layout: Layout, recipe: Recipe) -> str | None:
    """What the engine's repository is called, by the recipe's image."""
    try:
        return layouts.repository_of(layout, reference.parse(recipe.image).name)
    except BadInput:
        return None


def control(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> bool:
    """Whether the recipe's policy asks for a run of the old image beside the sweep. BadInput where the layout has nothing to
    dispatch for it: a file of the layout is refused when it is loaded, a recipe's own only here."""
    wanted = _wanted(tree, layout, recipe)
    if lacks := layouts.lacking(layout, wanted):
        raise BadInput(*lacks, file=recipe.file, key="policy.control-arm")
    return wanted.control_arm == "same-day"


def _wanted(tree: Tree | Shelf, layout: Layout, recipe: Recipe) -> Wanted:
    own_words = _own(Shelf.of(tree), recipe.file).policy if layout.generator == "own" else None
    return layouts.wanted(layout, recipe.key, own_words)


def _label(home: Home) -> str:
    """The runner's label as the recipe's own text has it (`cluster:b200-dgxc`)."""
    path = home.entry.facts.get("hardware")
    return (home.text(path) or "") if path else ""


def _own(shelf: Shelf, file: str) -> own.OwnRecipe:
    return own.load(shelf.read(file) or b"", file)
