"""From what single files say to the options of the engine: fields that become options, inheritance, defaults and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot.upstream.engines import Engine
from bot.upstream.options.facts import Class, Option, Surveyed, dashed

Resolve = Callable[[str, str], tuple[str, str] | None]
_SWITCHES = ("store_true", "store_false", "store_const", "count", "BooleanOptionalAction", "StoreTrue", "StoreConst",
             "StoreBoolean")
_TYPES = frozenset("Optional Union List Dict Any None Literal Type Tuple Annotated Callable".split())
_DEEP = 8


def build(name: str, engine: Engine, known: Mapping[str, Any], parsers: Sequence[str], resolve: Resolve) -> Surveyed:
    """Everything of one tree together."""
    maker = _Maker(known, resolve, engine)
    options = maker.options()
    made: dict[str, Option] = {}
    for option in options:
        for one in option.names:
            made.setdefault(dashed(one), option)
        if option.negatable:
            made.setdefault("--no-" + dashed(option.main)[2:], option)
    variables = {name: f"{path}:{line}" for path in engine.environment if known.get(path)
                 for name, line in known[path]["variables"].items()}
    missing = [path for path in engine.parsers if path not in known] if not parsers else []
    return Surveyed(engine=name, options=made, classes=maker.classes(),
                    functions=[{**one, "file": path} for path, facts in known.items() if facts for one in facts["functions"]],
                    variables=variables, settled=maker.settled(), constants=maker.lists(), parsers=tuple(parsers),
                    read=tuple(path for path, facts in known.items() if facts is not None),
                    unread=(*(path for path, facts in known.items() if facts is None), *missing), open=tuple(maker.open),
                    abbreviates=all(facts["abbreviates"] for path in parsers if (facts := known.get(path))),
                    registry=any(known.get(path) for path in engine.environment))


class _Maker:
    def __init__(self, known: Mapping[str, Any], resolve: Resolve, engine: Engine) -> None:
        self.known, self.resolve, self.engine = known, resolve, engine
        self.open: list[str] = []
        self.made: dict[tuple[str, str], Class] = {}

    def classes(self) -> dict[str, Class]:
        """Every class of the files, by its name; of two of one name that with more fields."""
        found: dict[str, Class] = {}
        for path, facts in self.known.items():
            for name in facts["classes"] if facts else ():
                one = self._class(path, name)
                if one and (name not in found or len(one.fields) > len(found[name].fields)):
                    found[name] = one
        return found

    def options(self) -> list[Option]:
        found: list[Option] = []
        for path, facts in self.known.items():
            if facts:
                found += [self._option(path, one) for one in facts["options"]]
                for one in facts["open"]:
                    found += self._opened(path, one)
        if self.engine.settings:
            found += self._keys()
        # The more is known of an option, the better; a plain field comes last.
        return sorted(found, key=lambda option: not option.names[0].startswith("-"))

    def _class(self, path: str, name: str, depth: int = 0) -> Class | None:
        """A class with the fields of its bases below its own."""
        facts = self.known.get(path)
        if not facts or name not in facts["classes"] or depth > _DEEP:
            return None
        if (path, name) not in self.made:
            one = facts["classes"][name]
            fields: dict[str, dict[str, Any]] = {}
            bases: list[str] = []
            for base in reversed(one["bases"]):
                at = self.resolve(path, base) if base else None
                if at and (above := self._class(at[0], at[1], depth + 1)):
                    fields |= above.fields
                    bases += [above.name, *above.bases]
            own = {key: {**value, "at": f"{path}:{value['line']}", "file": path} for key, value in one["fields"].items()}
            changed = {key: {**fields[key], "default": value} for key, value in one["plain"].items() if key in fields}
            self.made[path, name] = Class(name=name, file=path, fields={**fields, **changed, **own}, strict=one["strict"],
                                          bases=tuple(bases))
        return self.made[path, name]

    def _option(self, path: str, one: Mapping[str, Any]) -> Option:
        dest = one.get("dest") or next((name for name in one["names"] if name.startswith("--")), one["names"][0]).lstrip("-")
        given = self._of_field(path, one["field"]) if "field" in one else {}
        default = one.get("default") or given.get("default")
        action = one.get("action") or given.get("action") or ""
        boolean = not one.get("action") and given.get("boolean", False)
        choices = one.get("choices", given.get("choices"))
        where = given.get("path", path) if "choices" not in one and "choices" in given else path
        return Option(names=tuple(one["names"]), dest=dest.replace("-", "_"), at=f"{path}:{one['line']}",
                      default=self.value(path if one.get("default") else given.get("path", path), default),
                      choices=self._choices(where, choices), help=one.get("help") or given.get("help", ""),
                      switch=_switches(action) or boolean or one.get("nargs") == 0 or bool(one.get("refused")),
                      negatable="BooleanOptional" in action or boolean, deprecated=bool(one.get("deprecated")),
                      instead=one.get("instead", ""), refused=one.get("refused", ""), kind=one.get("type", ""),
                      owner=(one["field"][0].rsplit(".", 1)[-1], one["field"][1]) if "field" in one else None)

    def _of_field(self, path: str, field: Sequence[str]) -> dict[str, Any]:
        """What a class's field says of the option made of it."""
        at = self.resolve(path, field[0])
        cls = self._class(*at) if at else None
        made = cls.fields.get(field[1]) if cls else None
        if made is None:
            return {}
        return {"default": made.get("default"), "choices": made.get("choices") or _alias(made["type"]),
                "help": made.get("help", ""), "path": made["file"], "boolean": _boolean(made["type"])}

    def _opened(self, path: str, one: Mapping[str, Any]) -> Iterator[Option]:
        """Options made of a class's fields in a loop: by a method for its own class, by a function for those that it is given."""
        owners = [self._class(path, name) for name in self._heirs(path, one["class"])] if one["class"] else \
            [self._class(*at) for at in self._given(one["function"])]
        found = [owner for owner in owners if owner and owner.fields]
        if not found:
            self.open.append(f"{path}:{one['line']}")
        for owner in found:
            yield from self._fields(owner)

    def _heirs(self, path: str, name: str) -> list[str]:
        facts = self.known[path]
        heirs = [other for other in facts["classes"] if other != name and name in (self._class(path, other) or _NONE).bases]
        return [*heirs, name]

    def _given(self, function: str) -> Iterator[tuple[str, str]]:
        """The classes that a function is called with, anywhere."""
        for path, facts in self.known.items():
            for call in facts["calls"] if facts else ():
                if call["name"].rsplit(".", 1)[-1] == function:
                    yield from (at for one in call["given"] if (at := self.resolve(path, one)) and self._class(*at))

    def _fields(self, owner: Class) -> Iterator[Option]:
        told = [key for key, one in owner.fields.items() if one.get("told")]
        for key, one in owner.fields.items():
            if one.get("hidden") or (told and not one.get("told")):
                continue
            boolean = _boolean(one["type"])
            names = [*(one.get("names") or ["--" + key.replace("_", "-")]), *one.get("aliases", [])]
            action = one.get("action") or ""
            yield Option(names=tuple(names), dest=key, at=one["at"], default=self.value(one["file"], one.get("default")),
                         choices=self._choices(one["file"], one.get("choices")), help=one.get("help", ""),
                         switch=_switches(action) or (boolean and not action),
                         negatable="BooleanOptional" in action or (boolean and not told), owner=(owner.name, key),
                         deprecated="deprecated" in action.lower())

    def _keys(self) -> Iterator[Option]:
        """The keys of a configuration file: fields of the settings class, and of the classes that these hold."""
        for path, facts in self.known.items():
            if facts and self.engine.settings in facts["classes"] and (cls := self._class(path, self.engine.settings)):
                yield from self._below(cls, "", 0)
                return

    def _below(self, cls: Class, prefix: str, depth: int) -> Iterator[Option]:
        for key, one in cls.fields.items():
            for name in (key, *one.get("keys", ())):
                yield Option(names=(prefix + name,), dest=prefix + key, at=one["at"],
                             default=self.value(one["file"], one.get("default")),
                             choices=self._choices(one["file"], one.get("choices")), help=one.get("help", ""),
                             owner=(cls.name, key), deprecated=bool(one.get("deprecated")), kind=one["type"])
            for inner in _classes_in(one["type"]) if depth < 3 else ():
                at = self.resolve(one["file"], inner)
                if at and at[1] != cls.name and (below := self._class(*at)):
                    yield from self._below(below, f"{prefix}{key}.", depth + 1)

    def value(self, path: str, said: Any, depth: int = 0) -> tuple[Any, ...] | None:
        """The value that a file writes there, through names of other values; None where it is made at run time."""
        if not isinstance(said, dict) or depth > _DEEP:
            return None
        if "is" in said:
            return (said["is"],)
        if "of" not in said:
            return None
        at = self.resolve(path, said["of"])
        facts = self.known.get(at[0]) if at else None
        if not at or not facts:
            return None
        head, _, rest = at[1].partition(".")
        if not rest:
            return self.value(at[0], facts["constants"].get(head), depth + 1)
        cls = self._class(at[0], head)
        if cls and rest in cls.fields:
            one = cls.fields[rest]
            return self.value(one["file"], one.get("default"), depth + 1)
        plain = facts["classes"].get(head, {}).get("plain", {}).get(rest) if cls else None
        return self.value(at[0], plain, depth + 1)

    def lists(self) -> dict[str, list[Any]]:
        """Named lists and `Literal[...]` types; a name that two files give different ones is left out."""
        found: dict[str, list[Any]] = {}
        twice: set[str] = set()
        for facts in self.known.values():
            for name, said in facts["constants"].items() if facts else ():
                if isinstance(said.get("is"), list):
                    twice |= {name} if found.get(name, said["is"]) != said["is"] else set()
                    found[name] = said["is"]
        return {name: value for name, value in found.items() if name not in twice}

    def settled(self) -> dict[str, tuple[dict[str, Any], str]]:
        """The defaults of every configuration class, also of those that it makes of another."""
        found: dict[str, tuple[dict[str, Any], str]] = {}
        for name, cls in self.classes().items():
            for key, one in cls.fields.items() if name.endswith("Config") else ():
                said = one.get("default")
                parts = {f".{inner}": value for inner, value in said["with"].items()} if said and "with" in said else {"": said}
                for inner, value in parts.items():
                    every = {platform: self._on(one["file"], value, platform) for platform in ("cuda", "rocm")}
                    platforms = {platform: told[0] for platform, told in every.items() if told}
                    if platforms:
                        found[f"{name}.{key}{inner}"] = platforms, one["at"]
        return found

    def _on(self, path: str, said: Any, platform: str) -> tuple[Any, ...] | None:
        """A default on one platform; one that a function answers with is looked up there."""
        if isinstance(said, dict) and "asks" in said:
            at = self.resolve(path, said["asks"])
            facts = self.known.get(at[0]) if at else None
            told = facts["defaults"].get(at[1]) if at and facts else None
            return self.value(at[0], told.get(platform, told)) if at and told else None
        return self.value(path, said)

    def _choices(self, path: str, said: Any) -> tuple[Any, ...] | None:
        if isinstance(said, list):
            return tuple(said)
        found = self.value(path, said)
        return tuple(found[0]) if found and isinstance(found[0], list) else None


_NONE = Class(name="", file="", fields={})


def _boolean(kind: str) -> bool:
    words = {word.strip() for word in kind.replace("Optional[", "").replace("]", "").split("|")}
    return "bool" in words and not words & {"str", "int", "float"}


def _alias(kind: str) -> dict[str, Any] | None:
    """A type that is the name of a `Literal[...]` elsewhere (`CacheDType`)."""
    words = [word.strip() for word in kind.replace("Optional[", "").replace("]", "").split("|")]
    names = [word for word in words if word not in ("None", "") and word[:1].isupper()]
    return {"of": names[0]} if len(names) == 1 and len([word for word in words if word != "None"]) == 1 else None


def _classes_in(kind: str) -> list[str]:
    words = "".join(char if char.isalnum() or char in "_." else " " for char in kind).split()
    return [word for word in words if word[:1].isupper() and word not in _TYPES]


def _switches(action: str) -> bool:
    return any(word in action for word in _SWITCHES)
