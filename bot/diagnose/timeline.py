"""One log file read once, line by line, into the few things that a diagnosis needs: errors, warnings, and signs of life.

A traceback counts at its last line, the exception, and is dated by the nearest timestamp before it. Several processes
write into one file, so an open traceback belongs to the prefix its lines carry.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import re2

from bot.diagnose.logs import Line
from bot.diagnose.signatures import Matcher, Role, Signature
from bot.diagnose.stamps import Head, Stamp, head
from bot.diagnose.words import ALIVE, COMPLETED, ENDED, LIMIT, PROGRESS, READY, SIGNS, SRUN_NODE, node_of, role_of

Kind = Literal["exception", "logged"]
KEPT = 20
_BLOCK = 400
_TAIL = 8
_PATIENCE = 200
_BACK = 64
_MILD = ("warn", "info")
_MARKS = ("ended", "completed", "progress", "limit", "first", "last")
_TRACEBACK = "Traceback (most recent call last):"
_GROUP = re.compile(r"^\s*(?:\|\s?|\+-[+-].*$|\+ (?=Exception Group))")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:\[[\w., ]+\])?(?::(?:\s|$)|$)")
_NAMED = re.compile(r"(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Failure|Fault|Impossible|Exception|Group)(?:[:\s(]|$)|Exception: )")
_FATAL = re2.compile(
    r"^(?:[\w./()-]+: ){0,3}(?:(?:fatal|internal) )?[Ee]rror(?::|\[)|^fatal: |panicked at|Segmentation fault|[Cc]ore dumped|"
    r"Fatal Python error|terminate called|^\[ERROR\]|^ERROR\b|^Aborted\b"
)


@dataclass(slots=True)
class Event:
    """An error as it stands in a log. `moment` is filled once all files are read; None when no line tells the time."""

    file: str
    line: int
    text: str
    kind: Kind
    role: Role
    node: str | None
    stamp: Stamp | None
    known: tuple[Signature, str] | None = None
    block: list[str] = field(default_factory=list)
    moment: float | None = None
    ended: bool = False
    doubtful: bool = False

    @property
    def signature(self) -> Signature | None:
        return self.known[0] if self.known else None


@dataclass(slots=True)
class Mark:
    """A sign of life or death: its line, and when (a stamp while reading, comparable seconds afterwards)."""

    line: int
    at: Any


@dataclass(slots=True)
class _Open:
    """A traceback that waits for its exception."""

    number: int
    text: str
    mild: bool
    waited: int = 0
    block: deque[str] = field(default_factory=lambda: deque(maxlen=_BLOCK))


@dataclass(slots=True)
class Log:
    """What one file tells."""

    name: str
    role: Role
    node: str | None
    events: list[Event] = field(default_factory=list)
    warned: dict[str, Event] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    stamps: list[Stamp] = field(default_factory=list)
    lines: int = 0
    cut: int = 0
    ended: Mark | None = None
    completed: Mark | None = None
    progress: Mark | None = None
    limit: Mark | None = None
    first: Mark | None = None
    last: Mark | None = None

    def marks(self) -> list[Mark]:
        """Each mark as its own object, since one line may be several and each is dated once."""
        for name in _MARKS:
            mark = getattr(self, name)
            if mark:
                setattr(self, name, Mark(mark.line, mark.at))
        return [getattr(self, name) for name in _MARKS if getattr(self, name)]


class Reader:
    """Reads one log. Memory is bounded: of each kind of error the first ones are kept, of other lines the last."""

    def __init__(self, name: str, matcher: Matcher) -> None:
        self.log = Log(name, role_of(name), node_of(name))
        self._match, self._open = matcher, dict[str, _Open]()
        self._kept: Counter[str] = Counter()
        self._stamp: Stamp | None = None
        self._tail: tuple[str, Event, int] | None = None
        self._before: Head | None = None
        self._dull: deque[str] = deque(maxlen=_BACK)
        self._alive: tuple[int, str] | None = None

    def read(self, lines: Iterable[Line]) -> Log:
        for line in lines:
            self._feed(line)
        log = self.log
        for key, held in self._open.items():
            self._error("exception", held.number, held.text, list(held.block), key, None, mild=held.mild)
        self._settle()
        log.last = Mark(log.lines, self._stamp)
        if self._alive:
            log.progress = Mark(self._alive[0], head(self._alive[1]).stamp or self._stamp)
        return log

    def _feed(self, line: Line) -> None:
        log, text = self.log, line.text
        log.lines, log.cut = line.number, log.cut + line.cut
        if not text:
            return
        if any(word in text for word in ALIVE) and PROGRESS.search(text):
            self._alive = line.number, text
        if not (self._open or self._tail or log.first is None or self._match.touches(text)):
            self._dull.append(text)
            return
        self._settle()
        taken = head(text)
        self._date(line.number, taken)
        body = _GROUP.sub("", taken.body)
        if not self._traceback(line, taken, body):
            self._single(line, taken, body)
        self._signs(line, text)
        self._before = taken

    def _settle(self) -> None:
        """Dates what follows by the last line with a time among those that said nothing else."""
        for text in reversed(self._dull):
            taken = head(text)
            if taken.stamp:
                self._date(self.log.lines, taken)
                break
        if self._dull:
            self._before = head(self._dull[-1])
        self._dull.clear()

    def _date(self, number: int, taken: Head) -> None:
        if taken.stamp is None:
            return
        self._stamp, stamps = taken.stamp, self.log.stamps
        self.log.first = self.log.first or Mark(number, taken.stamp)
        if not stamps or taken.stamp.date != stamps[-1].date:
            stamps.append(taken.stamp)

    def _signs(self, line: Line, text: str) -> None:
        log, here = self.log, Mark(line.number, self._stamp)
        if not SIGNS.search(text):
            return
        if COMPLETED.search(text):
            log.completed = here
        if READY.search(text):
            log.ended = None
            for event in log.events:
                event.doubtful = True
        elif log.ended is None and ENDED.search(text):
            log.ended = here
        if LIMIT.search(text):
            log.limit = here

    def _traceback(self, line: Line, taken: Head, body: str) -> bool:
        """Whether the line belongs to a traceback; an open one waits some lines for its exception."""
        if _TRACEBACK in body:
            warned = not taken.record and self._before is not None and self._before.level == "warn"
            self._open[taken.key] = _Open(line.number, line.text, taken.level in ("warn", "info") or warned)
            return True
        held = self._open.get(taken.key)
        if held is None:
            return self._continued(taken, body)
        if body[:1].isspace() or not body:
            held.block.append(body[:2000])
            return True
        if _EXCEPTION.match(body) and not (taken.record and taken.level != "error" and not _NAMED.match(body)):
            del self._open[taken.key]
            block = [held.text, *held.block, body]
            self._error("exception", line.number, line.text, block, taken.key, taken, mild=held.mild)
            return True
        held.waited += 1
        if held.waited > _PATIENCE:
            del self._open[taken.key]
        return False

    def _continued(self, taken: Head, body: str) -> bool:
        """The lines after an exception that still belong to its message, as validation errors have them."""
        key, event, until = self._tail or ("", None, 0)
        if event is None or key != taken.key or not body[:1].isspace() or self.log.lines > until:
            self._tail = None if self.log.lines > until else self._tail
            return False
        found = self._match(body)
        if event.known is None and found and found[0].scope != "noise" and not found[0].warning:
            event.known, event.text, event.line = (found[0], found[0].fill(found[1])), body.strip(), self.log.lines
        return True

    def _single(self, line: Line, taken: Head, body: str) -> None:
        text = line.text
        found = self._match(text)
        if found:
            if found[0].warning:
                self._warn(found[0], found[0].fill(found[1]), line, taken)
                return
            if taken.level not in _MILD or found[1].start() < taken.at or found[0].scope == "noise":
                self._error("exception" if _NAMED.match(body) else "logged", line.number, text, [], taken.key, taken)
                return
        if taken.level in _MILD:
            return
        if _NAMED.match(body):
            self._error("exception", line.number, text, [], taken.key, taken)
        elif taken.level == "error" or _FATAL.search(body):
            self._error("logged", line.number, text, [], taken.key, taken)

    def _error(
        self, kind: Kind, number: int, text: str, block: list[str], key: str, taken: Head | None, *, mild: bool = False
    ) -> None:
        log = self.log
        whole = "\n".join(block)
        found = self._match(text, whole)
        if found and found[0].scope == "noise" and not found[0].after_shutdown:
            return
        if found and found[0].warning:
            self._warn(found[0], found[0].fill(found[1]), Line(number, text), taken)
            return
        name = f"{found[0].id if found else kind}:{mild}"
        self._kept[name] += 1
        if self._kept[name] > KEPT:
            return
        node = SRUN_NODE.search(text)
        event = Event(
            log.name,
            number,
            text,
            kind,
            log.role,
            node["node"] if node else log.node,
            self._stamp,
            (found[0], found[0].fill(found[1])) if found else None,
            doubtful=mild,
            ended=log.ended is not None,
        )
        log.events.append(event)
        self._tail = (key, event, number + _TAIL)

    def _warn(self, signature: Signature, excerpt: str, line: Line, taken: Head | None) -> None:
        self.log.warnings[signature.id] += 1
        grave = taken is None or taken.level == "error" or bool(_NAMED.match(taken.body))
        kept = self.log.warned.get(signature.id)
        if kept is None:
            self.log.warned[signature.id] = Event(
                self.log.name,
                line.number,
                line.text,
                "exception" if grave else "logged",
                self.log.role,
                self.log.node,
                self._stamp,
                (signature, excerpt),
            )
