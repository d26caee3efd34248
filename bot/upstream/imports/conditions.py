"""Conditions around an import: kept as small lists by the survey, judged later, when it is known what runs and where.

    ["typing"]  ["main"]  ["true"]  ["false"]  ["version"]  ["?"]  ["flag", name]  ["spec", module]  ["system", name]
    ["is", name, value]  ["not", c]  ["and", c...]  ["or", c...]

A judgement is True, False or None: what only running the program would show is not known.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

Condition = list[Any]
UNKNOWN: Condition = ["?"]
DEPTH = 40
_SYSTEM = "linux"
_MINORS = range(9, 16)
"""Of Python 3. Nothing that is looked at runs on an older one."""
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq,
    ast.NotEq: operator.ne}
# Words in the name of a flag or function that asks what the machine is: `_is_cuda`, `is_hip()`, `current_platform.is_rocm()`.
_PLATFORMS: dict[str, str] = {
    "is_cuda": "cuda", "is_cuda_alike": "gpu", "is_hip": "rocm", "is_rocm": "rocm", "is_npu": "npu", "is_xpu": "xpu",
    "is_hpu": "hpu", "is_cpu": "cpu", "is_musa": "musa", "is_tpu": "tpu", "is_mps": "mps", "is_neuron": "neuron",
    "is_mlx": "mlx", "use_mlx": "mlx",
}


def read(node: ast.expr, depth: int = 0) -> Condition:
    """A test as it is kept."""
    if depth > DEPTH:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        return ["true"] if node.value else ["false"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ["not", read(node.operand, depth + 1)]
    if isinstance(node, ast.BoolOp):
        return ["and" if isinstance(node.op, ast.And) else "or", *(read(value, depth + 1) for value in node.values)]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node, depth)
    if isinstance(node, ast.Call):
        return _called(node)
    name = dotted(node)
    if name.rpartition(".")[2] == "TYPE_CHECKING":
        return ["typing"]
    return ["flag", name] if name else UNKNOWN


def _compared(node: ast.Compare, depth: int) -> Condition:
    left, order, right = node.left, node.ops[0], node.comparators[0]
    if (told := _python(left, order, right)) is not None:
        return ["true" if told else "false"]
    if any("version" in _word(part) for side in (left, right) for part in ast.walk(side)):
        return ["version"]
    equal, different = isinstance(order, (ast.Eq, ast.Is)), isinstance(order, (ast.NotEq, ast.IsNot))
    if not equal and not different:
        return UNKNOWN
    found = UNKNOWN
    names = {dotted(left), dotted(right)}
    words = [side.value for side in (left, right) if isinstance(side, ast.Constant)]
    if "__name__" in names and words == ["__main__"]:
        found = ["main"]
    elif names & {"sys.platform", "_sys.platform"} and words and isinstance(words[0], str):
        found = ["system", words[0]]
    elif words == [None] and isinstance(left, ast.Call):  # find_spec(...) is not None
        found = ["not", read(left, depth + 1)]
    elif words in ([True], [False]):
        inner = read(left, depth + 1)
        found = inner if words == [True] else ["not", inner]
    elif len(words) == 1 and isinstance(words[0], (str, int)) and (name := dotted(left) or dotted(right)):
        found = ["is", name, str(words[0])]
    return found if equal or found == UNKNOWN else ["not", found]


def _python(left: ast.expr, order: ast.cmpop, right: ast.expr) -> bool | None:
    """What a test of Python's own version says in every Python in which these packages run; None where that differs."""
    compare = _ORDERS.get(type(order))
    piece = left.slice if isinstance(left, ast.Subscript) else None
    name = dotted(left.value if isinstance(left, ast.Subscript) else left)
    asked = [one.value if isinstance(one, ast.Constant) else None for one in right.elts] if isinstance(right, ast.Tuple) else \
        right.value if isinstance(right, ast.Constant) else None
    if compare is None or name not in ("sys.version_info", "sys.version_info.major"):
        return None
    if name.endswith("major") or (isinstance(piece, ast.Constant) and piece.value == 0):
        return bool(compare(3, asked)) if isinstance(asked, int) else None
    if not isinstance(asked, list) or not all(isinstance(one, int) for one in asked):
        return None
    if piece is not None and not isinstance(piece, ast.Slice):
        return None
    width = len(asked) if piece else 3
    told = {bool(compare((3, minor, 5)[:width], tuple(asked))) for minor in _MINORS}
    return told.pop() if len(told) == 1 else None


def _called(node: ast.Call) -> Condition:
    name = dotted(node.func)
    first = node.args[0] if node.args else None
    if name.rpartition(".")[2] == "find_spec" and isinstance(first, ast.Constant) and isinstance(first.value, str):
        return ["spec", first.value]
    if name == "bool" and first is not None:
        return read(first)
    return ["flag", f"{name}()"] if name and not node.args else UNKNOWN


def dotted(node: ast.AST) -> str:
    """`a.b.c`, or nothing for what is no such name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class World(Struct, frozen=True, kw_only=True):
    """What is taken for granted when conditions are judged. `platform` is what the GPUs are (cuda, rocm), None: not known;
    `has` tells whether a module is there, None where it is no module of the provider."""

    main: bool = False
    typing: bool = False
    platform: str | None = None
    has: Callable[[str], bool | None] = lambda module: None


def judge(condition: Condition, world: World, flags: Mapping[str, Condition], depth: int = 0) -> bool | None:
    """Whether it holds. `flags` are the file's own module-level names, each assigned once, with what they stand for."""
    kind, rest = condition[0], condition[1:]
    if depth > DEPTH:
        return None
    if kind in ("and", "or"):
        told = [judge(one, world, flags, depth + 1) for one in rest]
        decisive = kind == "or"
        return decisive if decisive in told else None if None in told else not decisive
    if kind == "not":
        told = judge(rest[0], world, flags, depth + 1)
        return None if told is None else not told
    if kind == "flag":
        platform = _platform(rest[0], world.platform)
        if platform is None and rest[0] in flags:
            return judge(flags[rest[0]], world, {name: one for name, one in flags.items() if name != rest[0]}, depth + 1)
        return platform
    if kind == "spec":
        return world.has(rest[0])
    return {"typing": world.typing, "main": world.main, "true": True, "false": False}.get(
        kind, rest[0].startswith(_SYSTEM) if kind == "system" else None)


def hedges(condition: Condition) -> bool:
    """Whether it asks what the provider is: its version, or whether something is there."""
    if condition[0] == "flag":
        word = condition[1].rpartition(".")[2].lower()
        return any(part in word for part in ("has_", "_has", "avail", "version", "support", "installed"))
    return condition[0] in ("version", "spec") or any(isinstance(one, list) and hedges(one) for one in condition[1:])


def _word(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", None) or "").lower()


def settings(condition: Condition) -> tuple[str, ...]:
    """The settings without which it does not hold, as `config.chat_processor=vllm`."""
    if condition[0] == "is":
        return (f"{condition[1]}={condition[2]}",)
    return tuple(one for inner in condition[1:] for one in settings(inner)) if condition[0] == "and" else ()


def _platform(name: str, platform: str | None) -> bool | None:
    """What a flag of that name says on a machine with these GPUs."""
    word = name.removesuffix("()").rpartition(".")[2].lstrip("_").lower()
    if platform is None or (word not in _PLATFORMS and name != "torch.cuda.is_available()"):
        return None
    asked = _PLATFORMS.get(word, "gpu")
    return asked == platform or (asked == "gpu" and platform in ("cuda", "rocm"))
