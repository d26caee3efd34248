"""Names that a module binds by word (`globals()[name] = ...`): which they can be, as far as its text bounds them.

sgl_kernel wraps what it has already bound, in a loop over a list: read as "may bind anything", every name of it counted as there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from bot.upstream.imports import lazy
from bot.upstream.imports.conditions import dotted

NAMESPACES = frozenset({"globals", "locals", "vars"})
REBINDS: Collection[str] = ()
"""Only names that are bound already."""
_SAME = frozenset({"list", "tuple", "sorted", "set", "dict", "frozenset", "reversed"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Around = tuple[ast.stmt | ast.expr, ...]
"""The loops around a statement, and the conditions that hold where it is come to."""


class Bounds:
    """Of one module, made when it is first needed."""

    def __init__(self, tree: ast.Module) -> None:
        self._around: dict[int, Around] = dict(_walked(tree.body, ()))

    def of(self, node: ast.stmt, key: ast.expr, value: ast.expr | None, tables: lazy.Tables) -> Collection[str] | None:
        """The names that a statement may bind anew by this key; None where nothing bounds them."""
        if value is not None and any(_reads(inner, key) for inner in _surely(value)):
            return REBINDS
        found: Collection[str] | None = None
        for one in self._around.get(id(node), ()):
            if isinstance(one, ast.expr):
                found = REBINDS if _is_bound(one, key) else found
            elif isinstance(one, (ast.For, ast.AsyncFor)) and isinstance(key, ast.Name) and _is_target(one.target, key.id):
                found = None if _changes(one.body, key.id) else over(one.iter, tables)
        return found


def over(node: ast.expr, tables: lazy.Tables) -> Collection[str] | None:
    """The words that a loop over this gives its (first) target; REBINDS for the names of the module itself."""
    while isinstance(node, ast.Call):
        name = dotted(node.func)
        if (name in NAMESPACES or name == "dir") and not node.args:
            return REBINDS
        if name in _SAME and len(node.args) == 1:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "copy") and not node.args:
            node = node.func.value
        else:
            break
    return lazy.words_of(node, tables)


def given(call: ast.Call, tables: lazy.Tables) -> Collection[str] | None:
    """The names that `globals().update(...)` binds; None where nothing bounds them."""
    words = {word.arg for word in call.keywords}
    found: set[str] = {word for word in words if word}
    if None in words:
        return None
    for node in call.args:
        if isinstance(node, ast.DictComp) and len(node.generators) == 1 and isinstance(node.key, ast.Name):
            first = node.generators[0]
            inner = over(first.iter, tables) if _is_target(first.target, node.key.id) else None
        else:
            inner = over(node, tables)
        if inner is None:
            return None
        found.update(inner)
    return found


def _walked(body: Sequence[ast.stmt], around: Around) -> Iterator[tuple[int, Around]]:
    """Every statement with what is around it; a function begins anew. Without recursion: a chain of `elif` may be long."""
    waiting: list[tuple[Sequence[ast.stmt], Around]] = [(body, around)]
    while waiting:
        block, held = waiting.pop()
        for node in block:
            yield id(node), held
            if isinstance(node, _FUNCTIONS):
                waiting.append((node.body, ()))
                continue
            inner: Around = held
            if isinstance(node, ast.If):
                inner = (*held, node.test)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                inner = (*held, node)
            waiting.append((getattr(node, "body", ()), inner))
            waiting += [(getattr(node, part, ()), held) for part in ("orelse", "finalbody")]
            waiting += [(part.body, held) for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]


def _surely(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are surely come to."""
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    yield node
    for inner in ast.iter_child_nodes(node):
        yield from _surely(inner)


def _is_names(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and not node.args and (dotted(node.func) in NAMESPACES or dotted(node.func) == "dir")


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _reads(node: ast.AST, key: ast.expr) -> bool:
    """`globals()[key]`, which fails where it is not bound."""
    return isinstance(node, ast.Subscript) and _is_names(node.value) and _same(node.slice, key)


def _is_bound(test: ast.expr, key: ast.expr) -> bool:
    """Whether a test holds only where the key is bound already: `key in globals()`, `hasattr(module, key)`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_is_bound(one, key) for one in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
        return _same(test.left, key) and _is_names(test.comparators[0])
    if isinstance(test, ast.Call) and dotted(test.func) == "hasattr" and len(test.args) == 2:
        owner = test.args[0]
        return isinstance(owner, ast.Subscript) and dotted(owner.value).endswith("sys.modules") \
            and dotted(owner.slice) == "__name__" and _same(test.args[1], key)
    return False


def _is_target(target: ast.expr, name: str) -> bool:
    """Whether a loop gives each word to this name: `for name in ...`, `for name, value in ...`."""
    first = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) and target.elts else target
    return isinstance(first, ast.Name) and first.id == name


def _changes(body: Sequence[ast.stmt], name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
               for statement in body for node in ast.walk(statement))
