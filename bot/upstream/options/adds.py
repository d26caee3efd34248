"""Options as argparse and click are told them, read from source: names, destination, default, choices, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from bot.upstream.options import literals
from bot.upstream.options.expressions import dotted

_ADDS = ("add_argument", "add_option")
_DECORATORS = ("option",)
MAX_TURNS = 200

Env = Mapping[str, Any]


def read(tree: ast.Module) -> Iterator[dict[str, Any]]:
    """Every option of the file, those of loops over literal lists too; `{"open": ...}` where the names are made at run time."""
    yield from _body(tree.body, "", "", {}, {})


def _body(body: list[ast.stmt], cls: str, function: str, env: Env, kwargs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    known = dict(kwargs)
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield from _body(one.body, one.name, "", {}, {})
        elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _decorators(one, cls)
            yield from _body(one.body, cls, one.name, {}, {})
        elif isinstance(one, ast.For):
            yield from _loop(one, cls, function, env, known)
        else:
            known |= _fields_of(one)
            for call in _calls(one):
                yield from _add(call, cls, function, env, known)
            for inner in _inner(one):
                yield from _body(inner, cls, function, env, known)


def _inner(one: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(one, name, None)
        if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
            yield inner
    for handler in getattr(one, "handlers", []):
        yield handler.body


def _calls(one: ast.stmt) -> Iterator[ast.Call]:
    """Calls that stand in the statement itself, not in the blocks below it."""
    stack: list[ast.AST] = [one]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        stack += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _loop(one: ast.For, cls: str, function: str, env: Env, kwargs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    items = literals.value(one.iter).get("is")
    if not isinstance(items, list) or not items or len(items) > MAX_TURNS:
        yield from _body(one.body, cls, function, {**env, **dict.fromkeys(_targets(one.target))}, kwargs)
        return
    for item in items:
        names = _targets(one.target)
        values = item if isinstance(item, list) and len(names) > 1 else [item]
        yield from _body(one.body, cls, function, {**env, **dict(zip(names, values, strict=False))}, kwargs)


def _targets(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Tuple):
        return [name for one in node.elts for name in _targets(one)]
    return [node.id] if isinstance(node, ast.Name) else []


def _fields_of(one: ast.stmt) -> dict[str, str]:
    """`load_kwargs = get_kwargs(LoadConfig)`: the variable that holds a class's fields as arguments."""
    if not (isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.value, ast.Call)):
        return {}
    target, name, first = one.targets[0], dotted(one.value.func), one.value.args[0] if one.value.args else None
    if isinstance(target, ast.Name) and "kwargs" in name.rsplit(".", 1)[-1] and (of := dotted(first)):
        return {target.id: of}
    return {}


