"""One source file as plain values: its classes, options, checks and imports. Run in a child process under limits (SECURITY 12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from bot.upstream.options import adds, classes, guards, literals
from bot.upstream.options.expressions import dotted

VERSION = 6
_VARIABLE = re.compile(rb"""["']([A-Z][A-Z0-9_]{3,80})["']|^[ \t]+([A-Z][A-Z0-9_]{3,80})[ \t]*(?::[^=\n]+)?=""", re.MULTILINE)
_FLAG = re.compile(rb"""["'](--[A-Za-z][A-Za-z0-9_.-]{1,80})["']""")
_ARCH = re.compile(r"sm_?\d{2,3}|capability|arch|gfx\d")
MAX_BYTES = 8_000_000


def options(data: bytes, path: str) -> dict[str, Any]:
    """What a parser file defines. SyntaxError, ValueError or RecursionError for what cannot be read."""
    if len(data) > MAX_BYTES:
        raise ValueError("too long to be read")
    tree = ast.parse(data, filename=path)
    found = list(adds.read(tree))
    return {"imports": _imports(tree), "constants": _constants(tree),
            "classes": {node.name: classes.read(node) for node in tree.body if isinstance(node, ast.ClassDef)},
            "options": [one for one in found if "names" in one], "open": [one for one in found if "open" in one],
            "calls": list(_parser_calls(tree)), "functions": guards.read(tree, _lines(data)), "abbreviates": _abbreviates(tree),
            "variables": _registry(tree), "defaults": dict(_defaults(tree))}


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")


def names(data: bytes, path: str) -> dict[str, Any]:
    """The variables and the options whose names stand in a file, whatever they are there for."""
    return {"variables": sorted({(first or second).decode() for first, second in _VARIABLE.findall(data)}),
            "flags": sorted({flag.decode() for flag in _FLAG.findall(data)})}


def _imports(tree: ast.Module) -> dict[str, str]:
    """Each imported name and where it comes from: `module:name`, or `module`; dots in front count from the file's own place, which
    is not told here: what is found is kept by content."""
    made: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            made |= {one.asname or one.name: f"{module}:{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            made |= {one.asname or one.name.partition(".")[0]: one.name if one.asname else one.name.partition(".")[0]
                     for one in node.names}
    return made


def _constants(tree: ast.Module) -> dict[str, Any]:
    """Module-level values by name: lists of choices, defaults, `Literal[...]`, and enumerations' names are left to the classes."""
    made: dict[str, Any] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else \
            node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            inner = node.value
            if isinstance(inner, ast.Subscript) and dotted(inner.value).rsplit(".", 1)[-1] == "Literal":
                inner = inner.slice if isinstance(inner.slice, ast.Tuple) else ast.Tuple(elts=[inner.slice])
            if found := literals.value(inner):
                made[target.id] = found
    return made


def _parser_calls(tree: ast.Module) -> Iterator[dict[str, Any]]:
    """Calls that may add options elsewhere: `Class.add_cli_args(parser)`, `add_fields(parser, Class)`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        given = [dotted(one) for one in node.args]
        if name and any("parser" in one or "group" in one for one in given) and "add_argument" not in name:
            yield {"name": name, "given": [one for one in given if one], "line": node.lineno}
        elif name.rsplit(".", 1)[-1] == "get_kwargs" and given and given[0]:
            yield {"name": "get_kwargs", "given": given, "line": node.lineno}


def _defaults(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Functions that answer with a default: what each platform gets."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and "default" in node.name:
            last = node.body[-1]
            if isinstance(last, ast.Return) and sum(isinstance(one, ast.Return) for one in ast.walk(node)) == 1:
                yield node.name, literals.by_platform(last.value)


def _abbreviates(tree: ast.Module) -> bool:
    """False where a parser of the file is told not to take beginnings of options, or is of a library that takes none (click)."""
    said = set(_imports(tree).values())
    if not any("argparse" in one.lower() for one in said) and any(one.partition(":")[0] in ("click", "typer") for one in said):
        return False
    return not any(isinstance(node, ast.keyword) and node.arg == "allow_abbrev" and literals.value(node.value).get("is") is False
                   for node in ast.walk(tree))


def _registry(tree: ast.Module) -> dict[str, int]:
    """Variables that a registry file defines, with their lines: keys of a mapping of functions, or fields of a class."""
    made: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isupper():
                    made.setdefault(key.value, key.lineno)
        elif isinstance(node, ast.ClassDef):
            for one in node.body:
                target = one.targets[0] if isinstance(one, ast.Assign) else one.target if isinstance(one, ast.AnnAssign) else None
                if isinstance(target, ast.Name) and target.id.isupper():
                    made.setdefault(target.id, one.lineno)
        elif isinstance(node, ast.Call) and dotted(node.func) in ("os.environ.get", "os.getenv", "getenv", "environ.get"):
            first = literals.value(node.args[0]).get("is") if node.args else None
            if isinstance(first, str):
                made.setdefault(first, node.lineno)
    return made
