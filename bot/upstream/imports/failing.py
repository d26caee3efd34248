"""What becomes of the failure of an import: which handlers and contexts swallow it, and which hand on another one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.upstream.imports.conditions import dotted
from bot.upstream.imports.records import BODY, Frame, Handler, Try

EVERY = "*"
"""What an `except` without a class catches."""
SAME = ""
_ANY = {"ImportError", "Exception", "BaseException"}
_MODULE = {"ModuleNotFoundError"}
# Exceptions that no failing import is. A class of somebody's own may well be one, as may a name for several.
_OTHER = {"OSError", "RuntimeError", "AttributeError", "ValueError", "TypeError", "KeyError", "IndexError", "NameError",
          "LookupError", "AssertionError", "NotImplementedError", "SyntaxError", "StopIteration", "KeyboardInterrupt", "SystemExit",
          "FileNotFoundError", "PermissionError", "UnicodeDecodeError", "IOError", "EnvironmentError", "ArithmeticError",
          "ZeroDivisionError", "MemoryError", "RecursionError", "TimeoutError", "Warning", "DeprecationWarning"}
_EXITS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
_FAILURES = {"module": ModuleNotFoundError, "name": ImportError}


def _below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)


_CLASSES = {kind.__name__: kind for kind in _below(BaseException) if kind.__module__ == "builtins"} \
    | {"IOError": OSError, "EnvironmentError": OSError}


def handler(node: ast.ExceptHandler, exits: Collection[str]) -> Handler:
    """`exits` are functions of the file that end the program."""
    caught = (EVERY,) if node.type is None else tuple(sorted(_words(node.type)))
    ending = ends(node.body, exits, node.name)
    return Handler(catches(node.type), ending is not None, caught, ending or SAME)


def catches(kind: ast.expr | None) -> str:
    """What an `except` catches of the ways in which an import fails: `any`, `module`, `` (none), or `unsure`."""
    if kind is None:
        return "any"
    words = _words(kind)
    if words & _ANY:
        return "any"
    if words - _MODULE - _OTHER:
        return "unsure"
    return "module" if words & _MODULE else ""


def _words(kind: ast.expr) -> set[str]:
    return {dotted(one).rpartition(".")[2] for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}


def ends(body: Sequence[ast.stmt], exits: Collection[str], caught: str | None = None) -> str | None:
    """The failure in which a handler certainly ends: a class, SAME where it hands on what it caught; None where it may not end
    so, "?" where it is one of several."""
    for node in body:
        told: str | None = None
        if isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = "" if raised is None else dotted(raised).rpartition(".")[2] or "?"
            told = SAME if raised is None or name == caught else name
        elif isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and not node.test.value:
            told = "AssertionError"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = dotted(node.value.func)
            told = "SystemExit" if called in _EXITS or called in exits else None
        elif isinstance(node, ast.If) and node.orelse:
            sides = {ends(node.body, exits, caught), ends(node.orelse, exits, caught)}
            told = None if None in sides else sides.pop() if len(sides) == 1 else "?"
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            told = ends(node.body, exits, caught)
        if told is not None:
            return told
    return None


def swallowed(frames: Sequence[Frame], tries: Sequence[Try], failure: str) -> bool:
    """Whether somebody around a statement swallows its failure (`module`, `name`), from the inside out."""
    for frame in reversed(frames):
        if frame.kind == "with":
            if frame.catches in ("any", "unsure") or (frame.catches == "module" and failure == "module"):
                return True
        elif frame.kind == "try" and frame.part == BODY:
            place = catcher(tries[frame.at], failure)
            if place is None:
                continue
            one = tries[frame.at].handlers[place]
            if not one.ends:
                return True
            failure = _handed_on(one.raises, failure)
    return False


def catcher(tried: Try, failure: str) -> int | None:
    """The handler that a failure comes to: `module`, `name`, or the name of a class."""
    for place, one in enumerate(tried.handlers):
        if _comes_to(one, failure) and not (one.catches == "unsure" and one.ends):
            return place
    return None


def _comes_to(one: Handler, failure: str) -> bool:
    if failure in _FAILURES:
        return one.catches in ("any", "unsure") or one.catches == failure
    raised = _builtin(failure)
    kinds = [_builtin(kind) for kind in one.kinds]
    return EVERY in one.kinds or raised is None or any(kind is None or issubclass(raised, kind) for kind in kinds)


def _handed_on(raised: str, failure: str) -> str:
    """The failure after a handler raised. Somebody's own class may be of any kind: it counts as what was caught."""
    kind = _builtin(raised)
    if kind is None:
        return failure
    return {ModuleNotFoundError: "module", ImportError: "name"}.get(kind, raised)


