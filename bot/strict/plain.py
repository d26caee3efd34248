"""JSON into plain values, with each fault named by its path. The quick reading is json's own; only where it stumbles, or
the text holds something that json takes and we do not, a slow one looks for the place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from bot.errors import BadInput
from bot.strict.words import LONG, MAX_DEPTH, MAX_DIGITS, TWICE, Fault, Path, key_of

# What json.loads takes and we do not, or what it makes into something else; seldom there, so looked for first. An exponent counts
# where a number may begin: every second SHA-256 holds an e and three digits.
_DOUBTFUL = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}|(?:\A|[\[:,\s])-?[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{{3}}|NaN|Infinity")


class _Doubt(Exception):
    """Something that the quick reading cannot place; the slow one tells where it stands."""


def json_value(text: str, *, file: str) -> Any:
    """Plain JSON without duplicate keys, NaN, Infinity or numbers that no double holds; BadInput tells where."""
    try:
        if _DOUBTFUL.search(text):
            raise _Doubt
        value = json.loads(text, object_pairs_hook=_unique)
    except _Doubt:
        value = _with_places(text, file)
    except json.JSONDecodeError as error:
        raise _not_json(error, file) from None
    except RecursionError:
        raise _too_deep(file) from None
    _shallow(value, file)
    return value


def _unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(items)
    if len(made) != len(items):
        raise _Doubt
    return made


def _with_places(text: str, file: str) -> Any:
    """The same reading with each fault left at its place, so that the first can be named by its path."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in items:
            made[key] = TWICE if key in made else value
        return made

    def constant(word: str) -> Any:
        return Fault(f"{word} is not a JSON number", "leave the value out or write null")

    def whole(word: str) -> Any:
        return LONG if len(word) > MAX_DIGITS else int(word)

    def fraction(word: str) -> Any:
        if len(word) > MAX_DIGITS:
            return LONG
        return value if math.isfinite(value := float(word)) else Fault(f"{word} is not a finite number", "correct it")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=whole, parse_float=fraction)
    except json.JSONDecodeError as error:
        raise _not_json(error, file) from None
    except RecursionError:
        raise _too_deep(file) from None
    _shallow(value, file)
    for path, found in _leaves(value):
        if isinstance(found, Fault):
            raise BadInput(found.reason, found.hint, file=file, key=key_of(path))
    return value


def _leaves(value: Any) -> Iterator[tuple[Path, Any]]:
    """Every value that holds no others, in the order in which they stand."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, held = stack.pop()
        if isinstance(held, dict):
            stack += [((*path, key), item) for key, item in reversed(held.items())]
        elif isinstance(held, list):
            stack += [((*path, index), item) for index, item in reversed(list(enumerate(held)))]
        else:
            yield path, held


def _shallow(value: Any, file: str) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        level = [below for held in level for below in (held.values() if type(held) is dict else held)
                 if type(below) is dict or type(below) is list]
    if level:
        raise _too_deep(file)


def _too_deep(file: str) -> BadInput:
    return BadInput("nested too deeply", f"at most {MAX_DEPTH} levels are read; flatten it", file=file)


def _not_json(error: json.JSONDecodeError, file: str) -> BadInput:
    if "BOM" in error.msg:
        return BadInput("not JSON: it begins with a byte order mark", "save it without one", file=file, line=1)
    return BadInput(f"not JSON: {error.msg}", f"look at column {error.colno}", file=file, line=error.lineno)
