"""Bytes of a result file into plain values that have been looked at: finite, not negative, of the type expected.

Whatever does not hold raises BadInput with file and line or key, and nothing of that file is used: half a curve has
been mistaken for a whole one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.strict import json_value

MAX_DOCUMENT = 64_000_000
MAX_LINE = 8_000_000
MAX_COUNT = 10**15
LARGEST = 1e12
"""No time, rate or count of a benchmark is greater; a value that is was written by no clock."""


def document(stream: BinaryIO, name: str) -> Any:
    """One JSON document, whole."""
    data = stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        raise BadInput(f"larger than {MAX_DOCUMENT} bytes", "give the aggregated file", file=name)
    return json_value(_text(data, name, None), file=name)


def records(stream: BinaryIO, name: str, *, most: int = MAX_LINE,
            mend: Callable[[str], str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with the line each stands on (from 1); blank lines are passed over.

    `most` bytes a line; `mend` makes JSON of a line whose writer is known to write something else.
    """
    number = 0
    while raw := stream.readline(most + 1):
        number += 1
        if len(raw) > most:
            raise BadInput(f"a line of more than {most} bytes", "it is no result record", file=name, line=number)
        text = _text(raw, name, number).strip()
        if text:
            text = mend(text) if mend else text
            yield number, mapping(_line(text, name, number), name, "", line=number)


def mapping(value: Any, name: str, key: str, *, line: int | None = None) -> dict[str, Any]:
    """An object; BadInput for anything else."""
    if not isinstance(value, dict):
        raise BadInput(f"an object is expected, not {_kind(value)}", "see the format's description", file=name, line=line, key=key)
    return value


def number(value: Any, name: str, key: str, *, line: int | None = None, most: float = math.inf) -> float:
    """A finite number, not negative, at most `most`. 1e999 is infinite to Python and refused here."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadInput(f"a number is expected, not {_kind(value)}", "see the format's description", file=name, line=line, key=key)
    if not math.isfinite(value):
        raise BadInput("not a finite number", "the measurement is broken; run it again", file=name, line=line, key=key)
    if value < 0:
        raise BadInput(f"{value} is negative", "no time, rate or count can be", file=name, line=line, key=key)
    if value > most:
        raise BadInput(f"{value} is more than {most:g}", "look at its unit", file=name, line=line, key=key)
    return float(value)


def count(value: Any, name: str, key: str, *, line: int | None = None, least: int = 0) -> int:
    """A whole number from `least` up, also when written as 3.0."""
    made = number(value, name, key, line=line)
    if made > MAX_COUNT or made != int(made) or made < least:
        raise BadInput(f"{value} is not a whole number from {least} up", "correct it", file=name, line=line, key=key)
    return int(made)


def text(value: Any, name: str, key: str, *, line: int | None = None) -> str:
    """Text; BadInput for anything else."""
    if not isinstance(value, str):
        raise BadInput(f"text is expected, not {_kind(value)}", "see the format's description", file=name, line=line, key=key)
    return value


def optional(value: Mapping[str, Any], *path: str) -> Any:
    """The value at a path of keys; None when any step is absent or null."""
    step: Any = value
    for key in path:
        step = step.get(key) if isinstance(step, dict) else None
    return step


def _line(raw: str, name: str, line: int) -> Any:
    try:
        return json_value(raw, file=name)
    except BadInput as error:
        place = ":".join(str(part) for part in (error.file, error.line) if part not in ("", None))
        where = " ".join(part for part in (place and f"{place}:", error.key and f"{error.key}:") if part)
        raise BadInput(error.reason.removeprefix(where).strip(), error.hint, file=name, line=line, key=error.key) from None


def _text(data: bytes, name: str, line: int | None) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=name, line=line) from None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
