"""The checks that end a start: every `raise`, `assert` and `parser.error` with the conditions on the way to it, and what may have
changed a setting before. Read from one file; whether a check is reached is judged over all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from bot.upstream.options import literals
from bot.upstream.options.expressions import PARSES, UNKNOWN, Encoded, dotted, encode

_VALIDATORS = ("model_validator", "field_validator", "validator", "root_validator")
_OF_FIELDS = ("field_validator", "validator")
_EXITS = ("sys.exit", "exit", "quit", "os._exit")
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_APART = (ast.stmt, ast.Lambda, ast.comprehension)
MAX_FOUND = 4000
MAX_GIVEN = 400
MAX_TEXT = 200
Way = tuple[tuple[Any, bool], ...]


def read(tree: ast.Module, lines: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every function with what it checks, sets and calls. With the file's lines each check has its condition as it is written."""
    made = [found for cls, node in _functions(tree) if (found := _Function(cls, node).run())]
    for guard in (guard for function in made for guard in function["guards"]):
        at = guard.pop("test")
        guard["test"] = lines[at - 1].strip()[:MAX_TEXT] if at <= len(lines) else ""
    return made


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for one in tree.body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield "", one
        elif isinstance(one, ast.ClassDef):
            for inner in one.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield one.name, inner


