"""The steps of a measurement, each over the part of this room that does it: what is asked, what is kept of it, what ends it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bot.bench import diary, effective, evals, hardware, launch, load, probes, ready
from bot.bench.load import offline
from bot.bench.run import Run
from bot.bench.watch import ServerDied
from bot.errors import Refusal, Unreachable
from bot.model.bench import Gate, Scalar, Setting
from bot.results.reportfile import reported


def seen(run: Run) -> None:
    """The machine as its own tools tell it; one with other GPUs than the point's is refused, and one that lacks a folder which its
    file names."""
    offline.folders(run.order, run.machine)
    run.facts = hardware.facts(run.host)
    run.tell(hardware=run.facts)
    hardware.check(run.order, run.facts)


def sized(run: Run) -> None:
    """How large the eval is, asked before a GPU is held: a task that nobody knows needs none."""
    run.suite = evals.prepare(run.order, run.machine, run.host, run.place)
    run.spent("evals", run.suite.seconds)


def found(run: Run) -> None:
    """The load generator, the trace and the tokenizer, looked for before a GPU is held."""
    load.prepare(run.order, run.machine, run.host, run.place)


def launched(run: Run) -> None:
    """The server, from its image; how it is stopped and removed again is on the stack."""
    run.server = launch.begin(run.order, run.machine, run.host, run.place, run.stack)
    run.tell(launched=run.server.launched)


def awaited(run: Run) -> None:
    """Waits until the server answers, and hears what it says it is."""
    said = ready.wait(run.order, run.running, run.machine, run.host, run.place)
    run.tell(said=said, launched=run.running.launched)


def proven(run: Run) -> None:
    """A server that says it is another version than the image's is told before it costs a load."""
    if run.known.proof is not None:
        gate = run.known.proof(run.order, reported(run.order, run.report.launched, run.report.said))
        run.tell(gates=(gate,))
        if gate.passed is False:
            raise diary.known(
                Refusal(f"another image than the one that was ordered: {gate.said}", "look at what lies under its tag here"),
                "other-version", run.report.said.version if run.report.said else "?")


def compared(run: Run) -> None:
    """What was asked of the server beside what came of it; a limit that it lowered rejects the configuration."""
    found = effective.check(run.order, run.running, run.host, run.place, run.known.effective)
    lowered = [one for one in found if one.state == "lowered"]
    known = [one for one in found if one.state != "unknown"]
    said = f"{len(known)} of {len(found)} known" if found else "nothing was asked that a server tells"
    gate = Gate(name="settings", phase="before", passed=not lowered if known else None,
                said="; ".join(map(_lowered, lowered)) or said)
    run.tell(settings=found, gates=(gate,))
    if lowered:
        raise refused(lowered)


def refused(lowered: Sequence[Setting]) -> Refusal:
    """Of a server that lowered limits: the first by its numbers."""
    first, more = lowered[0], f", and {len(lowered) - 1} more" if len(lowered) > 1 else ""
    refusal = Refusal(f"the server lowered {_lowered(first)}{more}", "ask for what it can give: a load would measure another "
                      "configuration")
    return diary.lowered(refusal, first.name, first.asked, first.effective)


def before(run: Run) -> None:
    """The gates of answers, while a failure has cost seconds."""
    found = probes.run(run.order, run.running, run.host, "before", run.machine)
    run.tell(gates=found)
    _holds(found)


def loaded(run: Run) -> None:
    """A throughput point, loaded."""
    with hardware.Watch(run.host, run.facts, only=run.running.launched.gpus) as watch:
        try:
            run.took(load.run(run.order, run.running, run.machine, run.host, run.place))
        finally:
            run.tell(hardware=replace(run.facts, strain=tuple(watch.strain)))


def evaluated(run: Run) -> None:
    """An eval, asked."""
    with hardware.Watch(run.host, run.facts, only=run.running.launched.gpus) as watch:
        try:
            run.took(evals.run(run.order, run.running, run.machine, run.host, run.place, suite=run.suite))
        finally:
            run.tell(hardware=replace(run.facts, strain=tuple(watch.strain)))


def after(run: Run) -> None:
    """The gates once more: what the load broke shows here."""
    if (why := run.running.over()) is not None:
        raise ServerDied(f"the server ended after it was loaded: {why}", "its log is kept: bumpbot triage logs")
    run.tell(gates=probes.run(run.order, run.running, run.host, "after", run.machine))
    if (why := run.running.over()) is not None:
        raise ServerDied(f"the server ended after it was loaded: {why}", "its log is kept: bumpbot triage logs")


def _holds(gates: tuple[Gate, ...]) -> None:
    """A gate that fails before the load fails after it too, and by then has cost a load. One that hung is a limit that passed."""
    silent = next((gate for gate in gates if gate.fault == "hung"), None)
    if silent is not None:
        raise diary.gated(Unreachable(f"before any load the gate {silent.name} found {silent.said}",
                                      "look at the server's log, or raise request-seconds in the machine file"), gates)
    failed = list(dict.fromkeys(gate.name for gate in gates if gate.passed is False))
    if failed:
        these = "these gates do" if len(failed) > 1 else "this gate does"
        raise diary.gated(
            Refusal(f"before any load {these} not hold: {', '.join(failed)}", "bench.json says what was answered"), gates)


def _lowered(one: Setting) -> str:
    return f"{one.name} from {_short(one.asked)} to {_short(one.effective)}"


def _short(value: Scalar) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