def _add(call: ast.Call, cls: str, function: str, env: Env, kwargs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _ADDS:
        return
    names = [_text(one, env) for one in call.args]
    if call.args and None in names:
        if function in _ADDS:
            return  # a parser of their own, which hands on what it gets
        yield {"open": True, "line": call.lineno, "class": cls, "function": function}
        return
    flags = [name for name in names if name and name.startswith("-")]
    if flags:
        yield {"names": flags, "line": call.lineno, "class": cls, "function": function, **_given(call, env, kwargs)}


def _given(call: ast.Call, env: Env, kwargs: Mapping[str, str]) -> dict[str, Any]:
    given = {word.arg: word.value for word in call.keywords if word.arg}
    made: dict[str, Any] = {"help": literals.text(given.get("help"))}
    for word in call.keywords:
        if word.arg is None and (field := _field(word.value, kwargs)):
            made["field"] = field
    for word in call.keywords:
        if word.arg is None and isinstance(word.value, ast.Dict):
            pairs = zip(word.value.keys, word.value.values, strict=True)
            laid = {literals.value(key).get("is"): value for key, value in pairs if key}
            made |= {"default": literals.value(laid["default"])} if "default" in laid else {}
    if isinstance(dest := _text(given["dest"], env) if "dest" in given else None, str):
        made["dest"] = dest
    if "action" in given:
        made["action"] = dotted(given["action"]) or str(literals.value(given["action"]).get("is"))
    if "default" in given:
        made["default"] = literals.value(given["default"])
    if "type" in given:
        made["type"] = dotted(given["type"])
    if "nargs" in given:
        made["nargs"] = literals.value(given["nargs"]).get("is")
    if "choices" in given and (found := literals.choices(given["choices"])) is not None:
        made["choices"] = found
    for word in ("new_flag", "replacement"):
        if isinstance(new := literals.value(given.get(word)).get("is"), str):
            made["instead"] = new
    if literals.value(given.get("deprecated")).get("is") or "deprecated" in str(made.get("action", "")).lower():
        made["deprecated"] = True
    if "error_message" in given and literals.value(given["error_message"]).get("is", "") is not None:
        made["refused"] = literals.text(given["error_message"]) or "no longer supported"
    if literals.value(given.get("is_flag")).get("is"):
        made["action"] = "store_true"
    return made


def _field(node: ast.expr, kwargs: Mapping[str, str]) -> list[str] | None:
    """`**load_kwargs["load_format"]`, also with more laid over it: [class, field]."""
    if isinstance(node, ast.Dict):
        found = [_field(value, kwargs) for key, value in zip(node.keys, node.values, strict=True) if key is None]
        return next((one for one in found if one), None)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in kwargs:
        name = literals.value(node.slice).get("is")
        return [kwargs[node.value.id], name] if isinstance(name, str) else None
    return None


def _decorators(one: ast.FunctionDef | ast.AsyncFunctionDef, cls: str) -> Iterator[dict[str, Any]]:
    """click's `@option(...)`, and typer's parameters."""
    for decorator in one.decorator_list:
        if isinstance(decorator, ast.Call) and dotted(decorator.func).rsplit(".", 1)[-1] in _DECORATORS:
            names = [str(part.value) for part in decorator.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            flags = [half for name in names for half in name.split("/") if half.startswith("-")]
            plain = [name for name in names if not name.startswith("-")]
            if flags:
                made = {"names": flags, "line": decorator.lineno, "class": cls, "function": one.name, **_given(decorator, {}, {})}
                yield made | ({"dest": plain[0]} if plain else {})
    defaults = [None] * (len(one.args.args) - len(one.args.defaults)) + list(one.args.defaults)
    keywords = zip(one.args.kwonlyargs, one.args.kw_defaults, strict=True)
    for parameter, default in [*zip(one.args.args, defaults, strict=True), *keywords]:
        call = default if isinstance(default, ast.Call) else _annotation(parameter.annotation)
        if call is not None and dotted(call.func).rsplit(".", 1)[-1] == "Option" and "typer" in dotted(call.func):
            names = [str(part.value) for part in call.args if isinstance(part, ast.Constant) and str(part.value).startswith("-")]
            yield {"names": [half for name in names for half in name.split("/")] or ["--" + parameter.arg.replace("_", "-")],
                   "dest": parameter.arg, "line": parameter.lineno, "class": cls, "function": one.name, **_given(call, {}, {})}


def _annotation(node: ast.expr | None) -> ast.Call | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return next((one for one in node.slice.elts if isinstance(one, ast.Call)), None)
    return None


def _text(node: ast.expr, env: Env) -> str | None:
    """A text made of literals and of the loop's values; None where it is made at run time."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        found = env.get(node.id)
        return found if isinstance(found, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part.value if isinstance(part, ast.FormattedValue) else part, env) for part in node.values]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, env), _text(node.right, env)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace" and len(node.args) == 2:
        base, old, new = _text(node.func.value, env), _text(node.args[0], env), _text(node.args[1], env)
        return base.replace(old, new) if base is not None and old is not None and new is not None else None
    return None
