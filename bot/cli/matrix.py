"""The command `matrix`: what a sweep, a smoke, or a chosen part of them runs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot import strict
from bot.adapters.assets import PackagedAssets
from bot.adapters.process import LocalProcess
from bot.adapters.tree import LocalCommit
from bot.bench import command
from bot.cli.jobs import jobs_of
from bot.cli.layouts import is_repository, layout_of, tree_of
from bot.cli.output import as_json, note, table
from bot.cli.place import Place
from bot.errors import BadArguments, BadInput, Refusal, Unreachable
from bot.layout import Layout, Smoke
from bot.model.bench import Order
from bot.model.recipe import Point
from bot.recipe import matrix as matrices
from bot.recipe.changed import changed as compare
from bot.recipe.shelf import Shelf
from bot.strict.words import key_of

HEADS = ("stage", "kind", "conc", "topology", "workload", "eval")


def matrix(place: Place, recipes: Sequence[str], *, smoke: bool, changed: str | None, points: Sequence[str] | None,
           eval_limit: int | None, jobs: bool, format_: str) -> None:
    """Every point and eval of the recipes' sweep, or what changed of it, or what their smoke runs of it, or the points named."""
    if not recipes and changed is None:
        raise BadArguments("no recipe is named", "name one, or ask for what changed: --changed BASE")
    layout, tree = layout_of(place, PackagedAssets()), Shelf(tree_of(place))
    keys = list(dict.fromkeys(recipes))
    for key in keys:
        tree.home(layout, key)
    if layout.generator == "none":
        raise Refusal(f"the points of {', '.join(keys) or 'its recipes'} are not known: the layout names no generator",
                      "set `generator` in the layout, or use a preset that has one")
    found = whole(tree, layout, keys) if changed is None else _changed(place, changed, tree, layout, keys)
    keys = keys or list(dict.fromkeys(point.recipe for point in found))
    rules = layout.smoke or Smoke()
    if smoke:
        found = matrices.smoke(found, sample=rules.eval_sample, shuffled=rules.eval_shuffled, stages=rules.stages)
    if points:
        found = only(found, points)
    if eval_limit is not None:
        found = tuple(limited(point, eval_limit, rules.eval_shuffled) for point in found)
    orders = startable(tree, layout, found)
    if jobs:
        as_json(msgspec.to_builtins(jobs_of(orders, complete(tree, layout, found))))
    elif format_ == "json":
        as_json(msgspec.to_builtins(orders))
    elif found or changed is None:
        _draw(found, keys, format_)


def whole(tree: Shelf, layout: Layout, keys: Sequence[str]) -> tuple[Point, ...]:
    """The sweep of these recipes. BadInput for one without a point: a run of nothing is green."""
    found = matrices.together(tree, layout, keys)
    for key in keys:
        if not any(point.recipe == key for point in found):
            home = tree.home(layout, key)
            raise BadInput("no point comes of it", "compare it with its neighbours", file=home.file, line=home.line, key=key)
    return found


def startable(tree: Shelf, layout: Layout, found: Sequence[Point]) -> tuple[Point, ...]:
    """These points as a runner takes them. BadInput names file, line and key of an argument or variable that `bench` would refuse
    there: that is known before a machine is asked for."""
    orders = matrices.orders(tree, layout, found)
    for order in {order.recipe: order for order in orders if isinstance(order, Order)}.values():
        try:
            command.arguments(order)
            command.environment(order, contained=True)
        except command.Unfit as error:
            file = tree.home(layout, order.recipe).file
            _, lines = strict.parse(tree.read(file) or b"", file=file)
            raise BadInput(error.reason, error.hint, file=file, line=lines.get(error.place), key=key_of(error.place)) from None
    return orders


def complete(tree: Shelf, layout: Layout, found: Sequence[Point]) -> frozenset[str]:
    """The recipes of which every point and eval is among these, as the recipe has it."""
    keys = tuple(dict.fromkeys(point.recipe for point in found))
    lacking = {point.recipe for point in matrices.together(tree, layout, keys) if point not in found}
    return frozenset(keys) - lacking


def _changed(place: Place, base: str, tree: Shelf, layout: Layout, keys: Sequence[str]) -> tuple[Point, ...]:
    """The points that run otherwise than at `base`, a revision of the repository. A file that nobody can read is no recipe that
    is gone: it is refused, unless others are asked for."""
    if not is_repository(place.repo):
        raise BadArguments(f"{place.repo} is not the top folder of a git repository", "name a clone's with --repo")
    try:
        then = LocalCommit.of(LocalProcess(), place.repo, base)
    except Unreachable:  # words of git's own that name nothing here: @{u} without an upstream
        then = None
    for fault in tree.faults(layout) if not keys else ():
        raise fault
    if then is None:
        raise BadArguments(f"{base} is no commit of {place.repo}", "name a branch, tag or commit that was fetched")
    found = compare(then, tree, layout, keys)
    for line in found.unread:
        note(f"note: {line}")
    for key in found.gone:
        note(f"note: {key} is gone since {base}")
    if not found.points:
        note(f"nothing that runs changed since {base}")
    return found.points


def only(found: Sequence[Point], ids: Sequence[str]) -> tuple[Point, ...]:
    """The points of these ids, in the matrix's own order; BadInput names an id that is none of them."""
    known = {point.id: point for point in found}
    for name in ids:
        if name not in known:
            raise BadInput(f"no point {name}", _instead(name, list(known)))
    return tuple(point for name, point in known.items() if name in ids)


def _instead(name: str, known: Sequence[str]) -> str:
    """What was meant: a recipe that was changed since keeps its points' names but for the hash in the middle."""
    recipe, _, rest = name.partition("/")
    cell = rest.partition("/")[2]
    near = [one for one in known if one.startswith(f"{recipe}/") and one.split("/", 2)[-1] == cell]
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known[:3])}{', ...' if len(known) > 3 else ''}"


def limited(point: Point, limit: int, shuffled: bool) -> Point:
    """The point with at most so many questions, where it asks any."""
    if point.eval is None:
        return point
    return msgspec.structs.replace(point, eval=matrices.limited(point.eval, limit, shuffled=shuffled))


def _draw(found: Sequence[Point], keys: Sequence[str], format_: str) -> None:
    several = len(keys) > 1
    machines = sorted({f"{point.gpus} x {point.hardware}" for point in found})
    count = f"{len(found)} {'point' if len(found) == 1 else 'points'}"
    title = ", ".join([f"{', '.join(keys)}: {count}", *machines])
    rows = [(*((point.recipe,) if several else ()), *_row(point)) for point in found]
    table(format_, ("recipe", *HEADS) if several else HEADS, rows, right=("conc",), title=title)


def _row(point: Point) -> tuple[object, ...]:
    gate = point.eval
    limit = f", {gate.limit} {'shuffled ' if gate.shuffled else ''}questions" if gate and gate.limit else ""
    return (point.stage, point.kind, point.concurrency, point.topology, point.workload,
            f"{gate.task} >= {gate.threshold:g}{limit}" if gate else None)
