"""What one start of a server is set to, by the engine's own names: the recipe's words where it says something, else the default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from bot.model.uses import Used
from bot.upstream.options.facts import Surveyed
from bot.upstream.options.lookup import meant

_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?")


class Said(Struct, frozen=True):
    """A value and who says so; `used` None: it is the engine's default."""

    value: Any
    used: Used | None = None


class Settings(Struct, kw_only=True):
    """One start: `given` are destinations with what the recipe gives them, `vague` those that it gives a value only a run knows."""

    given: dict[str, Said] = field(default_factory=dict)
    vague: set[str] = field(default_factory=set)
    models: dict[str, str] = field(default_factory=dict)


def starts(used: Iterable[Used], survey: Surveyed) -> list[Settings]:
    """The settings of each start, one for every file, variant, command and role."""
    groups: dict[tuple[str, str, str], list[Used]] = {}
    for one in used:
        groups.setdefault((one.at.file, one.start, one.role), []).append(one)
    made = [_settings(group, survey) for group in groups.values()]
    # Files of one recipe mostly differ in what no check looks at; those that do not differ at all are one.
    return list({repr(sorted((dest, repr(said.value)) for dest, said in one.given.items())) + repr(sorted(one.vague)): one
                 for one in reversed(made)}.values())[::-1]


def _settings(group: Sequence[Used], survey: Surveyed) -> Settings:
    made = Settings()
    for used in group:
        option = meant(survey, used.name).one
        if option is None:
            continue
        value = _value(used, option.switch)
        if used.conditional or value is None or option.dest in made.given:
            made.vague.add(option.dest)
        if value is not None:
            made.given[option.dest] = Said(value[0], used)
    for dest in made.vague:
        made.given.pop(dest, None)
    return made


def _value(used: Used, switch: bool) -> tuple[Any] | None:
    """The value as the engine's parser makes it; None where only a run knows it."""
    if used.value is None:
        return (not used.name.startswith("--no-"),) if switch else None
    return (read(used.value),)


def read(text: str) -> Any:
    """A number, truth value, JSON, or the text itself."""
    if text in ("None", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _PLAIN.fullmatch(text):
        return float(text) if "." in text or "e" in text.lower() else int(text)
    if text[:1] in "{[":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def inner(settings: Settings, cls: str) -> Mapping[str, Any] | None:
    """The JSON that an option gives to a class: `--speculative-config` to SpeculativeConfig."""
    for dest, said in settings.given.items():
        if dest.replace("_", "") == cls.lower() and isinstance(said.value, dict):
            return said.value
    return None


def holder(settings: Settings, cls: str) -> Said | None:
    """Who gives that JSON."""
    return next((said for dest, said in settings.given.items() if dest.replace("_", "") == cls.lower()), None)
