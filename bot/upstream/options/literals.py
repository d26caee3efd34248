"""Values that stand in source text: literals, names of other values, and what nobody can read from there."""

from __future__ import annotations

import ast
from typing import Any

from bot.upstream.options.expressions import dotted

_PLATFORMS = {"is_cuda": "cuda", "is_hip": "rocm", "is_rocm": "rocm"}
MAX_TEXT = 400
MAX_ITEMS = 400


def value(node: ast.AST | None) -> dict[str, Any]:
    """`{"is": v}` for a literal, `{"of": "Class.field"}` for the name of another value, `{}` for what is only made at run time.
    `field(default=...)`, `Field(...)` and `get_field(Class, "name")` are seen through."""
    if node is None:
        return {}
    if isinstance(node, ast.Constant):
        return {"is": node.value} if isinstance(node.value, (str, int, float, bool, type(None))) else {}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = value(node.operand).get("is")
        return {"is": -inner} if isinstance(inner, (int, float)) else {}
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _items(node)
    if isinstance(node, ast.Dict) and not node.keys:
        return {"is": {}}
    if isinstance(node, (ast.Name, ast.Attribute)):
        return {"of": name} if (name := dotted(node)) else {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = value(node.left), value(node.right)
        if isinstance(left.get("is"), str) and isinstance(right.get("is"), str):
            return {"is": left["is"] + right["is"]}
    return _made(node) if isinstance(node, ast.Call) else {}


def by_platform(node: ast.AST | None) -> dict[str, Any]:
    """`A if is_cuda() else B` as `{"cuda": ..., "rocm": ...}`; anything else is one value for all."""
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Call):
        name = dotted(node.test.func).rsplit(".", 1)[-1]
        if name in _PLATFORMS:
            here, there = value(node.body), value(node.orelse)
            return {"cuda": here, "rocm": there} if _PLATFORMS[name] == "cuda" else {"cuda": there, "rocm": here}
    return value(node)


def text(node: ast.AST | None) -> str:
    """The fixed words of a message or help: what is filled in at run time stands as `...`."""
    if isinstance(node, ast.Constant):
        return str(node.value)[:MAX_TEXT] if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)[:MAX_TEXT]
    if isinstance(node, ast.BinOp):
        return (text(node.left) + text(node.right))[:MAX_TEXT]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "strip", "join"):
        return text(node.func.value)
    return ""


def choices(node: ast.AST | None) -> list[Any] | dict[str, Any] | None:
    """The values that an option takes: a list where they stand there, the name of one, or None."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and dotted(node.func) in ("list", "sorted", "tuple", "set"):
        return choices(node.args[0])
    found = value(node)
    if isinstance(found.get("is"), list):
        return found["is"]
    return {"of": found["of"]} if "of" in found else None


def _items(node: ast.List | ast.Tuple | ast.Set) -> dict[str, Any]:
    inner = [value(one) for one in node.elts[:MAX_ITEMS]]
    if all("is" in one for one in inner):
        return {"is": [one["is"] for one in inner]}
    return {}


def _made(node: ast.Call) -> dict[str, Any]:
    name = dotted(node.func).rsplit(".", 1)[-1]
    given = {word.arg: word.value for word in node.keywords}
    if name in ("field", "Field", "FieldInfo", "LlmField", "config_field"):
        if "default" in given:
            return value(given["default"])
        if isinstance(made := given.get("default_factory"), ast.Lambda) and isinstance(made.body, ast.Call):
            laid = {word.arg: value(word.value) for word in made.body.keywords if word.arg}
            return {"make": dotted(made.body.func), "with": laid}
        factory = dotted(given.get("default_factory"))
        if factory in ("list", "dict", "set", "tuple"):
            return {"is": {} if factory == "dict" else []}
        first = node.args[0] if node.args else None
        return value(first) if first is not None and not (isinstance(first, ast.Constant) and first.value is ...) else {}
    if not node.args and not node.keywords and "default" in name:
        return {"asks": dotted(node.func)}
    if name == "get_field" and len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
        return {"of": f"{dotted(node.args[0])}.{node.args[1].value}"}
    return {}
