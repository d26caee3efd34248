"""Where a module-level `__getattr__` gets a name from: a table's target (`{"LLM": ".entrypoints.llm:LLM"}`), or an import beside
`if name == "LLM":`. Only forms that are surely read rightly count: a target misread would make a name
that is there count as gone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from bot.upstream.imports import lazy
from bot.upstream.imports.conditions import dotted
from bot.upstream.imports.records import Want

Wants = tuple[tuple[str, tuple[Want, ...]], ...]
"""A name, and the places of which one must have it; a name may stand in it more than once."""
_SPLITS = frozenset({"split", "rsplit", "partition", "rpartition"})
_OWN = frozenset({"__name__", "__package__"})


def read(function: ast.FunctionDef, literals: Mapping[str, ast.Dict], tables: lazy.Tables) -> Wants:
    """What the names that it answers need. `literals` are the module's tables, none of which grows."""
    if not function.args.args:
        return ()
    asked = function.args.args[0].arg
    return (*_beside(function.body, asked, tables), *_Table(function, asked, literals).wants())


def _beside(body: list[ast.stmt], asked: str, tables: lazy.Tables) -> Iterator[tuple[str, tuple[Want, ...]]]:
    """Imports that surely come before the answer to certain names."""
    for node in body:
        while isinstance(node, ast.If):
            for name in _meant(node.test, asked, tables):
                for statement in node.body:
                    if isinstance(statement, ast.ImportFrom):
                        for alias in statement.names:
                            yield name, (Want(statement.module or "", statement.level, alias.name),)
                    elif isinstance(statement, ast.Import):
                        yield from ((name, (Want(alias.name, 0),)) for alias in statement.names)
                    elif not isinstance(statement, (ast.Assign, ast.Global, ast.Expr)):
                        break
            if len(node.orelse) != 1:
                break
            node = node.orelse[0]


def _meant(test: ast.expr, asked: str, tables: lazy.Tables) -> Collection[str]:
    """The names for which a test certainly holds."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.In))):
        return ()
    if not (isinstance(test.left, ast.Name) and test.left.id == asked):
        return ()
    return sorted(lazy.words_of(test.comparators[0], tables, single=isinstance(test.ops[0], ast.Eq)) or ())


class _Table:
    """A function that looks a name up in one table and imports what stands there."""

    def __init__(self, function: ast.FunctionDef, asked: str, literals: Mapping[str, ast.Dict]) -> None:
        nodes = list(ast.walk(function))
        self._asked, self._literals = asked, literals
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for inner in ast.walk(target):
                        if isinstance(inner, ast.Name):
                            self._assigned.setdefault(inner.id, []).append(node.value)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        self._imports = [call for call in calls if dotted(call.func).rpartition(".")[2] == "import_module" and call.args]
        taken = [call.args[1] for call in calls if dotted(call.func) == "getattr" and len(call.args) > 1]
        self._by_name = any(map(self._is_asked, taken))
        self._used = {node.id for node in nodes if isinstance(node, ast.Name) and node.id in literals}
        self._within = False  # the targets are below the package itself
        self._tries = any(isinstance(node, ast.Try) for node in nodes)

    def wants(self) -> Iterator[tuple[str, tuple[Want, ...]]]:
        if len(self._used) != 1 or len(self._imports) != 1 or self._tries or not self._plain(self._imports[0].args[0], 0):
            return
        table = self._literals[next(iter(self._used))]
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and (found := self._target(key.value, value)):
                yield key.value, found

    def _is_asked(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._asked

    def _plain(self, node: ast.expr, depth: int) -> bool:
        """Whether what is imported is a table's word as it stands, or that below the package."""
        if depth > 8:
            return False
        if isinstance(node, ast.Name):
            values = self._assigned.get(node.id, [])
            return node.id in self._used or (bool(values) and all(self._plain(value, depth + 1) for value in values))
        if isinstance(node, ast.Subscript):
            return self._plain(node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._plain(node.body, depth + 1) and self._plain(node.orelse, depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in {*_SPLITS, "get"} and self._plain(node.func.value, depth + 1)
        if isinstance(node, ast.JoinedStr):
            return self._below([getattr(part, "value", None) for part in node.values], depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = [node.left.left, node.left.right] if isinstance(node.left, ast.BinOp) else [node.left]
            return self._below([part.value if isinstance(part, ast.Constant) else part for part in (*sides, node.right)], depth)
        return False

    def _below(self, parts: list[object], depth: int) -> bool:
        """`f".{word}"`, `f"{__name__}.{word}"`, `"." + word`."""
        if isinstance(parts[0], ast.Name) and parts[0].id in _OWN:
            parts = parts[1:]
        self._within = True
        return len(parts) == 2 and parts[0] == "." and isinstance(parts[1], ast.expr) and self._plain(parts[1], depth + 1)

    def _target(self, name: str, value: ast.expr) -> tuple[Want, ...]:
        words = [value] if isinstance(value, ast.Constant) else value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if not texts or len(texts) != len(words) or len(texts) > 2:
            return ()
        if len(texts) == 2:
            orders = [texts, texts[::-1]]
            likely = [pair for pair in orders if "." in pair[0] and "." not in pair[1]] or orders
            return tuple(place for module, attribute in likely for place in self._places(module, attribute))
        module, colon, attribute = texts[0].partition(":")
        if colon:
            return self._places(module, attribute)
        above, _, last = module.rpartition(".")
        split = self._places(above, last) if above.strip(".") else ()
        return (*self._places(module, name), *(() if self._by_name else (*self._places(module, ""), *split)))

    def _places(self, module: str, attribute: str) -> tuple[Want, ...]:
        level = len(module) - len(module.lstrip("."))
        if level or not self._within:
            return (Want(module.lstrip("."), level, attribute),)
        return (Want(module, 1, attribute), *([Want(module, 0, attribute)] if "." in module else []))
