"""The names that a module binds when it is imported, other than by importing, and what its `__all__` says."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from bot.upstream.imports import conditions, dynamic, lazy, targets
from bot.upstream.imports.records import Lazy, Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAX_NODES = 1_500_000
_ADDERS = {"append", "extend", "update", "add", "insert"}


class Names:
    """Collects in the order of the file: what was bound and then deleted is gone."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.gone: dict[str, None] = {}
        self.tables: dict[str, Any] = {}
        self.flags: dict[str, Any] = {}
        self.registers: list[str] = []
        self.dynamic = self.elsewhere = False
        self.exported: list[str] | None = None
        self.exports_of: list[str] = []
        self.exports_all = False
        self._getattr: ast.FunctionDef | None = None
        self._answers = False  # it has a `__getattr__` that is made elsewhere
        self._literals: dict[str, ast.Dict] = {}
        self._tree = ast.Module([], [])
        self._bounds: dynamic.Bounds | None = None
        self._bound: dict[str, int] = {}
        self._selves: set[str] = set()  # this very module, by another name

    def read(self, tree: ast.Module) -> None:
        """All statements of the module; those inside functions only for what reaches out of them."""
        self._tree = tree
        for node, top in _statements(tree.body):
            self._one(node, top)
        for count, node in enumerate(ast.walk(tree)):
            if count > MAX_NODES:
                raise ValueError(f"more than {MAX_NODES} nodes")
            if isinstance(node, ast.Global):
                self.names.update(dict.fromkeys(node.names))
            elif isinstance(node, ast.NamedExpr):
                self.names[node.target.id] = None  # also one inside a function: more is bound than is, never less
            elif isinstance(node, _FUNCTIONS) and node.name not in ("__getattr__", "__dir__"):
                for inner in node.body:
                    self._reaches_out(inner)

    def _reaches_out(self, node: ast.stmt) -> None:
        """What a statement of a function binds of the module's names by word."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and _is_globals(target.value):
                    self._by_word(node, target.slice, node.value, {})
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            if _is_globals(node.value.func.value) and node.value.func.attr == "update":
                self._all(dynamic.given(node.value, {}))
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            for inner in (*getattr(node, "body", ()), *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())):
                self._reaches_out(inner)

    def _by_word(self, node: ast.stmt, key: ast.expr, value: ast.expr | None, tables: lazy.Tables | None = None) -> None:
        """`globals()[key] = value`: the names that it can be, or any. A function's own lists are not the module's (`tables`)."""
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            self._bind(key.value)
            return
        self._bounds = self._bounds or dynamic.Bounds(self._tree)
        self._all(self._bounds.of(node, key, value, self.tables if tables is None else tables))

    def _all(self, words: Collection[str] | None) -> None:
        self.dynamic |= words is None
        for word in sorted(words or ()):
            self._bind(word)

    def made(self) -> Module:
        lazily: Lazy | None = lazy.read(self._getattr, self.tables) if self._getattr else None
        if self._answers:
            lazily = lazy.OPEN
        elif lazily and self._getattr:
            literals = {name: table for name, table in self._literals.items() if self.tables.get(name) is not None}
            lazily = replace(lazily, wants=targets.read(self._getattr, literals, self.tables))
        flags = {name: test for name, test in self.flags.items() if self._bound.get(name) == 1}
        return Module(names=tuple(self.names), gone=tuple(self.gone), lazy=lazily, dynamic=self.dynamic, elsewhere=self.elsewhere,
                      exported=None if self.exported is None else tuple(dict.fromkeys(self.exported)),
                      exports_all=self.exports_all, exports_of=tuple(self.exports_of), registers=tuple(self.registers), flags=flags)

    def _one(self, node: ast.stmt, top: bool) -> None:
        if isinstance(node, _FUNCTIONS) and node.name == "__getattr__":
            self._answers |= not isinstance(node, ast.FunctionDef) or self._getattr is not None
            self._getattr = node if isinstance(node, ast.FunctionDef) else None
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._bind(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assigned(node, target, node.value, top)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assigned(node, node.target, node.value, top)
        elif isinstance(node, ast.AugAssign):
            self._added(node, node.target, node.value)
        elif isinstance(node, ast.Delete) and top:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.names.pop(target.id, None)
                    self.gone[target.id] = None
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._called(node, node.value)
        else:
            self._others(node)

    def _others(self, node: ast.stmt) -> None:
        """Loops, contexts, handlers and patterns bind names too, as do imports, which are kept elsewhere."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self._bound[bound] = 2
                if alias.name == "TYPE_CHECKING":
                    self._bound[bound], self.flags[bound] = 1, ["typing"]
                self._answers |= bound == "__getattr__"
                self.gone.pop(bound, None)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._target(node.target)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self._target(item.optional_vars)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for inner in ast.walk(case.pattern):
                    name = getattr(inner, "name", None) or getattr(inner, "rest", None)
                    if name:
                        self._bind(name)
        elif name := getattr(getattr(node, "name", None), "id", None):  # `type X = ...`
            self._bind(name)

    def _bind(self, name: str) -> None:
        self.names[name] = None
        self._answers |= name == "__getattr__"
        self.gone.pop(name, None)
        self._bound[name] = self._bound.get(name, 0) + 1

    def _target(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bind(node.id)
                if node.id == "__all__":  # `__getattr__, __dir__, __all__ = attach(...)`
                    self.exported, self.exports_all = self.exported or [], True

    def _assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr, top: bool) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id)
            self.tables[target.id] = lazy.words_of(value, self.tables) if self._bound[target.id] == 1 else None
            if isinstance(value, ast.Dict):
                self._literals[target.id] = value
            self.flags[target.id] = conditions.read(value) if top else conditions.UNKNOWN
            if target.id == "__all__":
                self.exported = []
                self._exports(value)
            self.elsewhere |= target.id == "__path__"
            if isinstance(value, ast.Subscript) and conditions.dotted(value.value).endswith("sys.modules"):
                self._selves.add(target.id)
        elif isinstance(target, ast.Subscript):
            self._stored(node, target, value)
        elif isinstance(target, ast.Attribute):
            self._changed(target.value)
        else:
            self._target(target)

    def _stored(self, node: ast.stmt, target: ast.Subscript, value: ast.expr | None) -> None:
        """`globals()[name] = ...` binds, `sys.modules[name] = ...` makes a module."""
        owner, key = target.value, target.slice
        word = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
        if isinstance(owner, ast.Call) and conditions.dotted(owner.func) in dynamic.NAMESPACES:
            self._by_word(node, key, value)
        elif conditions.dotted(owner).endswith("sys.modules"):
            if word:
                self.registers.append(word)
            elif conditions.dotted(key) == "__name__":
                self.dynamic = self.elsewhere = True
            else:
                self.elsewhere = True
        elif isinstance(owner, ast.Name):
            self.tables[owner.id] = None  # a table that grows

    def _changed(self, owner: ast.expr) -> None:
        """`sys.modules[__name__].__class__ = ...` and the like."""
        if isinstance(owner, ast.Subscript) and conditions.dotted(owner.value).endswith("sys.modules"):
            self.dynamic = True

    def _is_module(self, node: ast.expr) -> bool:
        name = conditions.dotted(node.value if isinstance(node, ast.Subscript) else node)
        return name in self._selves or name.endswith("sys.modules")

    def _added(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id)
            self.tables[target.id] = None
            if target.id == "__all__":
                self.exported = self.exported if self.exported is not None else []
                self._exports(value)
            self.elsewhere |= target.id == "__path__"
        elif isinstance(target, ast.Subscript):
            self._stored(node, target, None)

    def _called(self, node: ast.stmt, call: ast.Call) -> None:
        """Calls that bind: `globals().update(...)`, `setattr(sys.modules[__name__], ...)`, `__all__.extend(...)`."""
        name = conditions.dotted(call.func)
        owner, _, method = name.rpartition(".")
        if name in ("exec", "execfile"):
            self.dynamic = True
        elif name == "setattr" and len(call.args) == 3 and self._is_module(call.args[0]):
            self._by_word(node, call.args[1], call.args[2])
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            if conditions.dotted(call.func.value.func) not in dynamic.NAMESPACES:
                return
            if call.func.attr in ("setdefault", "__setitem__") and call.args:
                self._by_word(node, call.args[0], call.args[1] if len(call.args) > 1 else None)
            elif call.func.attr == "update":
                self._all(dynamic.given(call, self.tables))
        elif owner.endswith("sys.modules") and method in ("setdefault", "__setitem__", "update"):
            word = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            self.registers += [word] if isinstance(word, str) else []
            self.elsewhere |= not isinstance(word, str)
        elif owner.endswith("sys.meta_path") or owner == "__path__":
            self.elsewhere = True
        elif owner == "__all__" and method in ("extend", "append", "remove"):
            self.exported = self.exported if self.exported is not None else []
            for value in call.args:
                self._exports(ast.List([value]) if method == "append" else value)
        elif method in _ADDERS and owner in self.tables:
            self.tables[owner] = None

    def _exports(self, value: ast.expr) -> None:
        """`__all__` as far as it is literal, with the lists of other modules that it adds."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            self._exports(value.left)
            self._exports(value.right)
            return
        words = lazy.words_of(value, self.tables)
        name = conditions.dotted(value)
        if words is not None:
            self.exported = [*(self.exported or ()), *words]
        elif name.endswith(".__all__"):
            self.exports_of.append(name.removesuffix(".__all__"))
        elif name != "__all__":
            self.exports_all = True


def _is_globals(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and conditions.dotted(node.func) == "globals"


def _statements(body: list[ast.stmt], top: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement that importing the module may execute, and whether it surely is; what only a type checker reads is none."""
    for node in body:
        yield node, top
        if isinstance(node, ast.If):
            yield from _branches(node)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield from _statements([*node.body, *node.orelse], False)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _statements(node.body, top)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            handlers = [inner for handler in node.handlers for inner in handler.body]
            yield from _statements([*node.body, *handlers, *node.orelse, *node.finalbody], False)
        elif isinstance(node, ast.Match):
            yield from _statements([inner for case in node.cases for inner in case.body], False)


def _branches(node: ast.If) -> Iterator[tuple[ast.stmt, bool]]:
    """Those of a chain of `elif`, which may be longer than recursion goes."""
    while True:
        typing = conditions.judge(conditions.read(node.test), conditions.World(), {})
        yield from _statements(node.body, False) if typing is not False else ()
        if typing is True or not node.orelse:
            return
        if len(node.orelse) > 1 or not isinstance(node.orelse[0], ast.If):
            yield from _statements(node.orelse, False)
            return
        node = node.orelse[0]
