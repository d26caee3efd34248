"""From all the logs of a job to the one error that came first on the server's side (CONTRACTS `triage`).

An error's rank says how far downstream it stands: servers before the serving path's warnings, these before gates, gates
before unknown lines of a logger, then what collection and clients saw, then exit codes. Within a rank time decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

from msgspec.structs import replace

from bot.diagnose.logs import Limits, Opened, lines
from bot.diagnose.reported import Listener
from bot.diagnose.signatures import Matcher, Signature
from bot.diagnose.stamps import Days, Stamp, earliest
from bot.diagnose.timeline import Event, Log, Mark, Reader
from bot.diagnose.words import WORTH
from bot.model.run import Triage
from bot.model.text import Text

STALL_S = 1800.0
SERVER, PATH, GATE, WEAK, CLIENT, END = range(6)
_LAYERS = {"server": SERVER, "path": PATH, "gate": GATE, "collect": CLIENT, "client": CLIENT, "end": END}
_NEVER_STARTED = frozenset({"image-missing", "model-not-staged", "package-fetch"})
_EARLY = {
    name: rank
    for rank, names in enumerate(
        (
            ("changelog-conflict", "credential", "capacity"),
            ("image-missing", "model-not-staged", "package-fetch", "disk-full"),
            ("moved-module", "flag-removed", "feature-missing", "arch-unsupported"),
            ("oom", "engine-regression", "node-unhealthy"),
        )
    )
    for name in names
}
_HANG = Text(
    en="no error and no finished request while the job held its GPUs",
    zh="任务占用 GPU 期间既无错误，也没有任何请求完成",
)


def triage(files: Iterable[tuple[str, BinaryIO]], signatures: Sequence[Signature], *, limits: Limits = Limits(),
           listener: Listener | None = None) -> Triage:
    """The first server-side error in some logs (archives are opened), its class and its known repair. `listener` hears each
    line too: unpacking is the dearest part, and is done once.

    Unknown: `first_error` is set, signature and class are None. No error: `first_error` is None. BadInput for archives
    that are broken or unpack beyond the limits.
    """
    opened, matcher = Opened(files, limits), Matcher(signatures, WORTH)
    hear = listener.over if listener else lambda name, read: read
    logs = [Reader(name, matcher).read(hear(name, lines(stream))) for name, stream in opened]
    _date(logs)
    notes = list(opened.notes)
    cut = sum(log.cut for log in logs)
    if cut:
        notes.append(f"{cut} lines were cut at 64 KiB")
    warnings = dict(sorted(sum((log.warnings for log in logs), Counter()).items()))
    events = _without_teardown(logs)
    chosen = _choose(events, logs, signatures)
    if chosen is None:
        hung = not warnings and _hung(logs)
        return Triage(
            class_="hang" if hung else None,
            cause=_HANG if hung else None,
            warnings=warnings,
            confidence="likely" if hung else "unknown",
            notes=tuple(notes),
        )
    return replace(
        told(chosen),
        confidence=_confidence(chosen, events),
        others=_others(chosen, events),
        warnings=warnings,
        notes=tuple(notes),
    )


def told(event: Event) -> Triage:
    """One event as a Triage; the signature's excerpt is the only log text in it that may leave the ledger."""
    signature = event.signature
    return Triage(
        signature=signature.id if signature else None,
        class_=signature.class_ if signature else None,
        first_error=event.text,
        excerpt=event.known[1] if event.known else None,
        file=event.file,
        line=event.line,
        node=event.node,
        cause=signature.cause if signature else None,
        repair=signature.repair if signature else None,
    )


def rank(event: Event) -> int:
    """How far downstream an error stands; lower wins."""
    signature = event.signature
    if signature:
        layer = _LAYERS[signature.layer]
        return max(layer, WEAK) if event.doubtful else layer
    if event.role in ("benchmark", "eval", "infra"):
        return CLIENT
    return WEAK if event.kind == "logged" or event.doubtful else SERVER


def _date(logs: Sequence[Log]) -> None:
    base = earliest([stamp for log in logs for stamp in log.stamps])
    for log in logs:
        days = Days(base)
        marks = log.marks()
        dated: list[Event | Mark] = [*log.events, *log.warned.values(), *marks]
        for one in sorted(dated, key=lambda one: one.line):
            stamp: Stamp | None = one.at if isinstance(one, Mark) else one.stamp
            moment = days.moment(stamp) if stamp else None
            if isinstance(one, Mark):
                one.at = moment
            else:
                one.moment = moment


