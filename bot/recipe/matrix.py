"""The points of a recipe: every throughput cell and every gating eval, each with an identity that outlives its image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bot.errors import BadInput
from bot.layout.ask import hardware
from bot.layout.records import Layout
from bot.model.recipe import EvalSpec, Point
from bot.ports import Tree
from bot.recipe import evals, own, rows, words
from bot.recipe.files.document import value
from bot.recipe.shelf import Home, Shelf

_POINT_FIELDS = ("conc", "exp-name", "recipe-fingerprint")


def points(tree: Tree | Shelf, layout: Layout, key: str) -> tuple[Point, ...]:
    """Every point of a full sweep of one recipe: throughput first, then evals, in the generator's order.

    Empty for layouts without a generator. BadInput names file and key of an entry from which no row can be made.
    """
    return together(tree, layout, [key])


def together(tree: Tree | Shelf, layout: Layout, keys: Sequence[str]) -> tuple[Point, ...]:
    """The points of recipes that share one changelog entry: a guest picks the evals of an entry over all its recipes."""
    shelf = Shelf.of(tree)
    homes = [shelf.home(layout, key) for key in dict.fromkeys(keys)]
    if layout.generator == "own":
        return tuple(point for home in homes for point in own.points(own.load(shelf.read(home.file) or b"", home.file)))
    if layout.generator == "none":
        return ()
    made = [(home.key, row) for home in homes for row in generated(shelf, layout, home)]
    gates = [(*made[at], conc) for at, conc in evals.chosen([row for _, row in made], layout.evals.at_least)]
    return _points(shelf, layout, made, gates)


def orders(tree: Tree | Shelf, layout: Layout, found: Sequence[Point]) -> tuple[Point, ...]:
    """These points with what a runner needs to measure them (`Order`), in their order. A guest's stay as they are: its own
    workflows measure it."""
    if layout.generator != "own":
        return tuple(found)
    shelf = Shelf.of(tree)
    homes = {key: shelf.home(layout, key).file for key in dict.fromkeys(point.recipe for point in found)}
    recipes = {key: own.load(shelf.read(file) or b"", file) for key, file in homes.items()}
    return tuple(order for point in found for order in own.orders(recipes[point.recipe], (point,)))


def of_rows(tree: Tree | Shelf, layout: Layout, made: Mapping[str, Sequence[rows.Row]],
            gated: Sequence[rows.Row]) -> tuple[Point, ...]:
    """The points of rows that a guest's generator printed: those of each recipe, and the evals of all of them, each of which
    belongs to the recipe that has its row."""
    owners: dict[str, tuple[str, rows.Row]] = {}
    for key, listed in made.items():
        for row in listed:
            owners.setdefault(evals.deployment(row), (key, row))
    gates = [(*owners[name], conc) for row in gated if (name := evals.deployment(row)) in owners for conc in evals.measured(row)]
    return _points(Shelf.of(tree), layout, [(key, row) for key, listed in made.items() for row in listed], gates)


def _points(shelf: Shelf, layout: Layout, made: Sequence[tuple[str, rows.Row]],
            gates: Sequence[tuple[str, rows.Row, int]]) -> tuple[Point, ...]:
    table = shelf.plain(layout.evals.thresholds) if layout.evals.thresholds else None
    runs = [_point(key, row, conc, layout, None) for key, row in made for conc in rows.concurrencies(row)]
    return _distinct([*runs, *(_point(key, row, conc, layout, _gate(row, table, layout)) for key, row, conc in gates)])


def generated(tree: Tree | Shelf, layout: Layout, home: Home) -> list[rows.Row]:
    """The rows of one InferenceX recipe, without evals."""
    shelf = Shelf.of(tree)
    entry = value(home.hit.node)
    place = words.runners(shelf, layout)
    machines = ((shelf.plain(place) if place else None) or {}).get("hardware") or {}
    try:
        return rows.rows(entry, machines)
    except (KeyError, TypeError, AttributeError) as error:
        what = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
        raise BadInput(f"no matrix can be made: {what}", "compare it with its neighbours", file=home.file,
                       line=home.document.line(home.hit.node.start_mark.index), key=home.key) from None
    except BadInput as error:
        raise BadInput(error.reason, error.hint, file=home.file, key=home.key) from None


def fingerprint(row: Mapping[str, Any]) -> str:
    """SHA-256 of a generated row without concurrency, name and fingerprint (CONTRACT 4.5). It covers the image."""
    return _hash({name: part for name, part in row.items() if name not in _POINT_FIELDS})


def identity(row: Mapping[str, Any]) -> str:
    """As the fingerprint, without the image: equal before and after a bump that changes nothing else."""
    return _hash({name: part for name, part in row.items() if name not in (*_POINT_FIELDS, "image")})


def topology(row: Mapping[str, Any]) -> str:
    """`TP16/DCP16`; two roles as `1P(TP8/EP8/DPA) x 4D(TP4)`."""
    if "prefill" not in row:
        return _parallel(row)
    workers = {role: row[side] for role, side in (("P", "prefill"), ("D", "decode")) if row[side]["num-worker"]}
    if list(workers) == ["P"] and workers["P"]["num-worker"] == 1:
        return _parallel(workers["P"])
    return " x ".join(f"{worker['num-worker']}{role}({_parallel(worker)})" for role, worker in workers.items())


def smoke(found: Sequence[Point], *, sample: int, shuffled: bool = False,
          stages: Sequence[str] = ("evals", "lowest", "highest")) -> tuple[Point, ...]:
    """trim(sweep): a sample of every gating eval, the lowest concurrency of each topology, the highest, as staged.

    A green smoke on another eval than the sweep's proves nothing about the gate: the seed's ended so, after a sweep of
    about 120 GPU-hours. A point that two stages want runs in the first of them.
    """
    picked: dict[str, Point] = {}
    for number, stage in enumerate(stages, start=1):
        for point in _STAGES[stage](found):
            cut = stage == "evals"
            spec = limited(point.eval, sample, shuffled=shuffled) if point.eval and cut else point.eval
            picked.setdefault(point.id, msgspec.structs.replace(point, stage=number, eval=spec))
    return tuple(picked.values())


def limited(spec: EvalSpec, most: int, *, shuffled: bool) -> EvalSpec:
    """The eval with at most so many questions; one that asks fewer stays as it is."""
    if spec.limit is not None and spec.limit <= most:
        return spec
    return msgspec.structs.replace(spec, limit=most, shuffled=shuffled)


def _evals(found: Sequence[Point]) -> list[Point]:
    firsts = {(point.recipe, point.eval.task, point.topology): point for point in reversed(found) if point.eval}
    return [point for point in found if point in firsts.values()]


def _lowest(found: Sequence[Point]) -> list[Point]:
    return _ends(found, sign=1)


def _highest(found: Sequence[Point]) -> list[Point]:
    return _ends(found, sign=-1)


def _ends(found: Sequence[Point], *, sign: int) -> list[Point]:
    curves: dict[tuple[str, str, str], list[Point]] = {}
    for point in found:
        if point.kind == "throughput":
            curves.setdefault((point.recipe, point.topology, point.workload), []).append(point)
    return [min(curve, key=lambda point: sign * point.concurrency) for curve in curves.values()]


def _trim(found: Sequence[Point]) -> list[Point]:
    """The lowest concurrency of each recipe and one eval beside it, as a guest trims its own sweep."""
    lowest: dict[tuple[str, str], Point] = {}
    for point in sorted(found, key=lambda point: point.concurrency):
        lowest.setdefault((point.recipe, point.kind), point)
    return [point for point in found if point in lowest.values()]


_STAGES = {"evals": _evals, "lowest": _lowest, "highest": _highest, "trim": _trim}


def _gate(row: rows.Row, table: Mapping[str, Any] | None, layout: Layout) -> EvalSpec:
    task = evals.task_of(row, layout.evals)
    return EvalSpec(task=task, framework=str(row.get("eval-framework") or ""),
                    threshold=evals.threshold(task, row["model-prefix"], table, layout.evals.otherwise))


def _point(key: str, row: rows.Row, conc: int, layout: Layout, gate: EvalSpec | None) -> Point:
    label = row["runner"]
    name = f"{key}/{identity(row)[:12]}/c{conc}"
    return Point(id=f"{name}/{gate.task}" if gate else name, recipe=key, kind="eval" if gate else "throughput",
                 image=row["image"], hardware=label.removeprefix("cluster:").split("-")[0], gpus=rows.gpus(row),
                 topology=topology(row), workload=rows.workload(row), concurrency=conc, runner=label,
                 fingerprint=fingerprint(row), eval=gate, speculation=row.get("spec-decoding", "none"),
                 offload=row.get("kv-offloading", "none"))


def _distinct(found: Sequence[Point]) -> tuple[Point, ...]:
    """A cell listed twice keeps both, told apart by a number: results of one would else hide the other's absence."""
    seen: dict[str, int] = {}
    made = []
    for point in found:
        seen[point.id] = seen.get(point.id, 0) + 1
        made.append(point if seen[point.id] == 1 else msgspec.structs.replace(point, id=f"{point.id}#{seen[point.id]}"))
    return tuple(made)


def _parallel(worker: Mapping[str, Any]) -> str:
    parts = [f"TP{worker['tp']}"]
    parts += [f"{word}{worker[name]}" for word, name in _WIDTHS if worker.get(name, 1) not in (1, None)]
    return "/".join([*parts, "DPA"] if worker.get("dp-attn") else parts)


_WIDTHS = (("PP", "pp"), ("DCP", "dcp-size"), ("PCP", "pcp-size"), ("EP", "ep"))


def _hash(part: Mapping[str, Any]) -> str:
    text = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def nodes(gpus: int, layout: Layout, runner: str) -> int | None:
    """Machines that many GPUs fill under a runner label; None when the layout does not know the machine."""
    per_node = hardware(layout, runner).gpus_per_node
    return -(-gpus // per_node) if per_node else None
