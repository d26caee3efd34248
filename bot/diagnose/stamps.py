"""The head of a log line: when, how grave, which process, and what is left to read.

Knows vLLM (`(EngineCore pid=7) ERROR 09-10 07:08:31 [core.py:9]`), SGLang (`[2026-09-10 07:08:31 TP0]`), Python
logging, ISO and Rust logs, JSON lines, glog and c10d, `[07:08:31]`, slurm labels and the timestamps that a runner puts
before everything.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, Literal

from msgspec import Struct

Level = Literal["error", "warn", "info"]
_TIME = r"(?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
_WORD = r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)"
_PIECES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\[?(?P<date>\d{{4}}-\d\d-\d\d)[T ]{_TIME}(?: ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d))?"
        r"(?: (?P<key>[A-Z][A-Z0-9 ]{0,30}\d))?\]? ?",
        r"\((?P<key>[^()]{0,60}pid=\d+[^()]{0,60})\) ?",
        r"(?P<key>\[rank\d+\]): ?",
        r"(?P<key>\d{1,5}): (?=\S)",
        rf"{_WORD} (?P<day>\d\d-\d\d) {_TIME} (?:\[[^\]]{{1,80}}\] ?)?",
        rf"\[?(?P<letter>[IWEF])(?P<day>\d{{3,4}}) {_TIME}(?: +\d+)? [^\]]{{1,80}}\] ?",
        rf"\[{_TIME}\] ?|{_TIME.replace('<time>', '<time2>').replace('<part>', '<part2>')} (?=[A-Z])",
        r"##\[(?P<level>error|warning|debug|notice)\]",
        rf"[-| ]{{0,3}}(?:[\w.]{{1,60}} - )?\[?{_WORD}\]?(?=[\s:|-]|$)[:|-]? {{0,8}}(?:- )?",
    )
)
_JSON_TIME = re.compile(rf'"(?:time|timestamp|ts)" ?: ?"(?P<date>\d{{4}}-\d\d-\d\d)[T ]{_TIME}(?P<zone>Z|[+-]\d\d:?\d\d)?')
_JSON_LEVEL = re.compile(r'"(?:level|severity)" ?: ?"(?P<level>\w+)"')
_LEVELS: dict[str, Level] = {
    "ERROR": "error",
    "CRITICAL": "error",
    "FATAL": "error",
    "SEVERE": "error",
    "E": "error",
    "F": "error",
    "WARN": "warn",
    "WARNING": "warn",
    "W": "warn",
}
_HEAD = 400


class Stamp(Struct, frozen=True):
    """A moment as a line tells it: `seconds` since midnight, in UTC where the line names a zone.

    `date` is "2026-09-10", "09-10" (no year) or "" (no day).
    """

    date: str
    seconds: float


class Head(Struct, frozen=True):
    """A line taken apart. `key` tells processes apart that write into one file; `record` when the line had a time or level."""

    body: str
    key: str = ""
    stamp: Stamp | None = None
    level: Level | None = None
    at: int = 0

    @property
    def record(self) -> bool:
        return self.stamp is not None or self.level is not None


def head(text: str) -> Head:
    """Takes prefixes off a line until what the program itself said is left."""
    if text.startswith("{"):
        return _json(text)
    keys: list[str] = []
    stamp: Stamp | None = None
    level: Level | None = None
    at, limit, seen = 0, min(len(text), _HEAD), set[int]()
    moved = True
    while moved and at < limit and not (at == 0 and text[0].isspace()):
        moved = False
        for index, piece in enumerate(_PIECES):
            found = piece.match(text, at, limit) if index == 0 or index not in seen else None
            if found and found.end() > at:
                seen.add(index)
                named = found.groupdict()
                stamp = _stamp(named) or stamp
                word = named.get("level") or named.get("letter")
                level = (_LEVELS.get(word.upper(), "info") if word else None) or level
                keys += [named["key"]] if named.get("key") else []
                at, moved = found.end(), True
                break
    return Head(text[at:], "|".join(keys), stamp, level, at)


def _json(text: str) -> Head:
    start = text[: _HEAD * 4]
    time, level = _JSON_TIME.search(start), _JSON_LEVEL.search(start)
    word = level["level"].upper() if level else None
    return Head(text, "", _stamp(time.groupdict()) if time else None, _LEVELS.get(word, "info") if word else None, 0)


def _stamp(found: dict[str, Any]) -> Stamp | None:
    time, part = found.get("time") or found.get("time2"), found.get("part") or found.get("part2")
    if not time:
        return None
    hours, minutes, seconds = (int(word) for word in time.split(":"))
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    value = hours * 3600 + minutes * 60 + seconds + (float(f"0.{part}") if part else 0.0) - _offset(found.get("zone"))
    day = found.get("day")
    if day:
        day = day if "-" in day else f"{day[:-2]:0>2}-{day[-2:]}"
    return Stamp(found.get("date") or day or "", value)


def _offset(zone: str | None) -> float:
    if not zone or zone in ("Z", "UTC"):
        return 0.0
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if zone[0] == "-" else 1)


class Days:
    """Turns the stamps of one file into comparable seconds, whatever part of the date they tell.

    A year that is not told is the one nearest to `base`; a day that is not told is the last day told in the file, else
    `base`, one more after each midnight.
    """

    def __init__(self, base: date) -> None:
        self._base, self._day, self._last = base, base, -1.0

    def moment(self, stamp: Stamp) -> float:
        if stamp.date:
            self._day = self._resolve(stamp.date)
        elif stamp.seconds < self._last - 43_200:
            self._day += timedelta(days=1)
        self._last = stamp.seconds
        return self._day.toordinal() * 86_400 + stamp.seconds

    def _resolve(self, text: str) -> date:
        try:
            if len(text) == 10:
                return date.fromisoformat(text)
            years = (self._base.year - 1, self._base.year, self._base.year + 1)
            made = [date.fromisoformat(f"{year}-{text}") for year in years if text != "02-29" or year % 4 == 0]
            return min(made, key=lambda day: abs((day - self._base).days)) if made else self._base
        except ValueError:
            return self._base


def earliest(stamps: list[Stamp]) -> date:
    """The first whole date told anywhere, on which lines without one are hung; a fixed day where none is told."""
    days = []
    for stamp in stamps:
        try:
            days.append(date.fromisoformat(stamp.date))
        except ValueError:
            continue
    return min(days, default=date(2000, 3, 1))
