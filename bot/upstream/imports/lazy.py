"""A module-level `__getattr__` (PEP 562): which names it answers, as far as its text tells."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import reduce

from bot.upstream.imports.records import Lazy

OPEN = Lazy(open=True)
Tables = Mapping[str, Collection[str] | None]
"""Module-level names and the words that their literal holds as keys or elements; None where it is not all literal."""
_MAKERS = ("set", "frozenset", "tuple", "list", "dict")
Names = frozenset[str] | None  # None: any name


def read(function: ast.FunctionDef, tables: Tables) -> Lazy:
    """The names for which it may return. A name that it only hands on to something else may be any."""
    if not function.args.args:
        return OPEN
    reader = _Reader(function.args.args[0].arg, tables)
    reader.block(function.body, None)
    return OPEN if reader.given is None else Lazy(names=tuple(sorted(reader.given)))


class _Reader:
    """Goes through the function with the names that reach each statement; `given` are those with which it returned."""

    def __init__(self, asked: str, tables: Tables) -> None:
        self._asked, self._tables = asked, tables
        self._found: dict[str, Names] = {}  # variables that are None but for these names
        self.given: Names = frozenset()

    def block(self, body: list[ast.stmt], left: Names) -> tuple[Names, bool]:
        """The names with which what follows is reached, and whether nothing that follows is."""
        for statement in body:
            if isinstance(statement, ast.Raise):
                return left, True
            if isinstance(statement, ast.Return):
                self.given = _union(self.given, left)
                return left, True
            left, ended = self._step(statement, left)
            if ended:
                return left, True
        return left, False

    def _step(self, statement: ast.stmt, left: Names) -> tuple[Names, bool]:
        if isinstance(statement, ast.If):
            yes, no = self._test(statement.test)
            then, then_ends = self.block(statement.body, _both(left, yes))
            other, other_ends = self.block(statement.orelse, _both(left, no))
            if then_ends or other_ends:
                return (other if then_ends else then), then_ends and other_ends
            return _union(then, other), False
        if isinstance(statement, ast.Try):
            after, ended = self.block([*statement.body, *statement.orelse], left)
            ends = [self.block(handler.body, left)[1] for handler in statement.handlers]
            self.block(statement.finalbody, left)
            return (after if all(ends) else left), ended and all(ends)
        if isinstance(statement, ast.With):
            return self.block(statement.body, left)
        if isinstance(statement, (ast.For, ast.While)):
            self.block([*statement.body, *statement.orelse], left)
        elif isinstance(statement, ast.Match):
            self.given = None
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            left = self._assigned(statement.targets[0], statement.value, left)
        return left, False

    def _assigned(self, target: ast.expr, value: ast.expr, left: Names) -> Names:
        """`x = TABLE[name]` goes on for the table's names alone; `x = TABLE.get(name)` is None for the others."""
        if isinstance(value, ast.Subscript) and self._is_asked(value.slice):
            return _both(left, _names(words_of(value.value, self._tables)))
        if (isinstance(target, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
                and value.func.attr == "get" and value.args and self._is_asked(value.args[0])):
            default = value.args[1] if len(value.args) > 1 else None
            if default is None or (isinstance(default, ast.Constant) and default.value is None):
                self._found[target.id] = _names(words_of(value.func.value, self._tables))
        return left

    def _is_asked(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._asked

    def _test(self, test: ast.expr) -> tuple[Names, Names]:
        """The names for which a test may hold, and those for which it may not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yes, no = self._test(test.operand)
            return no, yes
        if isinstance(test, ast.BoolOp):
            sides = [self._test(value) for value in test.values]
            joins = (_union, _both) if isinstance(test.op, ast.Or) else (_both, _union)
            return reduce(joins[0], [yes for yes, _ in sides]), reduce(joins[1], [no for _, no in sides])
        if isinstance(test, ast.Name):
            return self._found.get(test.id), None
        return self._compared(test) if isinstance(test, ast.Compare) and len(test.ops) == 1 else (None, None)

    def _compared(self, test: ast.Compare) -> tuple[Names, Names]:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(left, ast.Name) and left.id in self._found and isinstance(right, ast.Constant) and right.value is None:
            here = self._found[left.id]
            return (None, here) if isinstance(operator, (ast.Is, ast.Eq)) else (here, None)
        if not self._is_asked(left):
            return None, None
        words = _names(words_of(right, self._tables, single=isinstance(operator, (ast.Eq, ast.NotEq))))
        return (words, None) if isinstance(operator, (ast.Eq, ast.In)) else (None, words)


def words_of(node: ast.expr, tables: Tables, *, single: bool = False) -> Collection[str] | None:
    """The words of a literal, of its keys where it is a dict, or of a module-level name's; None where not all are literal."""
    if single:
        return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return tables.get(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
        keywords = [keyword.arg for keyword in node.keywords]
        inner = words_of(node.args[0], tables) if len(node.args) == 1 else () if not node.args else None
        return None if inner is None or None in keywords else {*inner, *filter(None, keywords)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys" and not node.args:
        return words_of(node.func.value, tables)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
        sides = words_of(node.left, tables), words_of(node.right, tables)
        return None if None in sides else {*(sides[0] or ()), *(sides[1] or ())}
    if isinstance(node, ast.Dict):
        return _joined([(key, value) for key, value in zip(node.keys, node.values, strict=True)], tables)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _joined([(None, item.value) if isinstance(item, ast.Starred) else (item, item) for item in node.elts], tables)
    return None


def _joined(items: list[tuple[ast.expr | None, ast.expr]], tables: Tables) -> Collection[str] | None:
    found: set[str] = set()
    for key, value in items:
        if key is None:  # **other, *other
            inner = words_of(value, tables)
            if inner is None:
                return None
            found.update(inner)
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            found.add(key.value)
        else:
            return None
    return found


def _union(one: Names, other: Names) -> Names:
    return None if one is None or other is None else one | other


def _both(one: Names, other: Names) -> Names:
    return other if one is None else one if other is None else one & other


def _names(words: Collection[str] | None) -> Names:
    return None if words is None else frozenset(words)
