"""One point measured, from the hardware facts to the finished folders: a table of stages, and one way out for all of them.

Whatever ends it (a stage that refuses, a server that dies, a signal, a full disk), the same is done: what is known is on the
disk at once, what was started is stopped and removed, and what was measured is collected.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Literal, NamedTuple

from msgspec.structs import replace

from bot import __version__
from bot.bench import diary, kept, masked, rows, steps
from bot.bench.diary import Diary
from bot.bench.host import Host, Place
from bot.bench.run import Known, Run
from bot.errors import BumpbotError, Stopped
from bot.model.bench import Machine, Order, Report, State

__all__ = ["STAGES", "Known", "measure"]

OTHERS = ("launch", "ready", "gates", "load", "evals", "stop")
"""Spans that are the server's, the tools' and the gates' answers; what is left of the whole is the harness's own."""


class Stage(NamedTuple):
    """`span` is under which its time is told, empty where it tells that itself or is the harness's; `only` of one kind of point."""

    name: str
    do: Callable[[Run], None]
    span: str = ""
    only: Literal["", "throughput", "eval"] = ""
    measuring: bool = False


class End(NamedTuple):
    state: State
    reason: str = ""
    hint: str = ""
    exit_code: int = 0
    why: str = ""


def measure(order: Order, machine: Machine, host: Host, place: Place, known: Known) -> Report:
    """Measures one point; the folders are finished when it returns. It raises only what cannot be kept: a disk on which not even
    the end can be written, and a fault of ours (after the stop)."""
    began = host.clock.now()
    run = Run(order, machine, host, place, known, Report(
        bumpbot=__version__, state="running", order=order, began=_moment(began)))
    faults: list[Exception] = []
    day = Diary(place, host.clock.now)
    host.interrupts.at_once(lambda how: _told(run, day, _stopped(how)))
    try:
        end = _through(run, day, faults)
        host.interrupts.hold()
    except Stopped as stop:
        run.salvage(stop)
        end = _stopped(str(stop))
    try:
        return _finished(run, day, end, began)
    finally:
        for fault in faults:
            raise fault


def _through(run: Run, day: Diary, faults: list[Exception]) -> End:
    """Every stage in its order, or why it went no further."""
    measuring, at = False, ""
    try:
        kept.report(run.place, run.shown)
        for stage in STAGES:
            if stage.only in ("", run.order.kind):
                at = stage.name
                run.host.say(at)
                day.stage(at)
                measuring = measuring or stage.measuring
                began = run.host.clock.now()
                try:
                    stage.do(run)
                finally:
                    if stage.span:
                        run.spent(stage.span, _since(run, began))
                kept.report(run.place, run.shown, sync=False)
    except BumpbotError as error:
        run.salvage(error)
        over = run.server is not None and run.server.over() is not None
        return End("partial" if measuring else "refused", error.reason, error.hint, error.exit_code,
                   diary.why(error, at, over=over))
    except OSError as error:
        run.salvage(error)
        what = str(error.filename or "a file")
        return End("partial" if measuring else "refused", f"{what}: {error.strerror}", "look at its rights and the space left", 1,
                   diary.why(error, at))
    except Exception as error:
        run.salvage(error)
        faults.append(error)
        return End("partial", f"internal error: {type(error).__name__}", "please report it", 1,
                   diary.words("internal-error", at.replace(" ", "-")))
    return End("complete")


def _finished(run: Run, day: Diary, end: End, began: datetime) -> Report:
    """Told first, in case nothing else can be done any more; then stopped, collected and summed up."""
    host, place = run.host, run.place
    with suppress(OSError):  # whatever the disk says, what was started is stopped
        kept.closed(place)
        if end.state != "complete":
            _told(run, day, end)
    host.say("stop")
    stopping = host.clock.now()
    try:
        run.stack.close()
    except (BumpbotError, OSError) as error:
        end = End("partial", f"not everything could be stopped: {error}", "look for it, and end it yourself", 1,
                  diary.words("not-stopped"))
    run.spent("stop", _since(run, stopping))
    if host.interrupts.asked and end.state == "complete":
        end = _stopped(host.interrupts.asked)
    host.say("collect")
    told = rows.gathered(run.order, place, run.known.metrics, host.env, run.report.launched, run.report.gates,
                          run.report.counts)
    if end.state == "complete" and (told.broken or not rows.enough(run.order, told.rows)):
        end = End("partial", told.broken[0] if told.broken else "nothing was measured", "look into logs/, and run it again", 1,
                  diary.words("results-broken" if told.broken else "nothing-measured"))
    run.tell(rows=told.rows if end.state == "complete" else rows.partial(told.rows))
    kept.rows(place, run.report.rows)
    day.end(_end(run, end))
    masked.mask(place, run.secrets)
    files = kept.files(place)
    whole = _since(run, began)
    seconds = {**run.report.seconds, "whole": round(whole, 3)}
    seconds["harness"] = round(max(0.0, whole - sum(seconds.get(name, 0.0) for name in OTHERS)), 3)
    run.tell(seconds=seconds, files=files)
    report = _ended(run, end)
    kept.report(place, report)
    kept.sums(place, files)
    return report


def _told(run: Run, day: Diary, end: End) -> None:
    """An end before its time: should nothing else be written, this is."""
    kept.report(run.place, _ended(run, end))
    day.end(_end(run, end))


def _end(run: Run, end: End) -> str:
    return f"{end.state}: {end.why or diary.gates(run.report.gates) or 'good'}"


def _ended(run: Run, end: End) -> Report:
    reason, hint = (masked.text(words, run.secrets) for words in (end.reason, end.hint))
    report = replace(run.shown, state=end.state, reason=reason, hint=hint, ended=_moment(run.host.clock.now()))
    return replace(report, exit_code=end.exit_code if end.state != "complete" else int(not report.good))


def _stopped(how: str) -> End:
    return End("partial", f"stopped by {how}", "run it again: what was measured is kept, and counts for nothing", 1,
               diary.words("stopped", how))


def _moment(now: datetime) -> str:
    return now.isoformat(timespec="seconds")


def _since(run: Run, began: datetime) -> float:
    return max(0.0, (run.host.clock.now() - began).total_seconds())


STAGES = (
    Stage("hardware", steps.seen),
    Stage("size of the eval", steps.sized, only="eval"),
    Stage("load generator", steps.found, only="throughput"),
    Stage("launch", steps.launched, "launch"),
    Stage("ready", steps.awaited, "ready"),
    Stage("image", steps.proven),
    Stage("settings", steps.compared),
    Stage("gates before", steps.before, "gates"),
    Stage("load", steps.loaded, only="throughput", measuring=True),
    Stage("eval", steps.evaluated, only="eval", measuring=True),
    Stage("gates after", steps.after, "gates", measuring=True),
)
"""In this order: what costs least is asked first."""
