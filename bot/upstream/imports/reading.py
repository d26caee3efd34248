"""The survey of one source file: every import in it with what stands around it, and every name that it offers."""

from __future__ import annotations

import ast
from typing import Any

import msgspec

from bot.upstream.imports import conditions, failing, syntax
from bot.upstream.imports.naming import Names
from bot.upstream.imports.records import BODY, ELSE, FINALLY, Frame, Module, Statement, Try

VERSION = 3
MAX_BYTES = 2_000_000
"""Ten times the largest real one. The parser takes 500 times as much memory for the worst."""
MAX_CHAIN = 50
"""Branches of one chain of `elif` that are told apart: each holds the conditions of all before it."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRIES = (ast.Try, ast.TryStar)
_DOUBT = Frame("if", test=conditions.UNKNOWN)


def survey(data: bytes, path: str) -> Any:
    """A file's imports and names (records.Module) as plain values. ValueError, SyntaxError, RecursionError or MemoryError for
    what cannot be read."""
    return msgspec.to_builtins(read(data))


def read(data: bytes) -> Module:
    """As `survey`, as a record. A literal list of 6 MB took the parser 2.9 GB: the size is limited first."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    tree = _parsed(data)
    reader, names = _Reader(tree), Names()
    reader.block(tree.body, (), False)
    names.read(tree)
    return msgspec.structs.replace(names.made(), statements=tuple(reader.statements), tries=tuple(reader.tries))


def _parsed(data: bytes) -> ast.Module:
    """Also of a newer Python; what is wrong in any Python stays a SyntaxError."""
    try:
        return ast.parse(data)
    except SyntaxError as error:
        if b"coding" in data[:200]:
            raise
        try:
            return ast.parse(syntax.plain(data.decode("utf-8-sig")))
        except (SyntaxError, ValueError):
            raise error from None


