"""Which checks a start passes by, and which of them end it for a recipe's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.model.uses import Used
from bot.upstream.options.facts import Surveyed
from bot.upstream.options.judge import ARGUMENTS, Judge, Scope, class_of
from bot.upstream.options.settings import Settings, holder

# Functions that every start goes through. Their own conditions count.
_ENTRIES = re.compile(r"__post_init__|__init__|model_post_init|create_engine_config|check_server_args|from_cli_args|validate\w*|"
                      r"prepare_server_args|run_resolution_pipeline|_?verify_args|check_args|cmd")
_ARGUMENTS = re.compile(r"(?:\w*_)?args|cfg|config|r")
_ARGUMENT_CLASSES = re.compile(r"\w*Args")
MAX_STEPS = 20_000
MAX_DEPTH = 8


class Ended(Struct, frozen=True, kw_only=True):
    """A check that raises for these settings. `sure`: every condition is decided by what the recipe itself sets; else a default, or
    the name of a model, decided one of them."""

    at: str
    said: str
    used: tuple[Used, ...]
    sure: bool
    key: tuple[str, str]


def ended(survey: Surveyed, settings: Settings, *, vendor: str, models: Mapping[str, str]) -> list[Ended]:
    """Every check that certainly ends this start."""
    return list(_Walk(survey, settings, vendor, models).run())


class _Walk:
    def __init__(self, survey: Surveyed, settings: Settings, vendor: str, models: Mapping[str, str]) -> None:
        self.survey, self.settings = survey, settings
        self.judge = Judge(survey, settings, vendor=vendor, models=models)
        self.judge.changed = self._changed
        self.by_name: dict[str, list[dict[str, Any]]] = {}
        for function in survey.functions:
            self.by_name.setdefault(function["name"], []).append(function)
        self.sets = self._setters()
        self.busy: set[tuple[str, str]] = set()
        self.parsers = survey.read[:1]
        self.may: dict[tuple[str, str], bool] = {}
        self.steps = 0
        self.done: set[tuple[str, int]] = set()

    def run(self) -> Iterator[Ended]:
        for function in self.survey.functions:
            cls = self._class(function["class"])
            if cls is None or not (function["validates"] or _ENTRIES.fullmatch(function["name"])):
                continue
            yield from self._function(function, self._scope(function, {"self": cls, "cls": cls}), False, 0)

    def _class(self, name: str) -> str | None:
        """What `self` is in a method that every start goes through; None for a class that it may never make."""
        if not name:
            return None
        if _ARGUMENT_CLASSES.fullmatch(name):
            return ARGUMENTS
        if holder(self.settings, name) is not None or name in self.survey.index.owners:
            return name
        return None

    def _scope(self, function: Mapping[str, Any], known: Mapping[str, str]) -> Scope:
        names = {name: ARGUMENTS for name in function["parameters"] if _ARGUMENTS.fullmatch(name)}
        first = function["parameters"][:1]
        mine = {name: cls for name, cls in known.items() if name in function["parameters"] or name in first}
        return Scope(names={**names, **mine})

    def _function(self, function: Mapping[str, Any], scope: Scope, default: bool, depth: int) -> Iterator[Ended]:
        place = (function["file"], function["line"])
        if depth > MAX_DEPTH or place in self.done or self.steps > MAX_STEPS:
            return
        self.done.add(place)
        for guard in function["guards"]:
            if found := self._guard(function, guard, scope, default):
                yield found
        for call in function["calls"]:
            self.steps += 1
            yield from self._follow(function, call, scope, default, depth)

    def _guard(self, function: Mapping[str, Any], guard: Mapping[str, Any], scope: Scope, default: bool) -> Ended | None:
        self.judge.seen, self.judge.default, self.judge.guessed = [], default, False
        if not guard["way"] or self.judge.way(guard["way"], scope) is not True or not self.judge.seen:
            return None
        return Ended(at=f"{function['file']}:{guard['line']}", said=guard["said"], used=tuple(dict.fromkeys(self.judge.seen)),
                     sure=not self.judge.default, key=(function["name"], guard["said"] or str(guard["way"][-1])))

    def _follow(self, function: Mapping[str, Any], call: Mapping[str, Any], scope: Scope, default: bool,
                depth: int) -> Iterator[Ended]:
        """What a call leads to, where it certainly happens and its target is plain."""
        name = call["name"].rsplit(".", 1)[-1]
        targets = self._targets(function, call["name"], name)
        if len(targets) != 1:
            return
        self.judge.seen, self.judge.default = [], default
        if self.judge.way(call["way"], scope) is not True:
            return
        target, rests = targets[0], self.judge.default
        known: dict[str, str] = {}
        if target["class"] and (cls := self._class(target["class"])):
            known = {"self": cls, "cls": cls}
        given = target["parameters"][1:] if target["class"] else target["parameters"]
        for parameter, part in [*zip(given, call["given"], strict=False), *call["named"].items()]:
            if part[:1] == ["attr"] and len(part) == 2 and part[1] in scope.names:
                known[parameter] = scope.names[part[1]]
        yield from self._function(target, self._scope(target, known), rests, depth + 1)

    def _targets(self, function: Mapping[str, Any], whole: str, name: str) -> Sequence[dict[str, Any]]:
        found = self.by_name.get(name, [])
        if whole.startswith(("self.", "cls.", "super.")):
            cls = self.survey.classes.get(function["class"])
            own = {function["class"], *(cls.bases if cls else ())}
            return [one for one in found if one["class"] in own][:1]
        return [one for one in found if not one["class"]]

    def _setters(self) -> dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]:
        """Every place that sets an attribute of that name, on anything; `*` sets any."""
        made: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
        for function in self.survey.functions:
            for one in function["sets"]:
                made.setdefault(one["attr"], []).append((function, one))
        return made

    def _changed(self, cls: str, name: str) -> bool:
        """Whether something may give an attribute another value before a check looks at it: an assignment whose conditions do not
        certainly fail, unless it gives the value that is there already."""
        if (cls, name) in self.busy:
            return False
        if (cls, name) in self.may:
            return self.may[cls, name]
        self.busy.add((cls, name))
        seen, default, guessed = list(self.judge.seen), self.judge.default, self.judge.guessed
        try:
            found = any(self._may(function, one, cls) for function, one in self.sets.get(name, ()))
            if len(self.busy) == 1:  # what is found on the way to another answer may rest on it
                self.may[cls, name] = found
            return found
        finally:
            self.busy.discard((cls, name))
            self.judge.seen, self.judge.default, self.judge.guessed = seen, default, guessed

    def _may(self, function: Mapping[str, Any], one: Mapping[str, Any], cls: str) -> bool:
        """Whether an assignment may concern an object of that class, and may happen. Of an object that nobody knows only what
        stands beside the class, or where the command line is read, is taken for one."""
        own = function["class"] and (self._class(function["class"]) or function["class"])
        scope = self._scope(function, {"self": own} if own else {})
        target = self._target(one["on"], scope)
        if target is None:
            known = self.survey.classes.get(cls)
            if function["file"] not in (known.file if known else "", *self.parsers):
                return False
        elif target != cls:
            return False
        return not self.judge.same(cls, one["attr"], one["to"]) and self.judge.way(one["way"], scope) is not False

    def _target(self, on: Sequence[Any], scope: Scope) -> str | None:
        if on[:1] != ["attr"]:
            return None
        if len(on) == 2:
            return scope.names.get(on[1]) or class_of(self.survey, on[1])
        if "draft" in str(on[-1]):
            return "-"  # the draft's own configuration
        return ARGUMENTS if str(on[-1]).endswith("args") else class_of(self.survey, str(on[-1]))
