"""The fields of a class that become options, or keys of a configuration: dataclasses, pydantic models, metadata in types."""

from __future__ import annotations

import ast
from typing import Any

from bot.upstream.options import literals
from bot.upstream.options.expressions import dotted

_META = ("Arg", "Option", "Argument", "CliArg", "Field")
_HIDDEN = frozenset({"ClassVar", "InitVar", "PrivateAttr"})


def read(node: ast.ClassDef) -> dict[str, Any]:
    """A class as plain values: its bases, its fields in order, and whether it takes keys that it does not know."""
    fields: dict[str, Any] = {}
    for at, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and _public(one):
            fields[one.target.id] = _field(one, node.body[at + 1] if at + 1 < len(node.body) else None)
        elif isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            fields.setdefault("", {})[one.targets[0].id] = literals.value(one.value)
    plain = fields.pop("", {})
    return {"bases": [dotted(base) or dotted(getattr(base, "value", None)) for base in node.bases], "line": node.lineno,
            "fields": fields, "plain": plain, "strict": _strict(node)}


def _public(one: ast.AnnAssign) -> bool:
    assert isinstance(one.target, ast.Name)
    head = dotted(one.annotation.value) if isinstance(one.annotation, ast.Subscript) else dotted(one.annotation)
    return not one.target.id.startswith("_") and head.rsplit(".", 1)[-1] not in _HIDDEN


def _field(one: ast.AnnAssign, after: ast.stmt | None) -> dict[str, Any]:
    inner, meta = _annotated(one.annotation)
    made: dict[str, Any] = {"line": one.lineno, "type": ast.unparse(inner)[:200], "default": literals.value(one.value),
                            "help": meta.pop("help", "") or _doc(after), **meta}
    if isinstance(one.value, ast.Call):
        made |= _of_call(one.value)
    literal = _literal(inner)
    if literal is not None and "choices" not in made:
        made["choices"] = literal
    return made


def _annotated(node: ast.expr) -> tuple[ast.expr, dict[str, Any]]:
    """The type inside `Annotated[T, ...]` and what its metadata says of the option."""
    if not isinstance(node, ast.Subscript) or dotted(node.value).rsplit(".", 1)[-1] not in ("Annotated", "A"):
        return node, {}
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    meta: dict[str, Any] = {"told": False}
    for part in parts[1:]:
        if isinstance(part, (ast.Constant, ast.JoinedStr, ast.BinOp)) and not meta["told"]:
            meta |= {"told": True, "help": literals.text(part)}
        elif isinstance(part, ast.Call) and dotted(part.func).rsplit(".", 1)[-1] in _META:
            meta |= {"told": True, **_metadata(part)}
    return parts[0], meta


def _metadata(call: ast.Call) -> dict[str, Any]:
    given = {word.arg: word.value for word in call.keywords}
    made: dict[str, Any] = {"help": literals.text(given.get("help"))}
    names = [str(one.value) for one in call.args if isinstance(one, ast.Constant) and str(one.value).startswith("-")]
    aliases = literals.value(given.get("aliases")).get("is")
    name = literals.value(given.get("cli_name")).get("is")
    made["names"] = [*([name] if isinstance(name, str) else []), *names]
    made["aliases"] = aliases if isinstance(aliases, list) else []
    if literals.value(given.get("no_cli")).get("is"):
        made["hidden"] = True
    if "action" in given:
        made["action"] = dotted(given["action"]) or str(literals.value(given["action"]).get("is"))
    if "choices" in given and (found := literals.choices(given["choices"])) is not None:
        made["choices"] = found
    return made


def _of_call(call: ast.Call) -> dict[str, Any]:
    """What `Field(alias=..., description=...)` says besides the default."""
    given = {word.arg: word.value for word in call.keywords}
    made: dict[str, Any] = {}
    if help_text := literals.text(given.get("description")):
        made["help"] = help_text
    alias = [literals.value(given.get(word)).get("is") for word in ("alias", "validation_alias")]
    if names := [one for one in alias if isinstance(one, str)]:
        made["keys"] = names
    if "deprecated" in given:
        made["deprecated"] = True
    if literals.value(given.get("init")).get("is") is False:
        made["hidden"] = True
    return made


def _literal(node: ast.expr) -> list[Any] | None:
    """The values of `Literal[...]`, also inside `Optional[...]` and `| None`."""
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and dotted(one.value).rsplit(".", 1)[-1] == "Literal":
            found = literals.value(one.slice if isinstance(one.slice, ast.Tuple) else ast.Tuple(elts=[one.slice])).get("is")
            others = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in ("str", "int", "float", "Any")]
            return found if isinstance(found, list) and not others else None
    return None


def _doc(after: ast.stmt | None) -> str:
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return literals.text(after.value)
    return ""


def _strict(node: ast.ClassDef) -> bool:
    """Whether pydantic refuses keys that are no fields (`extra="forbid"`)."""
    for one in ast.walk(node):
        if isinstance(one, ast.keyword) and one.arg == "extra" and literals.value(one.value).get("is") == "forbid":
            return True
    return any("StrictBaseModel" in dotted(base) for base in node.bases)
