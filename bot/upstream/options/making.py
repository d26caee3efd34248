"""Where an engine makes configurations of its arguments (`ParallelConfig(tensor_parallel_size=self.tensor_parallel_size)`), and
what their attributes are then. An attribute is known only where every place that may make such an object gives it one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.upstream.options.expressions import PARSED
from bot.upstream.options.facts import Surveyed
from bot.upstream.options.guards import makes
from bot.upstream.options.judge import Judge
from bot.upstream.options.scopes import ARGUMENTS, Scope, Unknown

INITS = ("__init__", "__post_init__", "model_post_init")
Function = Mapping[str, Any]


class Site(Struct, frozen=True, kw_only=True):
    """One place that makes an object, and what names mean there."""

    function: Function
    call: Mapping[str, Any]
    scope: Scope


class Makers:
    """Every place of one tree. `scope` tells what names mean in a function."""

    def __init__(self, survey: Surveyed, judge: Judge, scope: Callable[[Function], Scope]) -> None:
        self.survey, self.judge = survey, judge
        self.methods: dict[str, list[Function]] = {}
        for function in survey.functions:
            self.methods.setdefault(function["class"], []).append(function)
        self.sites: dict[str, list[Site]] = {}
        for function in survey.functions:
            known = scope(function)
            told = function["parses"] or any(cls == ARGUMENTS for name, cls in known.names.items() if name != PARSED)
            for call in function["calls"] if told else ():
                if (cls := self.called(function, call["name"])) and not cls.endswith("Args"):
                    self.sites.setdefault(cls, []).append(Site(function=function, call=call, scope=known))
        self.busy: set[tuple[str, str]] = set()

    def called(self, function: Function, name: str) -> str:
        """The class whose object a call makes; "" where it makes none, or where two files have a class of that name."""
        cls = function["class"] if name == "cls" else name.rsplit(".", 1)[-1]
        known = self.survey.classes.get(cls)
        if known is None or not (name == "cls" or makes(cls)):
            return ""
        return cls if all(one["file"] == known.file for one in self.methods.get(cls, ())) else ""

    def makes(self, cls: str) -> bool:
        return cls in self.sites

    def line(self, cls: str) -> Sequence[str]:
        """The class and those that it is made of, nearest first."""
        known = self.survey.classes.get(cls)
        return (cls, *reversed(known.bases)) if known else (cls,)

    def method(self, cls: str, name: str) -> Function | None:
        """The method that an object of a class has under a name."""
        for one in self.line(cls):
            known = self.survey.classes.get(one)
            found = [method for method in self.methods.get(one, ()) if method["name"] == name]
            if found and known and all(method["file"] == known.file for method in found):
                return found[-1]
        return None

    def starts(self, cls: str) -> Iterator[Function]:
        """What runs whenever an object of a class is made."""
        seen: set[str] = set()
        for one in self.line(cls):
            for method in self.methods.get(one, ()):
                if (method["name"] in INITS or method["validates"]) and method["name"] not in seen:
                    seen.add(method["name"])
                    yield method

    def value(self, cls: str, name: str) -> Any:
        """An attribute of the object that the arguments make. Raises Unknown."""
        if (cls, name) in self.busy:
            raise Unknown
        self.busy.add((cls, name))
        try:
            return self._value(cls, name)
        finally:
            self.busy.discard((cls, name))

    def _value(self, cls: str, name: str) -> Any:
        found = [self._at(site, cls, name) for site in self.sites[cls]
                 if self.judge.way(site.call["way"], site.scope) is not False]
        if not found or any(type(one) is not type(found[0]) or one != found[0] for one in found):
            raise Unknown
        return found[0]

    def _at(self, site: Site, cls: str, name: str) -> Any:
        """What one place makes of an attribute: what it hands over, a default, or what the class works out of those."""
        init = self.method(cls, "__init__") is not None
        known = self.survey.classes[cls]
        field = known.fields.get(name)
        if init or field is None or field.get("hidden"):
            origin = self.origin(cls, name)
            if origin is None:
                raise Unknown
            function, said = origin
            return self.judge.value(said["to"], self.inside(site, cls, function))
        given = self._given(site.call, list(known.fields))
        keys = [one for one in (name, *field.get("keys", ())) if one in given]
        if keys:
            return self.judge.value(given[keys[0]], site.scope)
        if site.call["open"]:
            raise Unknown
        if site.call["spread"]:
            return self._spread(site, name)
        return self.judge.fallback(field)

    def _spread(self, site: Site, name: str) -> Any:
        """An attribute of the object whose every attribute is handed on. Of several nobody knows which one has it."""
        if len(site.call["spread"]) != 1:
            raise Unknown
        on = site.call["spread"][0]
        return self.judge.value([*on, name] if on[0] == "attr" else ["?"], site.scope)

    def inside(self, site: Site, cls: str, function: Function) -> Scope:
        """What names mean in a method that runs when a place makes its object."""
        first, *rest = function["parameters"] or ["self"]
        scope = Scope(names={first: cls})
        if function["name"] == "__init__":
            scope.values |= {name: (part, site.scope) for name, part in self._given(site.call, rest).items() if name in rest}
        elif len(function["fields"]) == 1 and rest:  # a validator's second parameter is the field's value
            scope.values[rest[0]] = (["attr", first, function["fields"][0]], Scope(names={first: cls}))
        return scope

    def origin(self, cls: str, name: str) -> tuple[Function, Mapping[str, Any]] | None:
        """The one assignment by which every object gets an attribute that nobody hands over."""
        known = self.survey.classes.get(cls)
        if known is None or (name in known.fields and not known.fields[name].get("hidden") and not self.method(cls, "__init__")):
            return None
        found = [(function, one) for part in self.line(cls) for function in self.methods.get(part, ()) for one in function["sets"]
                 if one["attr"] in (name, "*")]
        if len(found) != 1 or found[0][1]["way"] or found[0][0]["name"] not in INITS:
            return None
        function, one = found[0]
        return found[0] if list(one["on"]) == ["attr", *function["parameters"][:1]] else None

    def _given(self, call: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
        return {**dict(zip(order, call["given"], strict=False)), **call["named"]}