class _Function:
    def __init__(self, cls: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.cls, self.node = cls, node
        self.parameters = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self.local: dict[str, Encoded] = {}
        self.places: dict[str, Way] = {}
        self.guards: list[dict[str, Any]] = []
        self.tests: list[int] = []
        self.sets: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.parses = any(isinstance(one, ast.Attribute) and one.attr in PARSES for one in ast.walk(node))
        counts: dict[str, int] = {}
        for one in ast.walk(node):
            for name in _bound(one):
                counts[name] = counts.get(name, 0) + 1
        self.once = {name for name, count in counts.items() if count == 1 and name not in self.parameters}
        self.many = set(counts) - self.once

    def run(self) -> dict[str, Any] | None:
        self._body(self.node.body, ())
        if not (self.guards or self.sets or self.calls):
            return None
        validates, fields = _validates(self.node)
        return {"class": self.cls, "name": self.node.name, "line": self.node.lineno, "parameters": self.parameters,
                "validates": validates, "fields": fields, "parses": self.parses, "guards": self.guards[:MAX_FOUND],
                "sets": self.sets[:MAX_FOUND], "calls": self.calls[:MAX_FOUND]}

    def _body(self, body: list[ast.stmt], way: Way) -> bool:
        """Walks statements; whether they always end the function (or the loop's turn)."""
        for one in body:
            if isinstance(one, ast.If):
                way, ended = self._if(one, way)
                if ended:
                    return True
            elif isinstance(one, (ast.Raise, ast.Assert)):
                self._ends(one, way)
                if isinstance(one, ast.Raise):
                    return True
            elif isinstance(one, _ENDS):
                self._calls(one, way)
                return True
            else:
                self._other(one, way)
        return False

    def _if(self, one: ast.If, way: Way) -> tuple[Way, bool]:
        test = self._encode(one.test, way)
        self._calls(one.test, way)
        self.tests.append(one.lineno)
        first = self._body(one.body, (*way, (test, True)))
        second = self._body(one.orelse, (*way, (test, False))) if one.orelse else False
        self.tests.pop()
        if first and second:
            return way, True
        if first and _raises(one.body):
            return way, False  # where that one raised, the start has ended as well: what follows need not know whether it did
        return ((*way, (test, False)) if first else (*way, (test, True)) if second else way), False

    def _ends(self, one: ast.Raise | ast.Assert, way: Way) -> None:
        if isinstance(one, ast.Assert):
            self._guard(one.lineno, (*way, (self._encode(one.test, way), False)), literals.text(one.msg), "AssertionError")
            return
        call = one.exc if isinstance(one.exc, ast.Call) else None
        name = dotted(call.func if call else one.exc).rsplit(".", 1)[-1]
        if name and name not in ("StopIteration", "KeyboardInterrupt"):
            self._guard(one.lineno, way, literals.text(call.args[0]) if call and call.args else "", name)

    def _guard(self, line: int, way: Way, said: str, kind: str) -> None:
        tested = self.tests[-1] if self.tests and kind != "AssertionError" else line
        self.guards.append({"line": line, "way": [list(step) for step in way], "said": said, "kind": kind, "test": tested})

    def _other(self, one: ast.stmt, way: Way) -> None:
        maybe: Way = (*way, (UNKNOWN, True))
        self._calls(one, way)
        if isinstance(one, (ast.For, ast.AsyncFor, ast.While)):
            self._body(one.body, maybe)
            self._body(one.orelse, maybe)
        elif isinstance(one, (ast.With, ast.AsyncWith)):
            self._body(one.body, way)
        elif isinstance(one, ast.Try):
            self._body(one.body, maybe if one.handlers else way)
            for handler in one.handlers:
                self._body(handler.body, maybe)
            self._body(one.orelse, maybe)
            self._body(one.finalbody, way)
        elif isinstance(one, ast.Match):
            for case in one.cases:
                self._body(case.body, maybe)
        elif isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._set(one, way)

    def _set(self, one: ast.Assign | ast.AnnAssign | ast.AugAssign, way: Way) -> None:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        value = self._encode(one.value, way) if one.value is not None and not isinstance(one, ast.AugAssign) else UNKNOWN
        lone = len(targets) == 1 and not isinstance(targets[0], ast.Tuple)
        parts = [part for whole in targets for part in (whole.elts if isinstance(whole, ast.Tuple) else [whole])]
        for at, target in enumerate(parts):
            if isinstance(target, ast.Name) and target.id in self.once and len(targets) == 1:
                listed = not lone and value[0] == "list" and at + 1 < len(value)
                self.local[target.id] = value if lone else value[at + 1] if listed else ["item", value, at]
                self.places[target.id] = way
            elif isinstance(target, ast.Attribute):
                self.sets.append({"attr": target.attr, "on": self._encode(target.value, way), "way": [list(step) for step in way],
                                  "to": value if lone else UNKNOWN, "line": one.lineno})

    def _calls(self, one: ast.AST, way: Way) -> None:
        """Calls in a statement itself; the blocks below it come with their own conditions."""
        stack: list[ast.AST] = [one]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                self._call(node, way)
            stack += [child for child in ast.iter_child_nodes(node) if not isinstance(child, _APART)]

    def _call(self, node: ast.Call, way: Way) -> None:
        name = _called(node)
        if name == "setattr" and len(node.args) == 3:
            attr = literals.value(node.args[1]).get("is")
            self.sets.append({"attr": attr if isinstance(attr, str) else "*", "on": self._encode(node.args[0], way),
                              "way": [list(step) for step in way], "to": UNKNOWN, "line": node.lineno})
        elif name.endswith(".error") and "parser" in name:
            self._guard(node.lineno, way, literals.text(node.args[0]) if node.args else "", "SystemExit")
        elif name in _EXITS and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value not in (0, None):
            self._guard(node.lineno, way, "", "SystemExit")
        elif name:
            self.calls.append({"name": name, "way": [list(step) for step in way], "line": node.lineno,
                               "on": self._encode(node.func.value, way) if isinstance(node.func, ast.Attribute) else UNKNOWN,
                               **self._given(node, name, way)})

    def _given(self, node: ast.Call, name: str, way: Way) -> dict[str, Any]:
        """The arguments of a call. Of one that makes an object all count: what is not given there has the class's own default.
        `spread` are objects whose every attribute is handed on (`**vars(args)`), `open`: more is handed on than is read."""
        most = MAX_GIVEN if makes(name) else 12
        spread = [self._encode(_spread(one.value), way) for one in node.keywords if one.arg is None]
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        return {"given": [self._encode(part, way) for part in node.args[:most // 2]] if not starred else [],
                "named": {word.arg: self._encode(word.value, way) for word in node.keywords[:most] if word.arg},
                "spread": [one for one in spread if one != UNKNOWN],
                "open": starred or UNKNOWN in spread or len(node.args) > most // 2 or len(node.keywords) > most}

    def _encode(self, node: ast.AST | None, way: Way) -> Encoded:
        """With the local variables whose one assignment lies on the way here; those assigned often are unknown."""
        known = {name: value for name, value in self.local.items() if way[:len(self.places[name])] == self.places[name]}
        hidden = {name: UNKNOWN for name in self.many | (self.once - set(known))}
        return encode(node, {**hidden, **known})


def _raises(body: list[ast.stmt]) -> bool:
    """Whether statements that always end a function only ever do so by an exception."""
    return not any(isinstance(inner, (ast.Return, ast.Continue, ast.Break)) for one in body for inner in ast.walk(one))


def _bound(one: ast.AST) -> Iterator[str]:
    """Names that a node gives a value."""
    if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
        yield one.id


def makes(name: str) -> bool:
    """Whether a call of that name makes an object of a class."""
    last = name.rsplit(".", 1)[-1].lstrip("_")
    return name == "cls" or last[:1].isupper() and not last.isupper()


def _called(node: ast.Call) -> str:
    """The dotted name of what is called; `super.check` for `super().check`."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Call) and dotted(func.value.func) == "super":
        return f"super.{func.attr}"
    return dotted(func)


def _spread(node: ast.expr) -> ast.expr | None:
    """The object whose attributes a `**` hands on under their own names: `vars(args)`, `args.__dict__`, `asdict(self)`,
    `{name: getattr(args, name) for name in names}`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and dotted(node.func).rsplit(".", 1)[-1] in ("vars", "asdict"):
        return node.args[0]
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.DictComp) and isinstance(node.value, ast.Call) and dotted(node.value.func) == "getattr" \
            and len(node.value.args) >= 2 and ast.dump(node.value.args[1]) == ast.dump(node.key):
        return node.value.args[0]
    return None


def _validates(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[bool, list[str]]:
    """Whether pydantic calls a method when an object is made, and for which fields' values."""
    fields: list[str] = []
    found = False
    for one in node.decorator_list:
        name = dotted(one.func if isinstance(one, ast.Call) else one).rsplit(".", 1)[-1]
        if name in _VALIDATORS:
            found = True
            if isinstance(one, ast.Call) and name in _OF_FIELDS:
                fields += [part.value for part in one.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return found, fields
