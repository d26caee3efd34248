"""bumpbot's own recipe files (CONTRACTS 5): a strict record, and the points it stands for."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from bot import strict
from bot.errors import BadInput
from bot.images import reference
from bot.model import policy as policies
from bot.model import worded
from bot.model.bench import Asked, Load, Order, Scalar, Trace, trace_faults
from bot.model.policy import Wanted
from bot.model.recipe import EvalSpec, Point

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Name = Annotated[str, Meta(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ +-]*$")]
# What may stand in a point's id, in a path and in a table of Markdown.
Task = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,119}$")]
Repository = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$")]
Source = Annotated[str, Meta(pattern=r"^(https://[^\s?#@]+)?$")]
Share = Annotated[float, Meta(ge=0, le=1)]
MOST_AT_ONCE = 1_000_000
"""Requests in flight; more is a slip of the finger."""


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Engine(_Record, kw_only=True):
    name: Name
    source: Source = ""


class Model(_Record, kw_only=True):
    repo: Repository
    revision: str = ""
    weights: str = ""
    kv: str = ""


class Machine(_Record, kw_only=True):
    gpu: Name
    gpus: Count
    runner: tuple[str, ...] = ()


class Serve(_Record, kw_only=True):
    args: dict[str, Scalar] = {}
    env: dict[str, Scalar] = {}


class Workload(_Record, kw_only=True):
    """`requests` maps each concurrency to how many requests are measured there, in each of `repeats` and after `warmup` of
    them (None: one wave, as many as are in flight). `trace` are recorded requests in place of made ones."""

    kind: Name
    output: Count | None = None
    input: Count | None = None
    requests: dict[int, Count]
    repeats: Count = 1
    warmup: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    stream: bool = True
    trace: Trace | None = None


class Eval(_Record, kw_only=True):
    """A gate. In flow style YAML ends an unquoted `metric: exact_match,strict-match` at the comma, and the filter arrives
    as a key without a value; people write it so, and it means what it says."""

    task: Task
    threshold: Share
    metric: str = ""
    limit: Count | None = None
    strict_match: None | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="strict-match")
    flexible_extract: None | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="flexible-extract")

    @property
    def filtered(self) -> str:
        """The metric with its filter, as lm-eval names it: `exact_match,strict-match`."""
        split = (("strict-match", self.strict_match), ("flexible-extract", self.flexible_extract))
        return ",".join([self.metric, *(name for name, said in split if said is None)])


class Gates(_Record, kw_only=True):
    """`tools` and `json` (a tool call, an answer that must be JSON): left out, each is asked where the server can."""

    failed_requests: Share = 0.10
    tools: bool | None = None
    json: bool | None = None


class OwnRecipe(_Record, kw_only=True):
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    image: Annotated[str, Meta(min_length=1)]
    engine: Engine
    model: Model
    hardware: Machine
    serve: Serve = Serve()
    workload: Workload
    evals: tuple[Eval, ...] = ()
    gates: Gates = Gates()
    policy: Wanted = Wanted()


def load(data: bytes, file: str) -> OwnRecipe:
    """A recipe file as a record; BadInput names file, line and key of what does not hold."""
    value, lines = strict.parse(data.removeprefix(b"\xef\xbb\xbf"), file=file)
    recipe = strict.as_record(OwnRecipe, value, lines, file)
    for place, reason, hint in _faults(recipe):
        line = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
        raise BadInput(reason, hint, file=file, line=line, key=".".join(map(str, place)))
    return recipe


def _faults(recipe: OwnRecipe) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """What types cannot say: where, what is wrong, what to do."""
    try:
        reference.parse(recipe.image)
    except BadInput as error:
        yield ("image",), error.reason, error.hint
    levels = recipe.workload.requests
    if not levels or not all(1 <= level <= MOST_AT_ONCE for level in levels):
        yield ("workload", "requests"), f"a concurrency is from 1 to {MOST_AT_ONCE}", "write `requests: {1: 8}`"
    said = {name: width for name in _WIDTHS if (width := _width(recipe, name)) is not None and not isinstance(width, bool)}
    for name, width in said.items():
        if not isinstance(width, int) or width < 1:
            yield ("serve", "args"), f"{name} is {width!r}, which is no number of GPUs", "write a whole number from 1"
            return
    if math.prod(said.get(name, 1) for name in ("tp", "pp")) > recipe.hardware.gpus or said.get("ep", 1) > recipe.hardware.gpus:
        yield ("serve", "args"), f"{topology(recipe)} does not fit {recipe.hardware.gpus} GPUs", "correct it, or hardware.gpus"
    tasks = [gate.task for gate in recipe.evals]
    for at, task in enumerate(tasks):
        if task in tasks[:at]:
            yield ("evals", at, "task"), f"{task} gates twice", "keep one: results of both would bear one name"
    for key, reason, hint in trace_faults(recipe.workload.trace) if recipe.workload.trace else ():
        yield ("workload", "trace", key), reason, hint
    for place, reason, hint in policies.faults(recipe.policy):
        yield ("policy", *place), reason, hint
    for order in orders(recipe, points(recipe)):
        for key, reason, hint in worded.faults(order):
            yield _SAID.get(key, (key,)), reason, hint


# Where a recipe says what becomes a word of its orders.
_SAID = {"id": ("evals",), "engine": ("engine", "name"), "revision": ("model", "revision"), "metric": ("evals",),
         "workload": ("workload", "kind"), "hardware": ("hardware", "gpu"), "topology": ("serve", "args"),
         "runner": ("hardware", "runner"), "weights": ("model", "weights"), "kv": ("model", "kv")}


def schema() -> dict[str, Any]:
    """JSON Schema of a recipe file."""
    return msgspec.json.schema(OwnRecipe)


def points(recipe: OwnRecipe) -> tuple[Point, ...]:
    """One throughput point a concurrency; each eval at the highest, where a gate is hardest to pass."""
    levels = sorted(recipe.workload.requests)
    runs = [_point(recipe, conc, None) for conc in levels]
    gates = [_point(recipe, levels[-1], EvalSpec(task=gate.task, threshold=gate.threshold, limit=gate.limit))
             for gate in recipe.evals]
    return (*runs, *gates)


def orders(recipe: OwnRecipe, found: Sequence[Point]) -> tuple[Order, ...]:
    """These points of the recipe (a smoke's have fewer questions), each with what a machine needs to measure it."""
    return tuple(_order(recipe, point) for point in found if point.recipe == recipe.name)


def _order(recipe: OwnRecipe, point: Point) -> Order:
    model, gates = recipe.model, recipe.gates
    metric = next((gate.filtered.strip(",") for gate in recipe.evals if point.eval and gate.task == point.eval.task), "")
    return Order(
        **{name: getattr(point, name) for name in Point.__struct_fields__}, engine=recipe.engine.name.lower(), model=model.repo,
        revision=model.revision, weights=model.weights, kv=model.kv, args=recipe.serve.args, env=recipe.serve.env,
        load=None if point.eval else _load(recipe.workload, point.concurrency), metric=metric,
        gates=Asked(failed_requests=gates.failed_requests, tools=gates.tools, json=gates.json))


def _load(workload: Workload, conc: int) -> Load:
    return Load(input=workload.input, output=workload.output, requests=workload.requests[conc], repeats=workload.repeats,
                warmup=conc if workload.warmup is None else workload.warmup, stream=workload.stream, trace=workload.trace)


def topology(recipe: OwnRecipe) -> str:
    """`TP4/EP4`, from the serving arguments that name a width."""
    widths = {name: width for name in _WIDTHS if (width := _width(recipe, name)) is True or width not in (None, 0, 1)}
    return "/".join(name.upper() if width is True else f"{name.upper()}{width}" for name, width in widths.items()) or "TP1"


def measured(recipe: OwnRecipe, point: Point) -> tuple[object, ...]:
    """What decides a point's result and stands in no identity: requests and repeats; of an eval, the metric it is judged by."""
    if point.eval is not None:
        return tuple(gate.filtered for gate in recipe.evals if gate.task == point.eval.task)
    workload, gates = recipe.workload, recipe.gates
    return (workload.requests[point.concurrency], workload.repeats, workload.warmup, workload.stream, gates.failed_requests,
            gates.tools, gates.json)


# The same width as each engine's command line calls it.
_WIDTHS = {
    "tp": ("tp", "tp-size", "tensor-parallel-size", "tp_size", "tensor_parallel_size"),
    "pp": ("pp", "pp-size", "pipeline-parallel-size", "pp_size", "pipeline_parallel_size"),
    "dp": ("dp", "dp-size", "data-parallel-size", "dp_size", "data_parallel_size"),
    "ep": ("ep", "ep-size", "expert-parallel-size", "enable-expert-parallel", "ep_size", "enable_expert_parallel"),
}


def _width(recipe: OwnRecipe, name: str) -> Scalar:
    return next((recipe.serve.args[word] for word in _WIDTHS[name] if word in recipe.serve.args), None)


def _point(recipe: OwnRecipe, conc: int, gate: EvalSpec | None) -> Point:
    name = f"{recipe.name}/{_hash(recipe, image=False)[:12]}/c{conc}"
    return Point(id=f"{name}/{gate.task}" if gate else name, recipe=recipe.name, kind="eval" if gate else "throughput",
                 image=recipe.image, hardware=recipe.hardware.gpu, gpus=recipe.hardware.gpus, topology=topology(recipe),
                 workload=recipe.workload.kind, concurrency=conc, runner=",".join(recipe.hardware.runner),
                 fingerprint=_hash(recipe, image=True), eval=gate)


def _hash(recipe: OwnRecipe, *, image: bool) -> str:
    """What is run and how, without what is proposed for it (policy) and how many times (requests, repeats)."""
    part = {"engine": recipe.engine, "model": recipe.model, "hardware": recipe.hardware, "serve": recipe.serve,
            "workload": [recipe.workload.kind, recipe.workload.input, recipe.workload.output]}
    if recipe.workload.trace is not None:  # absent in recipes that were measured before it could be said
        part["trace"] = recipe.workload.trace
    plain = msgspec.to_builtins({**part, "image": recipe.image} if image else part)
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
