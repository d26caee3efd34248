"""One point measured, from the hardware facts to the finished folders: a table of stages, and one way out for all of them.

Whatever ends it (a stage that refuses, a server that dies, a signal, a full disk), the same is done: what is known is on the
disk at once, what was started is stopped and removed, and what was measured is collected.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from bot import __version__
from bot.bench import effective, evals, hardware, kept, launch, load, probes, ready, rows
from bot.bench.host import Host, Place, Server
from bot.bench.watch import ServerDied
from bot.errors import BumpbotError, Refusal, Stopped
from bot.model.bench import Gate, Hardware, Machine, Order, Report, Scalar, Setting, State
from bot.model.result import Reported
from bot.results import Metrics
from bot.results.reportfile import reported

OTHERS = ("launch", "ready", "gates", "load", "evals", "stop")
"""Spans that are the server's, the tools' and the gates' answers; what is left of the whole is the harness's own."""


@dataclass(frozen=True)
class Known:
    """Packaged knowledge, read by who calls: metrics, where each engine tells its settings, and what its reports prove of the
    image that was ordered."""

    metrics: Metrics
    effective: Any
    proof: Callable[[Order, tuple[Reported, ...]], Gate] | None = None


@dataclass
class Run:
    """A measurement on its way; `report` is what is known so far."""

    order: Order
    machine: Machine
    host: Host
    place: Place
    known: Known
    report: Report
    stack: ExitStack = field(default_factory=ExitStack)
    server: Server | None = None
    facts: Hardware = field(default_factory=Hardware)
    suite: Any = None

    def tell(self, **told: Any) -> None:
        """More is known. Gates, settings and tools add to those before."""
        for name in ("gates", "settings"):
            if name in told:
                told[name] = (*getattr(self.report, name), *told[name])
        self.report = replace(self.report, **told)

    def spent(self, name: str, seconds: float) -> None:
        self.tell(seconds={**self.report.seconds, name: round(self.report.seconds.get(name, 0.0) + seconds, 3)})

    @property
    def running(self) -> Server:
        """The server, which a stage before has launched."""
        if self.server is None:
            raise ValueError("no server was launched")
        return self.server


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


def measure(order: Order, machine: Machine, host: Host, place: Place, known: Known) -> Report:
    """Measures one point; the folders are finished when it returns. It raises only what cannot be kept: a disk on which not even
    the end can be written, and a fault of ours (after the stop)."""
    began = host.clock.now()
    run = Run(order, machine, host, place, known, Report(
        bumpbot=__version__, state="running", order=order, began=_moment(began)))
    faults: list[Exception] = []
    host.interrupts.at_once(lambda how: kept.report(place, _ended(run, _stopped(how))))
    try:
        end = _through(run, faults)
        host.interrupts.hold()
    except Stopped as stop:
        _salvaged(run, stop)
        end = _stopped(str(stop))
    try:
        return _finished(run, end, began)
    finally:
        for fault in faults:
            raise fault


def _through(run: Run, faults: list[Exception]) -> End:
    """Every stage in its order, or why it went no further."""
    measuring = False
    try:
        kept.report(run.place, run.report)
        for stage in STAGES:
            if stage.only in ("", run.order.kind):
                run.host.say(stage.name)
                measuring = measuring or stage.measuring
                began = run.host.clock.now()
                try:
                    stage.do(run)
                finally:
                    if stage.span:
                        run.spent(stage.span, _since(run, began))
                kept.report(run.place, run.report, sync=False)
    except BumpbotError as error:
        _salvaged(run, error)
        return End("partial" if measuring else "refused", error.reason, error.hint, error.exit_code)
    except OSError as error:
        _salvaged(run, error)
        what = str(error.filename or "a file")
        return End("partial" if measuring else "refused", f"{what}: {error.strerror}", "look at its rights and the space left", 1)
    except Exception as error:
        _salvaged(run, error)
        faults.append(error)
        return End("partial", f"internal error: {type(error).__name__}", "please report it", 1)
    return End("complete")


def _finished(run: Run, end: End, began: datetime) -> Report:
    """Told first, in case nothing else can be done any more; then stopped, collected and summed up."""
    host, place = run.host, run.place
    with suppress(OSError):  # whatever the disk says, what was started is stopped
        kept.closed(place)
        if end.state != "complete":
            kept.report(place, _ended(run, end))
    host.say("stop")
    stopping = host.clock.now()
    try:
        run.stack.close()
    except (BumpbotError, OSError) as error:
        end = End("partial", f"not everything could be stopped: {error}", "look for it, and end it yourself", 1)
    run.spent("stop", _since(run, stopping))
    if host.interrupts.asked and end.state == "complete":
        end = _stopped(host.interrupts.asked)
    host.say("collect")
    told = rows.gathered(run.order, place, run.known.metrics, host.env, run.report.launched, run.report.gates)
    if end.state == "complete" and (told.broken or not rows.enough(run.order, told.rows)):
        end = End("partial", told.broken[0] if told.broken else "nothing was measured", "look into logs/, and run it again", 1)
    run.tell(rows=told.rows if end.state == "complete" else rows.partial(told.rows))
    kept.rows(place, run.report.rows)
    files = kept.files(place)
    whole = _since(run, began)
    seconds = {**run.report.seconds, "whole": round(whole, 3)}
    seconds["harness"] = round(max(0.0, whole - sum(seconds.get(name, 0.0) for name in OTHERS)), 3)
    run.tell(seconds=seconds, files=files)
    report = _ended(run, end)
    kept.report(place, report)
    kept.sums(place, files)
    return report


def _ended(run: Run, end: End) -> Report:
    report = replace(run.report, state=end.state, reason=end.reason, hint=end.hint, ended=_moment(run.host.clock.now()))
    return replace(report, exit_code=end.exit_code if end.state != "complete" else int(not report.good))


def _stopped(how: str) -> End:
    return End("partial", f"stopped by {how}", "run it again: what was measured is kept, and counts for nothing", 1)


def _salvaged(run: Run, error: BaseException) -> None:
    """What a load or an eval that failed knows all the same."""
    loaded = getattr(error, "loaded", None)
    if loaded is not None:
        _took(run, loaded)


def _moment(now: datetime) -> str:
    return now.isoformat(timespec="seconds")


def _since(run: Run, began: datetime) -> float:
    return max(0.0, (run.host.clock.now() - began).total_seconds())


# ---------------------------------------------------------------------------------------------------- the stages

def _hardware(run: Run) -> None:
    run.facts = hardware.facts(run.host)
    run.tell(hardware=run.facts)
    hardware.check(run.order, run.facts)


def _asked(run: Run) -> None:
    """How large the eval is, asked before a GPU is held: a task that nobody knows needs none."""
    run.suite = evals.prepare(run.order, run.machine, run.host, run.place)
    run.spent("evals", run.suite.seconds)


def _launch(run: Run) -> None:
    run.server = launch.begin(run.order, run.machine, run.host, run.place, run.stack)
    run.tell(launched=run.server.launched)


def _ready(run: Run) -> None:
    said = ready.wait(run.order, run.running, run.machine, run.host, run.place)
    run.tell(said=said, launched=run.running.launched)


def _proven(run: Run) -> None:
    """A server that says it is another version than the image's is told before it costs a load."""
    if run.known.proof is not None:
        gate = run.known.proof(run.order, reported(run.order, run.report.launched, run.report.said))
        run.tell(gates=(gate,))
        if gate.passed is False:
            raise Refusal(f"another image than the one that was ordered: {gate.said}", "look at what lies under its tag here")


