"""What to measure and on what: POINT.json and the machine file, read strictly before anything is started.

A point comes from a pull request's recipe: it is data, and each word of it that becomes part of a name, a path or a command
line is looked at here once. Keys that a newer `matrix` adds are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from bot import strict
from bot.bench import mounts
from bot.errors import BadInput, Refusal
from bot.model import worded
from bot.model.bench import Machine, Order, Trace, trace_faults
from bot.strict.words import key_of

PICK = "give one: bumpbot matrix RECIPE --points ID --format json > point.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,119}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@#+-]{0,499}")
_ARGUMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST = 1_000_000
"""Requests in flight; more is a slip of the finger. What a number of requests may be is the same a thousand times over."""


GPUS = 4096
"""Of one server; more is no machine, and what is told per GPU would be nothing."""


def read_order(data: bytes, file: str) -> Order:
    """The one point of a POINT.json: an element of `matrix --format json`, alone or in a list of its own. BadInput names file
    and key of what does not hold, Refusal a guest's point."""
    whole = strict.json_value(_text(data, file), file=file)
    if isinstance(whole, list):
        whole = _only(whole, file)
    if not isinstance(whole, dict):
        raise BadInput("no point: an object is expected", PICK, file=file)
    if "engine" not in whole and "model" not in whole and {"id", "recipe", "kind"} <= whole.keys():
        raise Refusal(f"{file}: a guest's point: its matrix does not say how its server is started",
                      "points of recipes in recipes/ are measured here; a guest's are measured by its own workflows")
    for key in _unspoken(whole, ""):
        raise BadInput("text that is no Unicode: half of a pair", "take the point as `bumpbot matrix` prints it", file=file,
                       key=key)
    order = strict.convert(Order, _traced(whole), file=file)
    for key, reason, hint in trace_faults(order.load.trace) if order.load and order.load.trace else ():
        raise BadInput(reason, hint, file=file, key=f"load.trace.{key}")
    for key, reason, hint in worded.faults(order):
        raise BadInput(reason, hint, file=file, key=key)
    for key, wrong, reason, hint in _FAULTS:
        if wrong(order):
            raise BadInput(reason, hint, file=file, key=key)
    return order


def read_machine(data: bytes, file: str) -> Machine:
    """A machine file (YAML); an empty one, or one of comments, says nothing and is good. BadInput names line and key of what does
    not hold, also of a variable that no program can be given and of a mount that no container can have."""
    value, lines = strict.parse(data, file=file)
    machine = Machine() if value is None else strict.as_record(Machine, value, lines, file)
    for place, reason, hint in _unfit(machine):
        line = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
        raise BadInput(reason, hint, file=file, line=line, key=key_of(place))
    # A server that is a command needs no launcher named.
    return replace(machine, launcher="process") if machine.server and "launcher" not in value else machine


def _unfit(machine: Machine) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """What types cannot say of a machine: where, what is wrong, what to do."""
    for name, told in machine.env.items():
        if _VARIABLE.fullmatch(name) is None:
            yield ("env", name), "a name that no variable has", "letters, digits and `_`"
        if "\0" in told:
            yield ("env", name), "a value with a byte 0, which no variable can hold", "write text"
    for at, reason, hint in mounts.faults(machine.mounts):
        yield ("mounts", at), reason, hint


def _only(points: list[Any], file: str) -> Any:
    if len(points) == 1:
        return points[0]
    if not points:
        raise BadInput("an empty list: no point in it", PICK, file=file)
    ids = [str(point["id"]) for point in points if isinstance(point, dict) and isinstance(point.get("id"), str)]
    first = f", ID for instance {ids[0]}" if ids and _TASK.fullmatch(ids[0]) else ""
    raise BadInput(f"{len(points)} points, and one is measured at a time", f"{PICK}{first}", file=file)


def _unspoken(value: Any, key: str) -> Iterator[str]:
    """Keys of text that JSON can write and nobody can: it would end in a file name, a log, a header."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _unspoken(str(name), f"{key}.?".lstrip("."))
            yield from _unspoken(inner, f"{key}.{name.encode('ascii', 'replace').decode()}".lstrip("."))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _unspoken(inner, f"{key}.{at}")
    elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        yield key


def _traced(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The point without what a trace has beside its known keys: a recipe's trace is read strictly, and its record with it."""
    load = whole.get("load")
    trace = load.get("trace") if isinstance(load, dict) else None
    if not isinstance(trace, dict):
        return dict(whole)
    known = {name: value for name, value in trace.items() if name in Trace.__struct_fields__}
    return {**whole, "load": {**load, "trace": known}}


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None


def _no(pattern: re.Pattern[str], pick: Callable[[Order], str]) -> Callable[[Order], bool]:
    return lambda order: pattern.fullmatch(pick(order)) is None


def _counts(order: Order) -> bool:
    load = order.load
    return load is not None and not (
        1 <= load.requests <= MOST * 1000 and 1 <= load.repeats <= 1000 and 0 <= load.warmup <= MOST * 1000
        and all(size is None or 1 <= size <= MOST * 1000 for size in (load.input, load.output)))


def _task(order: Order) -> str:
    return order.eval.task if order.eval else "none"


_FAULTS: tuple[tuple[str, Callable[[Order], bool], str, str], ...] = (
    ("image", lambda order: not order.image, "no image", "the recipe names it: image: registry/repo:tag@sha256:..."),
    ("image", _no(_IMAGE, lambda order: order.image), "no reference of an image", "write registry/repo:tag@sha256:..."),
    ("recipe", _no(_NAME, lambda order: order.recipe), "no name of a recipe", "letters, digits, `.`, `_` and `-`"),
    ("model", _no(_MODEL, lambda order: order.model), "no name of a model", "as in organisation/model"),
    ("concurrency", lambda order: not 1 <= order.concurrency <= MOST, "no concurrency", f"from 1 to {MOST}"),
    ("gpus", lambda order: not 1 <= order.gpus <= GPUS, "no number of GPUs", f"a whole number from 1 to {GPUS}"),
    ("eval", lambda order: (order.kind == "eval") != (order.eval is not None),
     "an eval has its task here, and throughput has null", "take the point as `bumpbot matrix` prints it"),
    ("load", lambda order: (order.kind == "throughput") != (order.load is not None),
     "throughput has its load here, and an eval has null", "take the point as `bumpbot matrix` prints it"),
    ("metric", lambda order: bool(order.metric) and order.kind != "eval", "a metric of an eval, and throughput has none",
     "take the point as `bumpbot matrix` prints it"),
    ("load", _counts, "numbers that no load has", "requests, repeats and lengths count from 1, warmup from 0"),
    ("eval.task", _no(_TASK, _task), "no name of a task", "as in gsm8k"),
    ("eval.threshold", lambda order: order.eval is not None and not 0 <= order.eval.threshold <= 1, "no share", "from 0 to 1"),
    ("eval.limit", lambda order: order.eval is not None and order.eval.limit is not None and order.eval.limit < 1,
     "no number of questions", "a whole number from 1, or null"),
    ("gates.failed_requests", lambda order: not 0 <= order.gates.failed_requests <= 1, "no share", "from 0 to 1"),
    ("args", lambda order: any(_ARGUMENT.fullmatch(name) is None for name in order.args), "a name that no argument has",
     "without the dashes before it, as in tensor-parallel-size"),
    ("env", lambda order: any(_VARIABLE.fullmatch(name) is None for name in order.env), "a name that no variable has",
     "letters, digits and `_`"),
)
