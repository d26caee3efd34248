"""Which checks a start passes by, and which of them end it for a recipe's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.model.uses import Used
from bot.upstream.options.expressions import PARSED, UNKNOWN
from bot.upstream.options.facts import Surveyed
from bot.upstream.options.judge import Judge, class_of
from bot.upstream.options.making import Makers, Site
from bot.upstream.options.scopes import ARGUMENTS, Scope
from bot.upstream.options.settings import Settings, holder

# Functions that every start goes through. Their own conditions count.
_ENTRIES = re.compile(r"__post_init__|__init__|model_post_init|create_engine_config|check_server_args|from_cli_args|validate\w*|"
                      r"prepare_server_args|run_resolution_pipeline|_?verify_args|check_args|cmd")
_ARGUMENTS = re.compile(r"(?:\w*_)?args|cfg|config|r")
# Functions of a parser file that turn what was parsed into what the engine keeps of it.
_MAKES = re.compile(r"main|from_\w*args|from_namespace|(?:create|make|build|get)_\w*(?:config|args|options)")
# Methods of a configuration that check it, whoever calls them.
_CHECKS = re.compile(r"_*(?:check|verify|validate|ensure)\w*")
_ARGUMENT_CLASSES = re.compile(r"\w*Args")
MAX_STEPS = 20_000
MAX_DEPTH = 8


class Ended(Struct, frozen=True, kw_only=True):
    """A check that raises for these settings. `sure`: every condition is decided by what the recipe itself sets; else a default, or
    the name of a model, decided one of them."""

    at: str
    said: str
    test: str
    used: tuple[Used, ...]
    sure: bool
    key: tuple[str, str]


class Walked(Struct, frozen=True, kw_only=True):
    """One start. `ended`: the checks that certainly end it; `checks` are the places of all checks of configurations, `decided`
    those of them of which the settings tell whether they raise."""

    ended: tuple[Ended, ...]
    checks: frozenset[str]
    decided: frozenset[str]


def walked(survey: Surveyed, settings: Settings, *, vendor: str, models: Mapping[str, str]) -> Walked:
    """Every check of a configuration, and those that end this start."""
    walk = _Walk(survey, settings, vendor, models)
    found = tuple(walk.run())
    checks = frozenset(walk.checks()) | set(walk.weighed)
    return Walked(ended=found, checks=checks, decided=checks & {at for at, known in walk.weighed.items() if known})


class _Walk:
    def __init__(self, survey: Surveyed, settings: Settings, vendor: str, models: Mapping[str, str]) -> None:
        self.survey, self.settings = survey, settings
        self.judge = Judge(survey, settings, vendor=vendor, models=models)
        self.judge.changed = self._changed
        self.by_name: dict[str, list[dict[str, Any]]] = {}
        for function in survey.functions:
            self.by_name.setdefault(function["name"], []).append(function)
        self.sets = self._setters()
        self.makers = Makers(survey, self.judge, self._plain)
        self.judge.made = self.makers
        self.weighed: dict[str, bool] = {}
        self.busy: set[tuple[str, str]] = set()
        self.parsers = survey.read[:1]
        self.may: dict[tuple[str, str], bool] = {}
        self.steps = 0
        self.done: set[tuple[str, int, str]] = set()

    def run(self) -> Iterator[Ended]:
        for function in self.survey.functions:
            cls = self._class(function["class"])
            if cls is not None and (function["validates"] or _ENTRIES.fullmatch(function["name"])):
                yield from self._function(function, self._scope(function, {"self": cls, "cls": cls}), False, 0)
            elif cls is None and self._opens(function):
                yield from self._function(function, self._plain(function), False, 0)

    def checks(self) -> Iterator[str]:
        """Where the checks of arguments and configurations stand, looked at or not. What is made of an option's JSON makes none
        where the recipe gives no such JSON."""
        for function in self.survey.functions:
            cls = function["class"]
            kept = cls.endswith(("Config", "Args")) or cls in self.makers.sites or self._class(cls) is not None
            runs = function["validates"] or _ENTRIES.fullmatch(function["name"]) or _CHECKS.fullmatch(function["name"])
            if kept and runs and not (self.judge.of_json(cls) and holder(self.settings, cls) is None):
                yield from (_place(function, guard) for guard in function["guards"] if guard["way"])

    def _opens(self, function: Mapping[str, Any]) -> bool:
        """Whether a function of a parser file is one by which every start goes, though it is no method of the arguments."""
        if function["file"] not in self.survey.parsers:
            return False
        takes = any(_ARGUMENTS.fullmatch(name) for name in function["parameters"]) or function["parses"]
        return takes and bool(_MAKES.fullmatch(function["name"]) or _ENTRIES.fullmatch(function["name"]))

    def _plain(self, function: Mapping[str, Any]) -> Scope:
        """What names mean in a function of which nobody knows who calls it."""
        cls = self._class(function["class"]) or function["class"]
        return self._scope(function, {"self": cls, "cls": cls} if cls else {})

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
        return Scope(names={**names, **mine, PARSED: ARGUMENTS})

    def _function(self, function: Mapping[str, Any], scope: Scope, default: bool, depth: int) -> Iterator[Ended]:
        given = repr([scope.names, {name: part for name, (part, _) in scope.values.items()}]) if scope.values else ""
        place = (function["file"], function["line"], given)
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
        said = self.judge.way(guard["way"], scope) if guard["way"] else None
        at = _place(function, guard)
        self.weighed[at] = self.weighed.get(at, True) and said is not None
        if said is not True or not self.judge.seen:
            return None
        return Ended(at=at, said=guard["said"], test=guard["test"], used=tuple(dict.fromkeys(self.judge.seen)),
                     sure=not self.judge.default, key=(function["name"], guard["said"] or str(guard["way"][-1])))

    def _follow(self, function: Mapping[str, Any], call: Mapping[str, Any], scope: Scope, default: bool,
                depth: int) -> Iterator[Ended]:
        """What a call leads to, where it certainly happens and its target is plain."""
        made = self.makers.called(function, call["name"])
        cls, targets = (made, list(self.makers.starts(made))) if made else self._targets(function, call["name"], call["on"])
        if not targets or (not made and len(targets) != 1):
            return
        self.judge.seen, self.judge.default = [], default
        happens, rests = self.judge.way(call["way"], scope), self.judge.default
        if happens is False:
            for target in targets:
                self.weighed = {**{_place(target, guard): True for guard in target["guards"]}, **self.weighed}
        if happens is not True:
            return
        site = Site(function=function, call=call, scope=scope)
        for target in targets:
            inside = self.makers.inside(site, made, target) if made else self._handed(target, cls, site)
            yield from self._function(target, inside, rests, depth + 1)

    def _handed(self, target: Mapping[str, Any], cls: str, site: Site) -> Scope:
        """What names mean in a function that is called: its object, and what it is given."""
        known = {"self": cls, "cls": cls} if cls else {}
        method = target["class"] and target["parameters"][:1] in (["self"], ["cls"])
        values = {}
        given = target["parameters"][1:] if method else target["parameters"]
        for parameter, part in [*zip(given, site.call["given"], strict=False), *site.call["named"].items()]:
            if found := self._held(part, site.scope):
                known[parameter] = found
            elif part != UNKNOWN and not _ARGUMENTS.fullmatch(parameter):
                values[parameter] = part, site.scope
        scope = self._scope(target, known)
        scope.values = {name: one for name, one in values.items() if name in target["parameters"]}
        return scope

    def _held(self, part: Sequence[Any], scope: Scope) -> str | None:
        """The class of an object that is handed on whole."""
        if part[0] == "call" and part[1] in self.survey.classes:
            return str(part[1])
        if part[0] != "attr" or part[1] not in scope.names:
            return None
        return scope.names[part[1]] if len(part) == 2 else class_of(self.survey, str(part[-1]))

    def _targets(self, function: Mapping[str, Any], whole: str, object_: Sequence[Any]) -> tuple[str, list[Mapping[str, Any]]]:
        """The class of the object that a call's target belongs to, and the target; several where nobody can tell which."""
        *on, name = whole.split(".")
        found = self.by_name.get(name, [])
        if on in (["self"], ["cls"], ["super"]):
            cls = self.survey.classes.get(function["class"])
            own = {*(() if on == ["super"] else (function["class"],)), *(cls.bases if cls else ())}
            return self._class(function["class"]) or function["class"], [one for one in found if one["class"] in own][:1]
        of = object_[1] if object_[0] == "call" and object_[1] in self.survey.classes else on[-1] if on else None
        of = of if of in self.survey.classes else class_of(self.survey, of) if of else None
        if of and (method := self.makers.method(of, name)):
            return self._class(of) or of, [method]
        return "", [one for one in found if not one["class"]]

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
        scope = self._plain(function)
        if self.makers.makes(cls) and self.makers.origin(cls, one["attr"]) == (function, one):
            return False  # that is how every object gets it
        target = self._target(one["on"], scope)
        if target is None:
            known = self.survey.classes.get(cls)
            if function["file"] not in (known.file if known else "", *self.parsers):
                return False
        elif target not in self.makers.line(cls):
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


def _place(function: Mapping[str, Any], guard: Mapping[str, Any]) -> str:
    return f"{function['file']}:{guard['line']}"
