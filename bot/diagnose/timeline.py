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

Kind = Literal["exception", "logged"]
KEPT = 20
_BLOCK = 400
_TAIL = 8
_PATIENCE = 200
_TRACEBACK = "Traceback (most recent call last):"
_GROUP = re.compile(r"^\s*(?:\|\s?|\+-[+-].*$|\+ (?=Exception Group))")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:\[[\w., ]+\])?(?::(?:\s|$)|$)")
_NAMED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Fault|Impossible|ExceptionGroup)(?::\s|$)")
_FATAL = re2.compile(
    r"^(?:[\w./()-]+: ){0,3}(?:(?:fatal|internal) )?[Ee]rror(?::|\[)|^fatal: |panicked at|Segmentation fault|[Cc]ore dumped|"
    r"Fatal Python error|terminate called|^\[ERROR\]|^ERROR\b|^Aborted\b")
_ENDED = re2.compile(
    r"(?i)SIGTERM|signal 15\b|received exit signal|shutting down|CANCELLED AT|scancel|: Terminated\b|tearing down|teardown|"
    r"Killing (?:remaining|all)|Benchmark completed successfully|exit code:? 143")
_COMPLETED = re2.compile(r"(?i)benchmark completed successfully|all evals? (?:passed|completed)|^(?:PASS|OK): .* = [0-9.]+ \(>=")
_READY = re2.compile(
    r"(?i)application startup complete|uvicorn running on|the server is fired up|server is (?:ready|healthy)|model is ready|"
    r"starting vllm (?:api )?server|starting server|health check passed")
_PROGRESS = re2.compile(
    r"(?i)\"(?:POST|GET) /v1/\S+ HTTP/[0-9.]+\" 200 ?|POST /v1/\S+.{0,40}\b200\b|status=\"?success|request completed|"
    r"(?:successful|completed) requests?:?\s+[1-9]|benchmark completed successfully|"
    r"generation throughput: (?:[1-9]|0\.0*[1-9])|gen throughput \(token/s\): (?:[1-9]|0\.0*[1-9])")
_LIMIT = re2.compile(r"DUE TO TIME LIMIT")
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = tuple((role, re.compile(pattern)) for role, pattern in (
    ("frontend", r"frontend|router|ingress|processor"),
    ("worker", r"(?:^|[_.-])(?:agg|prefill|decode|worker|server|engine|rank)(?:[_.-]?w?\d+)*(?:[_.-]|$)|server_logs?"),
    ("infra", r"etcd|nats"),
    ("eval", r"(?:^|[_.-])(?:evals?|lm[_-]?eval)(?:[_.-]|\d|$)"),
    ("benchmark", r"bench|aiperf|load|client"),
    ("slurm", r"slurm|srun|sbatch|launch"),
))
_NODE = re.compile(
    r"(?P<node>[A-Za-z0-9][A-Za-z0-9.-]*?)_(?:frontend|router|agg|prefill|decode|worker|server|engine|etcd|nats|infra)(?:[_.]|\d|$)")
_SRUN_NODE = re.compile(r"srun: error: (?P<node>[A-Za-z0-9][A-Za-z0-9.-]{0,80}): tasks? ")


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

    def marks(self) -> list[Mark]:
        """Its own copy of each mark, since one line may be several: each is dated once."""
        for name in ("ended", "completed", "progress", "limit"):
            mark = getattr(self, name)
            if mark:
                setattr(self, name, Mark(mark.line, mark.at))
        return [mark for mark in (self.ended, self.completed, self.progress, self.limit) if mark]


def role_of(name: str) -> Role:
    """Which part of the system wrote a log, from its name; a folder speaks only when the file's own name does not."""
    for part in reversed(name.lower().split("/")):
        for role, pattern in _ROLES:
            if pattern.search(part):
                return role
    return "other"


def node_of(name: str) -> str | None:
    """The machine in front of the role in a file's name, as `cn04_agg_w3.out` has it."""
    found = _NODE.match(name.rsplit("/", 1)[-1])
    return found["node"] if found else None


