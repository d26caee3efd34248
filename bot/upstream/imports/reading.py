"""The survey of one source file: every import in it with what stands around it, and every name that it offers."""

from __future__ import annotations

import ast
from typing import Any

import msgspec

from bot.upstream.imports import conditions
from bot.upstream.imports.naming import Names
from bot.upstream.imports.records import BODY, ELSE, FINALLY, Frame, Handler, Module, Statement, Try

VERSION = 3
MAX_BYTES = 2_000_000
"""Ten times the largest real one. The parser takes 500 times as much memory for the worst."""
_ANY = {"ImportError", "Exception", "BaseException"}
_MODULE = {"ModuleNotFoundError"}
# Exceptions that no failing import is. A class of somebody's own may well be one, as may a name for several.
_OTHER = {"OSError", "RuntimeError", "AttributeError", "ValueError", "TypeError", "KeyError", "IndexError", "NameError",
          "LookupError", "AssertionError", "NotImplementedError", "SyntaxError", "StopIteration", "KeyboardInterrupt", "SystemExit",
          "FileNotFoundError", "PermissionError", "UnicodeDecodeError", "IOError", "EnvironmentError", "ArithmeticError",
          "ZeroDivisionError", "MemoryError", "RecursionError", "TimeoutError", "Warning", "DeprecationWarning"}
_EXITS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRIES = (ast.Try, ast.TryStar)


def survey(data: bytes, path: str) -> Any:
    """A file's imports and names (records.Module) as plain values. ValueError, SyntaxError, RecursionError or MemoryError for
    what cannot be read."""
    return msgspec.to_builtins(read(data))


def read(data: bytes) -> Module:
    """As `survey`, as a record. A literal list of 6 MB took the parser 2.9 GB: the size is limited first."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    tree = ast.parse(data)
    reader, names = _Reader(), Names()
    reader.block(tree.body, (), False)
    names.read(tree)
    return msgspec.structs.replace(names.made(), statements=tuple(reader.statements), tries=tuple(reader.tries))


class _Reader:
    """Walks statements with the frames around them; functions are walked too, as lazy."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.tries: list[Try] = []

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
            test = conditions.read(node.test)
            self.block(node.body, (*frames, Frame("if", test=test)), lazy, depth)
            self.block(node.orelse, (*frames, Frame("if", test=["not", test])), lazy, depth)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            inner = [frame for item in node.items if (frame := _context(item.context_expr))]
            self.block(node.body, (*frames, *inner), lazy, depth)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            test = conditions.read(node.test) if isinstance(node, ast.While) else conditions.UNKNOWN
            self.block([*node.body, *node.orelse], (*frames, Frame("if", test=test)), lazy, depth)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self.block(case.body, (*frames, Frame("if", test=conditions.UNKNOWN)), lazy, depth)
        elif isinstance(node, ast.ClassDef):
            self.block(node.body, frames, lazy, depth)
        elif isinstance(node, (ast.Expr, ast.Assign)):
            self._call(node, frames, lazy)

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
        handlers = tuple(Handler(_catches(handler.type), _ends(handler.body)) for handler in node.handlers)
        self.tries.append(Try(handlers, not all(map(_harmless, node.body))))
        parts = [(BODY, node.body), *((number, handler.body) for number, handler in enumerate(node.handlers)),
                 (ELSE, node.orelse), (FINALLY, node.finalbody)]
        for part, body in parts:
            self.block(body, (*frames, Frame("try", at=at, part=part)), lazy, depth)


def _catches(kind: ast.expr | None) -> str:
    """What an `except` catches of the ways in which an import fails: `any`, `module`, `` (none), or `unsure`."""
    if kind is None:
        return "any"
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    words = {conditions.dotted(one).rpartition(".")[2] for one in kinds}
    if words & _ANY:
        return "any"
    if words - _MODULE - _OTHER:
        return "unsure"
    return "module" if words & _MODULE else ""


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a handler certainly ends in another failure, or ends the program."""
    for node in body:
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and conditions.dotted(node.value.func) in _EXITS:
            return True
        if isinstance(node, ast.If) and node.orelse and _ends(node.body) and _ends(node.orelse):
            return True
        if isinstance(node, (ast.With, ast.AsyncWith)) and _ends(node.body):
            return True
    return False


def _harmless(node: ast.stmt) -> bool:
    """Whether a statement of a body can fail only as an import does."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node.value is None or isinstance(node.value, (ast.Constant, ast.Name))
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _context(node: ast.expr) -> Frame | None:
    """A `with` that swallows a failing import; None for one that lets it through, as most do."""
    name = conditions.dotted(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2].lower()
    if isinstance(node, ast.Call) and name == "suppress":
        caught = {_catches(argument) for argument in node.args}
        found = next((one for one in ("any", "unsure", "module") if one in caught), "")
        return Frame("with", catches=found) if found else None
    # Helpers of others (`try_import()`, `optional_dependency(...)`): their name says what their code does.
    meant = ("import" in name and "time" not in name) or "optional" in name or "suppress" in name or "ignore" in name
    return Frame("with", catches="unsure") if meant else None