def _without_teardown(logs: Sequence[Log]) -> list[Event]:
    """All errors but those that only tell that the job was being torn down."""
    firsts = [
        event.moment
        for log in logs
        for event in log.events
        if event.moment is not None and rank(event) == SERVER and event.signature
    ]
    stops = [log.ended.at for log in logs if log.ended and log.ended.at is not None]
    completions = [log.completed.at for log in logs if log.completed and log.completed.at is not None]
    shut = min([*stops, *([max(completions)] if completions else [])], default=None)
    lost = min([*firsts, *([shut] if shut is not None else [])], default=None)

    limited = any(log.limit for log in logs)

    for event in (event for log in logs for event in log.events if event.signature is None):
        # The load ran to its end in spite of it.
        event.doubtful = event.doubtful or bool(completions)

    def noise(log: Log, event: Event) -> bool:
        if limited and event.signature and event.signature.layer == "end":
            return True
        after = event.ended or _after(event, shut) or bool(log.completed and event.line > log.completed.line)
        if event.signature is None or event.signature.layer == "client":
            late = after or (event.signature is not None and event.signature.after_shutdown and _after(event, lost, equal=True))
            return late
        return False

    return [event for log in logs for event in log.events if not noise(log, event)]


def _after(event: Event, moment: float | None, *, equal: bool = False) -> bool:
    if moment is None or event.moment is None:
        return False
    return event.moment > moment or (equal and event.moment == moment)


def _choose(events: Sequence[Event], logs: Sequence[Log], signatures: Sequence[Signature]) -> Event | None:
    best = min(map(rank, events), default=None)
    if best is None:
        return _grave_warning(logs)
    rivals = [event for event in events if rank(event) == best]
    first = _first(rivals)
    if first.signature and first.signature.class_ == "node-unhealthy":
        never = [
            event for event in events if event.signature and event.signature.class_ in _NEVER_STARTED and rank(event) == SERVER
        ]
        first = _first(never) if never else first
    if best == GATE:
        return _announced(first, logs, signatures) or first
    return first


def _first(events: Sequence[Event]) -> Event:
    """By time where every error has one; else the known before the unknown, and what fails at the start before the rest."""
    dated = all(event.moment is not None for event in events)

    def key(event: Event) -> tuple[float, ...]:
        moment = event.moment if event.moment is not None else float("inf")
        known = event.signature
        stage = _EARLY.get(known.class_ or "", len(_EARLY)) if known else len(_EARLY)
        unknown = float(known is None)
        return (moment, unknown, stage, event.line) if dated else (unknown, stage, moment, event.line)

    return min(events, key=key)


def _announced(gate: Event, logs: Sequence[Log], signatures: Sequence[Signature]) -> Event | None:
    """The warning of the serving path that explains a gate; what only the load generator saw explains no eval."""
    evals = gate.signature is not None and gate.signature.class_ == "eval-gate"
    for signature in signatures:
        if not explains(signature, evals=evals):
            continue
        warned = [log.warned[signature.id] for log in logs if signature.id in log.warned]
        if warned:
            return _first(warned)
    return None


def explains(signature: Signature, *, evals: bool) -> bool:
    """Whether a warning of this kind is a cause of a failed gate."""
    return signature.warning and signature.layer == "path" and not (evals and signature.roles == ("benchmark",))


def _grave_warning(logs: Sequence[Log]) -> Event | None:
    """Where nothing else is wrong and nothing completed, a line that calls itself an error is one."""
    if any(log.completed or log.progress for log in logs):
        return None
    grave = [event for log in logs for event in log.warned.values() if event.kind == "exception"]
    return _first(grave) if grave else None


def _hung(logs: Sequence[Log]) -> bool:
    """No finished request, or none for long, while the job held its GPUs: until its time limit, or for half an hour."""
    servers = [log for log in logs if log.lines and log.role not in ("benchmark", "eval", "infra")]
    if not servers or any(log.completed for log in logs):
        return False
    limited = any(log.limit for log in logs)
    spans = [(log.first.at, log.last.at) for log in logs if log.first and log.last and None not in (log.first.at, log.last.at)]
    progress = [log.progress.at for log in logs if log.progress]
    end = max((last for _, last in spans), default=None)
    if not progress:
        return limited or (end is not None and end - min(first for first, _ in spans) >= STALL_S)
    if end is None or None in progress:
        return False
    return end - max(progress) >= STALL_S


def _confidence(chosen: Event, events: Sequence[Event]) -> str:
    signature = chosen.signature
    if signature is None or signature.class_ is None:
        return "unknown"
    expected = not signature.roles or chosen.role in (*signature.roles, "other")
    same = [event for event in events if rank(event) == rank(chosen) and event.signature is not signature]
    undated = any(event.moment is None for event in (chosen, *same)) and any(
        event.signature is None or event.signature.class_ != signature.class_ for event in same
    )
    sure = rank(chosen) in (SERVER, GATE) and not chosen.doubtful and expected and not undated
    return "sure" if sure else "likely"


def _others(chosen: Event, events: Sequence[Event]) -> tuple[str, ...]:
    def order(event: Event) -> tuple[int, float, int]:
        return rank(event), event.moment if event.moment is not None else float("inf"), event.line

    named = _unique(event.signature.id for event in sorted(events, key=order) if event.signature)
    return tuple(name for name in named if name != (chosen.signature.id if chosen.signature else None))


def _unique(names: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(names))