def _builtin(name: str) -> type[BaseException] | None:
    return _CLASSES.get(name)


def exiting(body: Sequence[ast.stmt]) -> set[str]:
    """The functions of a file that certainly end the program, or fail."""
    return {node.name for node in body if isinstance(node, ast.FunctionDef) and ends(node.body, ()) is not None
            and not any(isinstance(inner, (ast.Return, ast.Yield)) for inner in ast.walk(node))}


def contexts(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The contexts of a file that swallow a failing import, with what they catch: other names of `suppress`, and its own."""
    found: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "contextlib":
            found |= {alias.asname: "suppress" for alias in node.names if alias.name == "suppress" and alias.asname}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(map(_is_maker, node.decorator_list)):
            kinds = {catches(one.type) for tried in ast.walk(node) if isinstance(tried, ast.Try) and _yields(tried.body)
                     for one in tried.handlers if ends(one.body, ()) is None}
            if widest := _widest(kinds):
                found[node.name] = widest[0]
        elif isinstance(node, ast.ClassDef):
            leaving = [one for one in node.body if getattr(one, "name", "") in ("__exit__", "__aexit__")]
            if any(isinstance(inner, ast.Return) and not _is_nothing(inner.value) for one in leaving for inner in ast.walk(one)):
                found[node.name] = "unsure"
    return found


def context(node: ast.expr, own: Mapping[str, str]) -> Iterator[Frame]:
    """The frame of a `with` that swallows a failing import; none for one that lets it through, as most do."""
    whole = dotted(node.func if isinstance(node, ast.Call) else node)
    name = whole.rpartition(".")[2].lower()
    if isinstance(node, ast.Call) and (name == "suppress" or own.get(whole) == "suppress"):
        yield from (Frame("with", catches=kind) for kind in _widest({catches(argument) for argument in node.args}))
        return
    # Helpers of others (`try_import()`, `optional_dependency(...)`): their name says what their code does.
    meant = ("import" in name and "time" not in name) or "optional" in name or "suppress" in name or "ignore" in name
    if whole in own or meant:
        yield Frame("with", catches=own.get(whole, "unsure"))


def entered(node: ast.With | ast.AsyncWith, own: Mapping[str, str]) -> Iterator[Frame]:
    """What an `ExitStack` enters further on: `stack.enter_context(suppress(ImportError))`."""
    calls = [item.context_expr.func for item in node.items if isinstance(item.context_expr, ast.Call)]
    if any(dotted(call).endswith("ExitStack") for call in calls):
        for inner in (inner for statement in node.body for inner in ast.walk(statement)):
            if isinstance(inner, ast.Call) and inner.args and dotted(inner.func).endswith("enter_context"):
                yield from context(inner.args[0], own)


def _widest(kinds: Collection[str]) -> list[str]:
    return [one for one in ("any", "unsure", "module") if one in kinds][:1]


def _is_maker(node: ast.expr) -> bool:
    return dotted(node).rpartition(".")[2] in ("contextmanager", "asynccontextmanager")


def _yields(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(inner, ast.Yield) for node in body for inner in ast.walk(node))


def _is_nothing(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and not node.value)
