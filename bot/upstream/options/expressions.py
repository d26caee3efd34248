"""Python expressions as plain lists, so that a child process can hand them over and a judge can weigh them without any code.

`["const", v]`, `["attr", root, name, ...]`, `["not", x]`, `["and", ...]`, `["or", ...]`, `["cmp", op, a, b]`, `["list", ...]`,
`["call", name, on, ...]`, `["math", op, a, b]`, `["item", x, at]`, `["of", x, name, ...]` (attributes of what a call made), and
`["?"]` for everything else: nobody knows what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

Encoded = list[Any]
UNKNOWN: Encoded = ["?"]
MAX_DEPTH = 12
_OPS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
        ast.Is: "is", ast.IsNot: "is not"}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%", ast.FloorDiv: "//"}
PARSES = ("parse_args", "parse_intermixed_args", "parse_known_args")
PARSED = "parse_args()"
"""What a parser makes of the command line, under a name that no variable has."""


def encode(node: ast.AST | None, local: Mapping[str, Encoded] | None = None, depth: int = 0) -> Encoded:
    """The expression; local variables with one known meaning are filled in."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    known = local or {}
    if isinstance(node, ast.Constant):
        return ["const", node.value] if isinstance(node.value, (str, int, float, bool, type(None))) else UNKNOWN
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _chain(node, known)
    if isinstance(node, ast.UnaryOp):
        return _unary(node, known, depth)
    if isinstance(node, ast.BoolOp):
        return ["and" if isinstance(node.op, ast.And) else "or", *(encode(one, known, depth + 1) for one in node.values)]
    if isinstance(node, ast.Compare):
        return _compare(node, known, depth)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return ["list", *(encode(one, known, depth + 1) for one in node.elts)]
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return ["math", _ARITHMETIC[type(node.op)], encode(node.left, known, depth + 1), encode(node.right, known, depth + 1)]
    if isinstance(node, ast.Call):
        return _call(node, known, depth)
    if isinstance(node, ast.NamedExpr):
        return encode(node.value, known, depth + 1)
    return UNKNOWN


def dotted(node: ast.AST | None) -> str:
    """`a.b.c` of a name or attribute; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _chain(node: ast.Name | ast.Attribute, known: Mapping[str, Encoded]) -> Encoded:
    parts = dotted(node).split(".")
    if not parts[0]:
        return UNKNOWN
    if parts[0] in known:
        base = known[parts[0]]
        if len(parts) == 1:
            return base
        return _below(base, parts[1:])
    return ["attr", *parts]


def _below(base: Encoded, names: list[str]) -> Encoded:
    """Attributes of an expression."""
    return [*base, *names] if base[0] in ("attr", "of") else ["of", base, *names] if base[0] == "call" else UNKNOWN


def _unary(node: ast.UnaryOp, known: Mapping[str, Encoded], depth: int) -> Encoded:
    inner = encode(node.operand, known, depth + 1)
    if isinstance(node.op, ast.Not):
        return ["not", inner]
    if isinstance(node.op, ast.USub) and inner[0] == "const" and isinstance(inner[1], (int, float)):
        return ["const", -inner[1]]
    return UNKNOWN


def _compare(node: ast.Compare, known: Mapping[str, Encoded], depth: int) -> Encoded:
    sides = [encode(one, known, depth + 1) for one in (node.left, *node.comparators)]
    parts = [["cmp", _OPS.get(type(op), "?"), sides[at], sides[at + 1]] for at, op in enumerate(node.ops)]
    return parts[0] if len(parts) == 1 else ["and", *parts]


def _call(node: ast.Call, known: Mapping[str, Encoded], depth: int) -> Encoded:
    """`getattr(a, "b", d)` is `a.b`; other calls keep their name and what they are made of."""
    name = dotted(node.func)
    if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
        base = encode(node.args[0], known, depth + 1)
        return _below(base, [str(node.args[1].value)])
    on = encode(node.func.value, known, depth + 1) if isinstance(node.func, ast.Attribute) else UNKNOWN
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    if not last:
        return UNKNOWN
    if last in PARSES:
        return ["list", ["attr", PARSED], UNKNOWN] if "known" in last else ["attr", PARSED]
    return ["call", last, on, *(encode(one, known, depth + 1) for one in node.args[:4])]
