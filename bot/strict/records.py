"""Plain values into records, with the path of what does not hold found where msgspec leaves it open."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from bot.errors import BadInput
from bot.strict.words import Path, key_of, one_line

T = TypeVar("T")
Lines = dict[tuple[str | int, ...], int]
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*)`$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`$", re.DOTALL)
_AT = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_ANY = "..."
_UNQUOTED = re.compile(r"Expected `str.*`, got `(?:int|float|bool|date|datetime|null)`")


def as_record(kind: type[T], value: Any, lines: Lines, file: str, *, str_keys: bool = False) -> T:
    """`value` as `kind`, or BadInput with the line (from `lines`) and the path of what does not hold."""

    def told(value: Any) -> str | None:
        try:
            msgspec.convert(value, kind, strict=True, str_keys=str_keys)
        except msgspec.ValidationError as error:
            return str(error)
        return None

    try:
        return msgspec.convert(value, kind, strict=True, str_keys=str_keys)
    except msgspec.ValidationError as error:
        message = str(error)
    path = _place(message, value, told)
    reason = _AT.sub("", message)
    unknown, missing = _UNKNOWN.search(reason), _MISSING.search(reason)
    if unknown:
        path, reason, hint = (*path, unknown["key"]), "unknown key", "remove it or correct its spelling"
    elif missing:
        reason, hint = f"the key `{one_line(missing['key'], 60)}` is missing", "add it"
    else:
        hint = "put it in quotes" if lines and _UNQUOTED.match(reason) else "correct the value"
    line = next((lines[place] for end in range(len(path), -1, -1) if (place := _as_lines(value, path[:end])) in lines), None)
    raise BadInput(one_line(reason), hint, file=file, line=line, key=key_of(path))


def _place(message: str, value: Any, told: Callable[[Any], str | None]) -> Path:
    """The path that a fault stands at. msgspec writes `[...]` for some value of a mapping and `key` for some key: which
    one is found by asking again with the mapping cut short, because entries are looked at in order and the first is told.
    """
    at = _AT.search(message)
    if at is None:
        return ()
    steps = [name or (_ANY if index == _ANY else int(index)) for name, index in _STEP.findall(at["path"])]
    steps += [_ANY] if at["key"] else []
    path: Path = ()
    for step in steps:
        held = _at(value, path)
        if step != _ANY or not isinstance(held, dict):
            path = (*path, step)
            continue
        entries, low, high = list(held.items()), 1, len(held)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if told(_put(value, path, dict(entries[:middle]))) == message else (middle + 1, high)
        key, wrong = entries[low - 1]
        value, path = _put(value, path, {key: wrong}), (*path, key)
    return path


def _as_lines(value: Any, path: Path) -> tuple[str | int, ...]:
    """A path as `parse` writes it down: keys as text, indexes of lists as numbers."""
    return tuple(step if isinstance(_at(value, path[:end]), list) else str(step) for end, step in enumerate(path))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _put(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy
