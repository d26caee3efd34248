"""Entries of one bump as a chain: made, written, read, checked; which claims wait for their results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.errors import Broken
from bot.ledger.paths import number
from bot.model.action import Action, Result
from bot.model.bump import Bump
from bot.model.event import Event
from bot.model.ledger import Entry, Receipt, Stored
from bot.strict import json_value, load_json

PATIENCE = timedelta(minutes=15)
_MEND = "an operator must compare the ledger's branch with its history"


def canonical(value: Any) -> bytes:
    """JSON with sorted keys, UTF-8, one trailing newline: the bytes that are stored and hashed."""
    return msgspec.json.encode(value, order="sorted") + b"\n"


def encode(entry: Entry, path: str) -> bytes:
    """The bytes of an entry, proved to be readable: NaN, for one, would be written as null and never read again."""
    data = canonical(entry)
    if canonical(load_json(Entry, data, file=path)) != data:
        raise Broken(f"{path}: this entry reads back as another one", "report it: a record loses something in JSON")
    return data


def decode(path: str, data: bytes) -> Stored:
    """An entry from its bytes; BadInput with file and key when it fails its schema."""
    entry = load_json(Entry, data, file=path)
    return Stored(entry=entry, path=path, sha256=hashlib.sha256(data).hexdigest(), canonical=_is_canonical(data, path))


def claim_entry(entries: Sequence[Stored], *, wake: str, version: str, at: datetime, event: Event, facts: Bump,
                actions: Sequence[Action], run: str | None = None) -> Entry:
    """The entry that says what this wake is going to do, after those that are there."""
    return Entry(n=len(entries) + 1, kind="claim", wake=wake, run=run, version=version, at=at, prev=_last(entries),
                 event=event, facts=facts, actions=tuple(actions))


def record_entry(entries: Sequence[Stored], of: int, *, wake: str, version: str, at: datetime,
                 results: Sequence[Result], facts: Bump | None = None, run: str | None = None) -> Entry:
    """The entry that says what came of claim `of`; `facts` where they changed by it."""
    return Entry(n=len(entries) + 1, kind="record", of=of, wake=wake, run=run, version=version, at=at,
                 prev=_last(entries), facts=facts, results=tuple(results))


def receipt(entries: Sequence[Stored]) -> Receipt | None:
    """What the pull request is to remember of this chain."""
    return Receipt(n=entries[-1].entry.n, sha256=entries[-1].sha256) if entries else None


def verify(entries: Sequence[Stored]) -> Broken | None:
    """The first thing that does not hold in a chain read whole, or None. What its end lacks only a receipt can tell."""
    claims: dict[int, Entry] = {}
    done: set[int] = set()
    for index, stored in enumerate(entries):
        why = _link(entries, index) or _meaning(stored.entry, stored.path, claims, done)
        if why:
            return Broken(f"{stored.path}: {why}", _MEND)
        if stored.entry.kind == "claim":
            claims[stored.entry.n] = stored.entry
        elif stored.entry.of is not None:
            done.add(stored.entry.of)
    return None


def check_receipt(entries: Sequence[Stored], n: int, sha256: str) -> Broken | None:
    """Whether entry `n`, as the pull request remembers it, is still there and still the same."""
    if n > len(entries):
        return Broken(f"the chain was shortened: the pull request remembers entry {n}, the ledger ends at "
                      f"{len(entries)}", _MEND)
    if n < 1 or entries[n - 1].sha256 != sha256:
        return Broken(f"entry {n} is not the one that the pull request remembers", _MEND)
    return None


def pending(entries: Sequence[Stored]) -> tuple[Stored, ...]:
    """Claims without a record, oldest first: somebody acts on them, or died doing so."""
    done = {stored.entry.of for stored in entries if stored.entry.kind == "record"}
    return tuple(stored for stored in entries if stored.entry.kind == "claim" and stored.entry.n not in done)


def unfinished(entries: Sequence[Stored], now: datetime, run_over: Callable[[str], bool]) -> tuple[Stored, ...]:
    """Claims that this wake must finish: their run ("id/attempt") is over, or they name none and are 15 minutes old."""
    return tuple(stored for stored in pending(entries)
                 if (run_over(stored.entry.run) if stored.entry.run else now - stored.entry.at >= PATIENCE))


def _last(entries: Sequence[Stored]) -> str | None:
    return entries[-1].sha256 if entries else None


def _link(entries: Sequence[Stored], index: int) -> str | None:
    stored, before = entries[index], entries[index - 1] if index else None
    if number(stored.path) != index + 1:
        return f"entry {index + 1} is missing"
    if stored.entry.n != index + 1:
        return f"it calls itself entry {stored.entry.n}"
    if stored.entry.prev != (before.sha256 if before else None):
        return f"entry {index} is not the one this was written after" if before else "the first names one before it"
    return None if stored.canonical else "its bytes are not in canonical form"


def _meaning(entry: Entry, path: str, claims: dict[int, Entry], done: set[int]) -> str | None:
    return next(_faults(entry, path.split("/")[-2], claims, done), None)


def _faults(entry: Entry, bump: str, claims: dict[int, Entry], done: set[int]) -> Iterator[str]:
    if entry.facts is not None and entry.facts.id != bump:
        yield f"its facts are those of {entry.facts.id!r}"
    if entry.kind == "claim":
        if entry.of is not None or entry.results:
            yield "a claim holds results"
        if entry.event is None or entry.facts is None:
            yield "a claim without event or facts cannot be replayed"
        return
    if entry.of not in claims:
        yield f"it records claim {entry.of}, which is none"
    elif entry.of in done:
        yield f"claim {entry.of} is recorded twice"
    elif any(not 0 <= result.index < len(claims[entry.of].actions) for result in entry.results):
        yield f"a result names an action that claim {entry.of} does not hold"
    if entry.actions:
        yield "a record holds actions"


def _is_canonical(data: bytes, path: str) -> bool:
    try:
        return canonical(json_value(data.decode(), file=path)) == data
    except (msgspec.MsgspecError, ValueError, OverflowError):
        return False  # what JSON can say and our writer never does: lone surrogates, numbers beyond 64 bits