class Reader:
    """Reads one log. Memory is bounded: of each kind of error the first ones are kept."""

    def __init__(self, name: str, matcher: Matcher) -> None:
        self.log = Log(name, role_of(name), node_of(name))
        self._match, self._open = matcher, dict[str, list[Any]]()
        self._kept: Counter[str] = Counter()
        self._stamp: Stamp | None = None
        self._tails: deque[tuple[str, Event, int]] = deque(maxlen=16)
        self._before: Head | None = None

    def read(self, lines: Iterable[Line]) -> Log:
        for line in lines:
            self._feed(line)
        for key, (number, block, text, _) in list(self._open.items()):
            self._error("exception", number, text, block, key, None)
        return self.log

    def _feed(self, line: Line) -> None:
        log, text = self.log, line.text
        log.lines, log.cut = line.number, log.cut + line.cut
        if not text:
            return
        taken = head(text)
        if taken.stamp:
            self._stamp = taken.stamp
            if not log.stamps or taken.stamp.date != log.stamps[-1].date:
                log.stamps.append(taken.stamp)
        body = _GROUP.sub("", taken.body)
        if not self._traceback(line, taken, body):
            self._single(line, taken, body)
        self._signs(line, text)
        self._before = taken

    def _signs(self, line: Line, text: str) -> None:
        log, here = self.log, Mark(line.number, self._stamp)
        if _PROGRESS.search(text):
            log.progress = here
        if _COMPLETED.search(text):
            log.completed = here
        if _READY.search(text):
            log.ended = None
            for event in log.events:
                event.doubtful = True
        elif log.ended is None and _ENDED.search(text) and not _COMPLETED.search(text):
            log.ended = here
        if _LIMIT.search(text):
            log.limit = here

    def _traceback(self, line: Line, taken: Head, body: str) -> bool:
        """Whether the line belongs to a traceback; an open one waits some lines for its exception."""
        if _TRACEBACK in body:
            mild = taken.level in ("warn", "info") or (not taken.record and self._before is not None
                                                       and self._before.record and self._before.level == "warn")
            self._open[taken.key] = [line.number, [line.text], line.text, mild]
            return True
        held = self._open.get(taken.key)
        if held is None:
            return self._tail(taken, body)
        if body[:1].isspace() or not body:
            held[1].append(body[:2000])
            del held[1][1:-_BLOCK]
            return True
        if _EXCEPTION.match(body) and not (taken.record and taken.level != "error" and not _NAMED.match(body)):
            del self._open[taken.key]
            held[1].append(body)
            self._error("exception", line.number, line.text, held[1], taken.key, taken, mild=held[3])
            return True
        if line.number - held[0] > _PATIENCE + len(held[1]):
            del self._open[taken.key]
        return False

    def _tail(self, taken: Head, body: str) -> bool:
        """The lines after an exception that still belong to its message, as validation errors have them."""
        for key, event, until in self._tails:
            if key == taken.key and self.log.lines <= until and body[:1].isspace() and event.known is None:
                event.block.append(body)
                found = self._match(body)
                if found and found[0].scope != "noise" and not found[0].warning:
                    event.known, event.text, event.line = (found[0], found[0].fill(found[1])), body.strip(), self.log.lines
                return True
        return False

    def _single(self, line: Line, taken: Head, body: str) -> None:
        text = line.text
        if self._match.touches(text):
            found = self._match(text)
            if found and found[0].warning:
                self._warn(found[0], found[0].fill(found[1]), line, taken)
                return
            if found and (taken.level not in ("warn", "info") or found[1].start() < taken.at or found[0].scope == "noise"):
                self._error("exception" if _NAMED.match(body) else "logged", line.number, text, [], taken.key, taken)
                return
        if taken.level in ("warn", "info"):
            return
        if _NAMED.match(body):
            self._error("exception", line.number, text, [], taken.key, taken)
        elif taken.level == "error" or _FATAL.search(body):
            self._error("logged", line.number, text, [], taken.key, taken)

    def _error(self, kind: Kind, number: int, text: str, block: list[str], key: str, taken: Head | None, *,
               mild: bool = False) -> None:
        log = self.log
        whole = "\n".join([*block[:-1], text]) if block else ""
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
        node = _SRUN_NODE.search(text)
        event = Event(log.name, number, text, kind, log.role, node["node"] if node else log.node, self._stamp,
                      (found[0], found[0].fill(found[1])) if found else None, doubtful=mild, ended=log.ended is not None)
        log.events.append(event)
        self._tails.append((key, event, number + _TAIL))

    def _warn(self, signature: Signature, excerpt: str, line: Line, taken: Head | None) -> None:
        self.log.warnings[signature.id] += 1
        grave = taken is None or taken.level == "error" or bool(_NAMED.match(taken.body))
        kept = self.log.warned.get(signature.id)
        if kept is None:
            self.log.warned[signature.id] = Event(
                self.log.name, line.number, line.text, "exception" if grave else "logged", self.log.role, self.log.node,
                self._stamp, (signature, excerpt))
