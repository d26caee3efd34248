"""A bump's chain for people: decided again from its stored facts, and shown line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import msgspec

from bot.model.action import Action, Result
from bot.model.bump import Bump
from bot.model.event import Event
from bot.model.ledger import Difference, Line, Stored
from bot.model.memory import Lesson

_TAGS = ("do", "kind", "record", "fact")
_CUT = 60


def replay(entries: Sequence[Stored], decide: Callable[[Bump, Event], Sequence[Action]]) -> Difference | None:
    """Decides every claim again from its stored event and facts; the first difference to its stored actions."""
    for stored in entries:
        entry = stored.entry
        if entry.kind != "claim" or entry.facts is None or entry.event is None:
            continue
        pairs = zip_longest(map(_json, entry.actions), map(_json, decide(entry.facts, entry.event)))
        for index, (then, now) in enumerate(pairs):
            if then != now:
                return Difference(n=entry.n, version=entry.version, index=index, stored=then, decided=now)
    return None


def show(entries: Sequence[Stored]) -> tuple[Line, ...]:
    """One line an entry: number, time, kind, why it was woken, what was to be done, what came of it."""
    return tuple(_line(stored) for stored in entries)


def text(lines: Sequence[Line]) -> str:
    """The lines for a terminal; untrusted text in them has lost its control characters."""
    return "".join(f"{row}\n" for line in lines for row in _rows(line))


def learnt(lessons: Sequence[Lesson]) -> tuple[str, ...]:
    """One line a lesson: what was found, what was tried, and what must change before another try; safe for a terminal."""
    return tuple(_plain_whole(_lesson(one)) for one in lessons)


def _lesson(one: Lesson) -> str:
    about = "/".join(word for word in (one.check, one.class_, one.signature if one.signature != one.class_ else None) if word)
    helped = {True: "helped", False: "did not help", None: "was tried"}[one.helped]
    parts = (about or "ended", one.outcome.value if one.outcome else "", one.evidence, one.repair and f"{one.repair} {helped}",
             one.release and f"released by {one.release.of}: {one.release.says.en}")
    return "; ".join(part for part in parts if part)


def _rows(line: Line) -> Iterator[str]:
    about = line.event or (f"of claim {line.of}" if line.of else "")
    yield f"{line.n:>4}  {line.at:%Y-%m-%d %H:%M:%S}Z  {line.kind:<6}  {about}".rstrip()
    for mark, parts in (("-", line.actions), ("=", line.results)):
        yield from (f"      {mark} {part}" for part in parts)


def _line(stored: Stored) -> Line:
    entry = stored.entry
    return Line(n=entry.n, kind=entry.kind, of=entry.of, at=entry.at, wake=entry.wake, version=entry.version,
                event=None if entry.event is None else _brief(entry.event),
                actions=tuple(map(_brief, entry.actions)), results=tuple(map(_result, entry.results)))


def _brief(what: Action | Event) -> str:
    """An action or event as its word and its short facts; a record or remembered fact inside it as its own word."""
    facts = msgspec.to_builtins(what)
    words = [str(facts.pop(next(tag for tag in _TAGS if tag in facts)))]
    for key, value in facts.items():
        if isinstance(value, dict):
            word = next((value[tag] for tag in _TAGS if isinstance(value.get(tag), str)), None)
            words += [str(word)] if word else []
        elif isinstance(value, (str, int)) and key != "at":
            words.append(f"{key}={_plain(str(value))}")
    return " ".join(words)


def _result(result: Result) -> str:
    facts = msgspec.to_builtins(result)
    said = [f"{key}={_plain(str(facts[key]))}" for key in facts
            if key not in ("index", "ok", "detail") and facts[key] not in (None, False)]
    return " ".join([f"{result.index}", "done" if result.ok else "not done", *said, _plain(result.detail)]).rstrip()


def _plain(value: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in value)
    return shown if len(shown) <= _CUT else f"{shown[: _CUT - 3]}..."


def _plain_whole(value: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in value)


def _json(action: Action | None) -> str | None:
    return None if action is None else msgspec.json.encode(action, order="sorted").decode()
