"""Whether a condition of the engine's own code holds for a recipe's settings: yes, no, or nobody can tell.

Three values throughout. What a platform, a model's own configuration or a run decides is unknown, and an unknown part makes a
condition unknown unless another part decides it (`False and ?` is False).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.model.uses import Used
from bot.upstream.options.facts import Class, Surveyed
from bot.upstream.options.scopes import ARGUMENTS, Made, Scope, Unknown
from bot.upstream.options.settings import Said, Settings, holder, inner

_COMPARES: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda one, other: one in other, "not in": lambda one, other: one not in other,
    "is": lambda one, other: type(one) is type(other) and one == other,
    "is not": lambda one, other: type(one) is not type(other) or one != other,
}
_MATH: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod,
                                               "//": operator.floordiv}
_PLATFORMS = {"is_cuda": "cuda", "is_hip": "rocm", "is_rocm": "rocm"}
_SUFFIX = re.compile(r"(?:For[A-Z]\w*|Model|LMHead\w*)$")


class Judge:
    """One start's settings against one tree. `seen` are the recipe's settings that the last verdict looked at, `default` whether it
    rests on a default too, `changed` whether something may have set an attribute of a class before it is looked at."""

    def __init__(self, survey: Surveyed, settings: Settings, *, vendor: str = "", models: Mapping[str, str] | None = None) -> None:
        self.survey, self.settings, self.vendor, self.models = survey, settings, vendor, models or {}
        self.changed: Callable[[str, str], bool] = lambda cls, name: False
        self.made: Made | None = None
        self.seen: list[Used] = []
        self.default = False
        self.guessed = False

    def way(self, way: Sequence[Sequence[Any]], scope: Scope) -> bool | None:
        """Whether all the conditions on a way hold."""
        said: bool | None = True
        for test, wanted in way:
            found = self.test(test, scope)
            if found is None:
                said = None
            elif found is not wanted:
                return False
        return said

    def test(self, node: Sequence[Any], scope: Scope) -> bool | None:
        """A condition."""
        if node[0] == "not":
            inside = self.test(node[1], scope)
            return None if inside is None else not inside
        if node[0] in ("and", "or"):
            decides = node[0] == "or"
            said = [self.test(part, scope) for part in node[1:]]
            return decides if decides in said else None if None in said else not decides
        try:
            return bool(self.value(node, scope))
        except Unknown:
            return None

    def value(self, node: Sequence[Any], scope: Scope) -> Any:
        """What an expression is. Raises Unknown."""
        kind = node[0]
        if kind == "const":
            return node[1]
        if kind == "list":
            return [self.value(part, scope) for part in node[1:]]
        if kind == "attr":
            return self._attribute(node[1:], scope)
        if kind == "of":
            return self._of(node, scope)
        if kind in ("and", "or", "not"):
            found = self.test(node, scope)
            if found is None:
                raise Unknown
            return found
        if kind == "cmp":
            return self._compare(node, scope)
        if kind == "math":
            return self._math(node, scope)
        if kind == "call":
            return self._call(node, scope)
        raise Unknown

    def _compare(self, node: Sequence[Any], scope: Scope) -> bool:
        if node[1] not in _COMPARES:
            raise Unknown
        if node[1] in ("in", "not in") and (named := self._architecture(node, scope)) is not None:
            return named is (node[1] == "in")
        left, right = self.value(node[2], scope), self.value(node[3], scope)
        try:
            return _COMPARES[node[1]](left, right)
        except TypeError:
            raise Unknown from None

    def _math(self, node: Sequence[Any], scope: Scope) -> Any:
        left, right = self.value(node[2], scope), self.value(node[3], scope)
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if not numbers or (node[1] in ("%", "//") and not right):
            raise Unknown
        return _MATH[node[1]](left, right)

    def _call(self, node: Sequence[Any], scope: Scope) -> Any:
        name, on, given = node[1], node[2], node[3:]
        if name in _PLATFORMS and self.vendor:
            return self.vendor == _PLATFORMS[name]
        if name in ("lower", "upper", "strip") and not given:
            text = self.value(on, scope)
            if isinstance(text, str):
                return getattr(text, name)()
        if name in ("startswith", "endswith") and len(given) == 1:
            text, part = self.value(on, scope), self.value(given[0], scope)
            if isinstance(text, str) and isinstance(part, str):
                return getattr(text, name)(part)
        if name == "len" and len(given) == 1:
            inside = self.value(given[0], scope)
            if isinstance(inside, (str, list, dict)):
                return len(inside)
        if name == "get_args" and len(given) == 1 and given[0][0] == "attr" and given[0][-1] in self.survey.constants:
            return self.survey.constants[given[0][-1]]
        if name in ("bool", "int") and len(given) == 1:
            return {"bool": bool, "int": int}[name](self.value(given[0], scope))
        raise Unknown

    def _architecture(self, node: Sequence[Any], scope: Scope) -> bool | None:
        """`"K3DSparkModel" in self.draft_model_config.architectures`: True where the name of the recipe's model holds that of the
        architecture (`Kimi-K3-DSpark`), None else: a model's own configuration is not at hand, so it is never a No."""
        name, where = node[2], node[3]
        if name[0] != "const" or where[0] != "attr" or where[-1] not in ("architectures", "hf_architectures"):
            return None
        drafts = any("draft" in str(part) for part in where[1:])
        model = self._model(drafts)
        letters = re.sub(r"[^a-z0-9]", "", _SUFFIX.sub("", str(name[1])).lower())
        if model and len(letters) >= 4 and letters in re.sub(r"[^a-z0-9]", "", model.lower()):
            self.guessed = True
            return True
        raise Unknown

    def _model(self, drafts: bool) -> str:
        if drafts:
            told = inner(self.settings, "SpeculativeConfig") or {}
            found = told.get("model") or told.get("speculative_model")
            said = self.settings.given.get("speculative_draft_model_path")
            return str(found or (said.value if said else "")).rstrip("/").rsplit("/", 1)[-1]
        return self.models.get("model", "")

    def _of(self, node: Sequence[Any], scope: Scope) -> Any:
        """`ParallelConfig(...).tensor_parallel_size`, by way of a local variable."""
        made = node[1]
        if made[0] != "call" or made[1] not in self.survey.classes:
            raise Unknown
        return self._chain(made[1], node[2:])

    def _attribute(self, chain: Sequence[str], scope: Scope) -> Any:
        root, *rest = chain
        if root in scope.values:
            given, outer = scope.values[root]
            if rest and given[0] not in ("attr", "of"):
                raise Unknown
            return self.value([*given, *rest], outer)
        if not rest:
            if root in self.survey.constants:
                return self.survey.constants[root]
            raise Unknown
        cls = scope.names.get(root)
        if cls is None:
            if root[:1].isupper() and len(rest) == 1:
                return self._constant(root, rest[0])
            raise Unknown
        return self._chain(cls, rest)

    def _chain(self, cls: str, names: Sequence[str]) -> Any:
        for name in names[:-1]:
            cls = self._class_of(cls, name)
        return self._setting(cls, names[-1])

    def _constant(self, cls: str, name: str) -> Any:
        """`Backend.DISABLED`."""
        found = self.survey.settled.get(f"{cls}.{name}")
        if found and "cuda" in found[0]:
            return found[0]["cuda"]
        raise Unknown

    def _class_of(self, cls: str, name: str) -> str:
        """The class that an attribute holds: `target_parallel_config` a ParallelConfig."""
        found = class_of(self.survey, name)
        if found is None and (not name.endswith("_config") or "draft" in name):
            raise Unknown
        return found or name

    def _setting(self, cls: str, name: str) -> Any:
        """What the recipe, or else the engine, gives an attribute of a class."""
        if self.changed(cls, name):
            raise Unknown
        told = inner(self.settings, cls)
        if told is not None:
            return self._inside(cls, name, told)
        if self.made is not None and self.made.makes(cls) and (cls, name) not in self.survey.index.owned:
            return self.made.value(cls, name)
        if cls != ARGUMENTS and holder(self.settings, cls) is None and self.of_json(cls):
            raise Unknown
        dest = self._dest(cls, name)
        if dest is None or dest in self.settings.vague:
            raise Unknown
        if (cls, name) != (ARGUMENTS, dest) and self.changed(ARGUMENTS, dest):
            raise Unknown
        said = self.settings.given.get(dest)
        if said is not None:
            return self._take(said)
        option = self.survey.index.dests.get(dest)
        if option is None or option.default in (None, (None,)):
            raise Unknown  # a default of None is what the engine decides later
        self.default = True
        return option.default[0]

    def _inside(self, cls: str, name: str, told: Mapping[str, Any]) -> Any:
        held = holder(self.settings, cls)
        if name in told:
            return self._take(Said(told[name], held.used if held else None))
        known: Class | None = self.survey.classes.get(cls)
        if known is None or name not in known.fields:
            raise Unknown
        return self.fallback(known.fields[name])

    def fallback(self, field: Mapping[str, Any]) -> Any:
        """A field's own default. One that holds another configuration is filled in by whoever makes the object, whatever its
        default says, and so is one whose default is None. Raises Unknown."""
        default = field.get("default") or {}
        if default.get("is") is None or "Config" in field["type"]:
            raise Unknown
        self.default = True
        return default["is"]

    def of_json(self, cls: str) -> bool:
        """Whether an object of a class is made of an option's JSON: without it there is none."""
        return cls.lower() in self.survey.index.flat

    def _dest(self, cls: str, name: str) -> str | None:
        """The option behind an attribute: of the arguments by its destination, of a configuration by the field."""
        if cls == ARGUMENTS:
            return self.survey.index.attributes.get(name)
        owned = self.survey.index.owned.get((cls, name), set())
        if not owned and (option := self.survey.index.dests.get(name)) and option.owner is None:
            return name  # handed on under its own name, by a parser that names no class
        return next(iter(owned)) if len(owned) == 1 else None

    def same(self, cls: str, name: str, to: Sequence[Any]) -> bool:
        """Whether what is assigned is that very setting, by another of its names (`args.ep_size = args.expert_parallel_size`)."""
        dest = self._dest(cls, name)
        return dest is not None and to[0] == "attr" and self._dest(ARGUMENTS, str(to[-1])) == dest

    def _take(self, said: Said) -> Any:
        if said.used is not None:
            self.seen.append(said.used)
        return said.value


def class_of(survey: Surveyed, name: str) -> str | None:
    """The class that an attribute of such a name holds. A draft's own configuration is none of those that the options set."""
    known = survey.index.named
    if name not in known:
        flat = name.replace("_", "").lower()
        found = [one for one in survey.classes if one.endswith("Config") and flat.endswith(one.lower())]
        known[name] = max(found, key=len) if found and "draft" not in name else None
    return known[name]
