"""The surveys that a child process makes of one source file, by name: bytes in, plain values out. A survey's version is part of
the key under which its result is kept: raise it when its result changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from bot.upstream.imports import declared, words
from bot.upstream.imports import reading as imports
from bot.upstream.options import survey as options


class Survey(Struct, frozen=True):
    """One survey. `read` gets a file's bytes and its path, and raises ValueError, SyntaxError or RecursionError for what it cannot
    read."""

    version: int
    read: Callable[[bytes, str], Any]


SURVEYS: dict[str, Survey] = {
    "imports": Survey(imports.VERSION, imports.survey),
    declared.NAME: Survey(declared.VERSION, declared.survey),
    words.NAME: Survey(words.VERSION, words.survey),
    "options": Survey(options.VERSION, options.options),
    "names": Survey(options.VERSION, options.names),
}