class _Reader:
    """Walks statements with the frames around them; functions are walked too, as lazy."""

    def __init__(self, tree: ast.Module) -> None:
        self.statements: list[Statement] = []
        self.tries: list[Try] = []
        self._sides = 0
        self._exits, self._contexts = failing.exiting(tree.body), failing.contexts(tree.body)

    def block(self, body: list[ast.stmt], frames: tuple[Frame, ...], lazy: bool, depth: int = 0) -> None:
        if depth > 80:
            raise ValueError("nested too deeply")
        for node in body:
            self._statement(node, frames, lazy, depth + 1)

    def _statement(self, node: ast.stmt, frames: tuple[Frame, ...], lazy: bool, depth: int) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node, frames, lazy)
        elif isinstance(node, _FUNCTIONS):
            self.block(node.body, (), True, depth)  # type: ignore[arg-type]
        elif isinstance(node, _TRIES):
            self._try(node, frames, lazy, depth)
        elif isinstance(node, ast.If):
            self._if(node, frames, lazy, depth)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            inner = [frame for item in node.items for frame in failing.context(item.context_expr, self._contexts)]
            self.block(node.body, (*frames, *inner, *failing.entered(node, self._contexts)), lazy, depth)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(node, frames, lazy, depth)
        elif isinstance(node, ast.Match):
            self._match(node, frames, lazy, depth)
        elif isinstance(node, ast.ClassDef):
            self.block(node.body, frames, lazy, depth)
        elif isinstance(node, (ast.Expr, ast.Assign)):
            self._call(node, frames, lazy)

    def _if(self, node: ast.If, frames: tuple[Frame, ...], lazy: bool, depth: int) -> None:
        """A chain of `elif` is a list to whoever reads it: it goes no deeper."""
        outer, count = frames, 0
        while True:
            test = conditions.read(node.test)
            here, frames = self._split(test, frames)
            self.block(node.body, here, lazy, depth)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                self.block(node.orelse, frames, lazy, depth)
                return
            node, count = node.orelse[0], count + 1
            if count % MAX_CHAIN == 0:
                frames = (*outer, _DOUBT)

    def _split(self, test: conditions.Condition, frames: tuple[Frame, ...]) -> tuple[tuple[Frame, ...], tuple[Frame, ...]]:
        """What is around either side of a condition."""
        self._sides += 1
        return (*frames, Frame("if", self._sides, 0, test)), (*frames, Frame("if", self._sides, 1, ["not", test]))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, frames: tuple[Frame, ...], lazy: bool, depth: int) -> None:
        """A loop over what is written there runs; its `else` does where nothing breaks it off."""
        some = isinstance(node, ast.For) and _has_some(node.iter)
        test = conditions.read(node.test) if isinstance(node, ast.While) else ["true"] if some else conditions.UNKNOWN
        self.block(node.body, (*frames, Frame("if", test=test)), lazy, depth)
        broken = test != ["false"] and any(isinstance(inner, ast.Break) for one in node.body for inner in ast.walk(one))
        endless = isinstance(node, ast.While) and test == ["true"]
        self.block(node.orelse, (*frames, Frame("if", test=["false"])) if endless else (*frames, _DOUBT) if broken else frames,
                   lazy, depth)

    def _match(self, node: ast.Match, frames: tuple[Frame, ...], lazy: bool, depth: int) -> None:
        outer = frames
        for count, case in enumerate(node.cases):
            bare = case.pattern
            if case.guard is None and isinstance(bare, ast.MatchAs) and bare.pattern is None:
                self.block(case.body, frames, lazy, depth)  # case _:
                return
            test = conditions.UNKNOWN
            if isinstance(node.subject, ast.Constant) and isinstance(bare, ast.MatchValue) and isinstance(bare.value, ast.Constant):
                test = ["true" if node.subject.value == bare.value.value else "false"] if case.guard is None else test
            here, frames = self._split(test, frames)
            self.block(case.body, here, lazy, depth)
            if count % MAX_CHAIN == MAX_CHAIN - 1:
                frames = (*outer, _DOUBT)

    def _import(self, node: ast.Import | ast.ImportFrom, frames: tuple[Frame, ...], lazy: bool) -> None:
        if isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
            self.statements.append(Statement(node.module or "", node.level, names, "", node.lineno, lazy, frames))
            return
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self.statements.append(Statement(alias.name, 0, None, bound, node.lineno, lazy, frames))

    def _call(self, node: ast.Expr | ast.Assign, frames: tuple[Frame, ...], lazy: bool) -> None:
        """`importlib.import_module("a.b")` asks for a module as a statement does."""
        call = node.value
        if not (isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)):
            return
        name, asked = conditions.dotted(call.func), call.args[0].value
        if name.rpartition(".")[2] not in ("import_module", "__import__") or not isinstance(asked, str):
            return
        if len(call.args) == 1 and asked and not asked.startswith(".") and asked.replace(".", "_").isidentifier():
            self.statements.append(Statement(asked, 0, None, "", node.lineno, lazy, frames, True))

    def _try(self, node: ast.Try | ast.TryStar, frames: tuple[Frame, ...], lazy: bool, depth: int) -> None:
        at = len(self.tries)
        handlers = tuple(failing.handler(handler, self._exits) for handler in node.handlers)
        self.tries.append(Try(handlers, not all(map(_harmless, node.body))))
        parts = [(BODY, node.body), *((number, handler.body) for number, handler in enumerate(node.handlers)),
                 (ELSE, node.orelse), (FINALLY, node.finalbody)]
        for part, body in parts:
            self.block(body, (*frames, Frame("try", at=at, part=part)), lazy, depth)


def _harmless(node: ast.stmt) -> bool:
    """Whether a statement of a body can fail only as an import does."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node.value is None or isinstance(node.value, (ast.Constant, ast.Name))
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _has_some(node: ast.expr) -> bool:
    """Whether a loop over this runs at least once."""
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []
    return any(not isinstance(one, ast.Starred) for one in elements)