def _settings(run: Run) -> None:
    found = effective.check(run.order, run.running, run.host, run.place, run.known.effective)
    lowered = [one for one in found if one.state == "lowered"]
    known = [one for one in found if one.state != "unknown"]
    said = f"{len(known)} of {len(found)} known" if found else "nothing was asked that a server tells"
    gate = Gate(name="settings", phase="before", passed=not lowered if known else None,
                said="; ".join(map(_lowered, lowered)) or said)
    run.tell(settings=found, gates=(gate,))
    if lowered:
        more = f", and {len(lowered) - 1} more" if len(lowered) > 1 else ""
        raise Refusal(f"the server lowered {_lowered(lowered[0])}{more}", "ask for what it can give: a load would measure another "
                      "configuration")


def _before(run: Run) -> None:
    found = probes.run(run.order, run.running, run.host, "before")
    run.tell(gates=found)
    _holds(found)


def _load(run: Run) -> None:
    with hardware.Watch(run.host, run.facts) as watch:
        try:
            _took(run, load.run(run.order, run.running, run.machine, run.host, run.place))
        finally:
            run.tell(hardware=replace(run.facts, strain=tuple(watch.strain)))


def _evals(run: Run) -> None:
    with hardware.Watch(run.host, run.facts) as watch:
        try:
            _took(run, evals.run(run.order, run.running, run.machine, run.host, run.place, suite=run.suite))
        finally:
            run.tell(hardware=replace(run.facts, strain=tuple(watch.strain)))


def _after(run: Run) -> None:
    if (why := run.running.over()) is not None:
        raise ServerDied(f"the server ended after it was loaded: {why}", "its log is kept: bumpbot triage logs")
    run.tell(gates=probes.run(run.order, run.running, run.host, "after"))
    if (why := run.running.over()) is not None:
        raise ServerDied(f"the server ended after it was loaded: {why}", "its log is kept: bumpbot triage logs")


def _took(run: Run, loaded: Any) -> None:
    run.tell(counts=loaded.counts, gates=loaded.gates, settings=loaded.settings, tools={**run.report.tools, **loaded.tools})
    run.spent("evals" if run.order.eval else "load", loaded.seconds)


def _holds(gates: tuple[Gate, ...]) -> None:
    """A gate that fails before the load fails after it too, and by then has cost a load."""
    failed = list(dict.fromkeys(gate.name for gate in gates if gate.passed is False))
    if failed:
        raise Refusal(f"before any load {'these gates do' if len(failed) > 1 else 'this gate does'} not hold: {', '.join(failed)}",
                      "bench.json says what was answered")


def _lowered(one: Setting) -> str:
    return f"{one.name} from {_short(one.asked)} to {_short(one.effective)}"


def _short(value: Scalar) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


STAGES = (
    Stage("hardware", _hardware),
    Stage("size of the eval", _asked, only="eval"),
    Stage("launch", _launch, "launch"),
    Stage("ready", _ready, "ready"),
    Stage("image", _proven),
    Stage("settings", _settings),
    Stage("gates before", _before, "gates"),
    Stage("load", _load, only="throughput", measuring=True),
    Stage("eval", _evals, only="eval", measuring=True),
    Stage("gates after", _after, "gates", measuring=True),
)
"""In this order: what costs least is asked first."""
