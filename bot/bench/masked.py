"""Secrets that a server printed, taken out of its logs before they are summed: a forge masks its own logs, and no artifact.

An image may print its whole environment as it starts, and the token for models is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec

from bot.bench.host import Place
from bot.bench.launch.given import TOKENS
from bot.model.bench import Report

_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_PIECE, _LEAST = 1 << 20, 6
"""A shorter value is no secret, and stands everywhere."""


def secrets(env: Mapping[str, str], machine: Mapping[str, str]) -> tuple[bytes, ...]:
    """What must stand in no log: tokens for models, and of the machine file's variables those whose name says so, and passwords of
    addresses. The longest first, since one may hold another."""
    found = {value for name, value in env.items() if name in TOKENS}
    found |= {value for name, value in machine.items() if _SECRET.search(name)}
    for value in (*env.values(), *machine.values()):
        found |= {word for word in _passwords(value) if word}
    return tuple(sorted((os.fsencode(value) for value in found if len(value) >= _LEAST), key=len, reverse=True))


def mask(place: Place, values: Iterable[bytes]) -> None:
    """Each of them in every log, letter by letter a star: in its place, so that a full disk does not hinder it."""
    wanted = tuple(values)
    if not wanted:
        return
    pattern = re.compile(b"|".join(map(re.escape, wanted)))
    for path in sorted(place.logs.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("r+b") as stream:
                for at, size in list(_places(stream, pattern, len(wanted[0]))):
                    stream.seek(at)
                    stream.write(b"*" * size)


def text(words: str, values: Iterable[bytes]) -> str:
    """Words without them."""
    for value in values:
        words = words.replace(os.fsdecode(value), "*" * len(value))
    return words


def report(told: Report, values: Sequence[bytes]) -> Report:
    """A report without them: a server's answers and its last words stand in it, and it is an artifact too."""
    return msgspec.convert(_deep(msgspec.to_builtins(told), values), Report) if values else told


def _deep(value: Any, values: Sequence[bytes]) -> Any:
    if isinstance(value, dict):
        return {name: _deep(inner, values) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(inner, values) for inner in value]
    return text(value, values) if isinstance(value, str) else value


def _passwords(value: str) -> Iterable[str | None]:
    try:
        told = urlsplit(value).password
    except ValueError:
        return ()
    return (told, unquote(told) if told else None)


def _places(stream: BinaryIO, pattern: re.Pattern[bytes], longest: int) -> Iterator[tuple[int, int]]:
    """Where they stand and how long they are, read a piece at a time: one may begin in a piece and end in the next."""
    start, held, past = 0, b"", 0
    while piece := stream.read(_PIECE):
        held += piece
        for found in pattern.finditer(held):
            if start + found.start() >= past and (found.end() < len(held) or len(piece) < _PIECE):
                past = start + found.end()
                yield start + found.start(), found.end() - found.start()
        kept = max(0, len(held) - 2 * longest)
        start, held = start + kept, held[kept:]
    for found in pattern.finditer(held):
        if start + found.start() >= past:
            yield start + found.start(), found.end() - found.start()
