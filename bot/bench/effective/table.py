"""`knowledge/effective.yaml` as records: which settings there are, how engines spell them, where they tell what came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import re2
from msgspec import Struct

from bot import strict
from bot.errors import BadInput

Value = str | int | float | bool
_FILE = "knowledge/effective.yaml"
# Of at, path, family, label and log, these go together.
_KINDS = {(True, True, False, False, False), (True, False, True, True, False), (False, False, False, False, True)}
_WORD = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}")
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_REAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Engine(_Record):
    id: str
    names: tuple[str, ...]


class Told(_Record):
    """One place: paths of the server with a JSON path or a Prometheus label, or a pattern over its log."""

    example: str
    read: Value
    at: tuple[str, ...] = ()
    path: str = ""
    family: str = ""
    label: str = ""
    log: str = ""


class Entry(_Record):
    """One setting of one engine."""

    id: str
    engine: str
    setting: str
    spelled: tuple[str, ...]
    relation: Literal["limit", "equal"]
    why: str
    told: tuple[Told, ...]
    rank: Literal["", "each", "attention"] = ""
    free: tuple[Value, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()


class _File(_Record):
    engines: tuple[Engine, ...]
    entries: tuple[Entry, ...]


class Known:
    """The table with its patterns compiled."""

    def __init__(self, engines: tuple[Engine, ...], entries: tuple[Entry, ...]) -> None:
        self._engines, self.entries = engines, entries
        self._patterns: dict[str, Any] = {told.log: compiled(told.log) for entry in entries for told in entry.told if told.log}

    def engine(self, name: str) -> str | None:
        """The engine that a recipe means: by its whole name, or by one word of it (`dynamo-sglang`)."""
        words = {name.lower(), *re.split(r"[^a-z0-9]+", name.lower())}
        return next((engine.id for engine in self._engines if words & set(engine.names)), None)

    def of(self, engine: str | None) -> tuple[Entry, ...]:
        """The settings of an engine."""
        return tuple(entry for entry in self.entries if entry.engine == engine)

    def in_line(self, told: Told, line: str) -> Value | None:
        """What a line of the log says, None where it does not speak of this."""
        found = self._patterns[told.log].search(line)
        return value(str(found["value"])) if found else None


def load(text: str, file: str = _FILE) -> Known:
    """The table of a YAML text; BadInput names the entry that does not hold."""
    book = strict.load(_File, text, file=file)
    engines, seen = {engine.id for engine in book.engines}, set[str]()
    for entry in book.entries:
        for reason, hint in _faults(entry, engines, seen):
            raise BadInput(reason, hint, file=file, key=f"entries.{entry.id}")
        seen.add(entry.id)
    return Known(book.engines, book.entries)


def value(told: Any) -> Value | None:
    """What a server said, as a value that may be shown anywhere: a number, a truth, or one plain word; None for all else."""
    if isinstance(told, bool | int):
        return told if abs(told) < 10**15 else None
    if isinstance(told, float):
        return told if told == told and abs(told) < 1e15 else None
    if not isinstance(told, str) or not _WORD.fullmatch(plain := told.strip().replace(",", "")):
        return None
    if _WHOLE.fullmatch(plain):
        return int(plain)
    if _REAL.fullmatch(plain):
        return float(plain)
    return {"true": True, "false": False, "none": None, "null": None}.get(plain.lower(), plain)


def compiled(pattern: str) -> Any:
    """An RE2 pattern: a server's log is untrusted, and no line may take longer than its length."""
    options = re2.Options()
    options.max_mem, options.log_errors = 64 << 20, False
    return re2.compile(pattern, options=options)


def _faults(entry: Entry, engines: set[str], seen: set[str]) -> Iterator[tuple[str, str]]:
    if entry.id in seen:
        yield "this id stands twice", "rename one"
    if entry.engine not in engines:
        yield f"no engine is called {entry.engine}", "name one of `engines`"
    for told in entry.told:
        parts = bool(told.at), bool(told.path), bool(told.family), bool(told.label), bool(told.log)
        if parts not in _KINDS:
            yield "a place is a log, or paths with either path or family and label", "keep one of them"
        if told.log:
            try:
                groups = tuple(compiled(told.log).groupindex)
            except re2.error:
                groups = ()
            if groups != ("value",):
                yield f"{told.log!r}: a pattern is RE2 and has one group, named value", "RE2 has no look-around"
