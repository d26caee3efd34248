"""The load of a throughput point: AIPerf, once a repeat, and what its exports say of it.

Each repeat is a process of its own. AIPerf can repeat by itself (`--num-profile-runs`), but starts anew each time all the same
(three took 56 s, one 16 to 21 s), warms up only once, and writes nothing of them together when the third dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from bot.bench import served
from bot.bench.host import Host, Place, Server
from bot.bench.integrity import Tally
from bot.bench.load import command, ends, environment, exports, listed, offline, repeat, trace, windows
from bot.bench.load.repeat import Ran
from bot.bench.watch import LOOK_S, ServerDied
from bot.errors import Missing, Refusal, Unreachable
from bot.model.bench import Counts, Gate, Load, Machine, Order, Setting

_LOOKS = 5


class Loaded(Struct, frozen=True, kw_only=True):
    """What came of a load: requests over all repeats, gates, what was asked against what was sent, versions of tools, and seconds
    that AIPerf took. `cut` are the repeats that did not come to their end, by their folder below results."""

    counts: Counts
    gates: tuple[Gate, ...] = ()
    settings: tuple[Setting, ...] = ()
    tools: dict[str, str] = {}
    seconds: float = 0.0
    cut: tuple[str, ...] = ()


def prepare(order: Order, machine: Machine, host: Host, place: Place) -> Path | None:
    """Looks, before a server is started, at all that a load needs beside it; returns the file of the trace, if there is one.

    Missing without AIPerf, the trace, or a tokenizer or data set that may not be fetched; Refusal for a trace that is another or
    lies outside the repository, and for names that AIPerf may not be given or does not know.
    """
    if order.load is None:
        raise Refusal(f"{order.id} is no throughput point", "it is an eval")
    command.checked(order, order.load)
    if not host.programs.found(command.PROGRAM):
        raise Missing(f"there is no program {command.PROGRAM} on the PATH", repeat.INSTALL)
    played = trace.path(order.load.trace, place.repository)
    offline.checked(order, machine, host.env, listed.checked(order.load.trace, host))
    return played


def run(order: Order, server: Server, machine: Machine, host: Host, place: Place) -> Loaded:
    """Runs the load of a throughput order and says what came of it.

    Missing without AIPerf or the trace; Refusal where AIPerf measured nothing; `ServerDied`, Unreachable past the machine's limit,
    and every other way out: then `loaded` of the exception is what was measured until there, and the exports lie in
    results/aiperf/.
    """
    played, load = prepare(order, machine, host, place), order.load
    assert load is not None
    ran: list[Ran] = []
    try:
        name, begun = served.name(order, server, host), host.clock.now()
        with environment.scratch() as home:
            env = environment.of(order, machine, host.env, home)
            for number in range(1, load.repeats + 1):
                left = machine.load_minutes * 60 - (host.clock.now() - begun).total_seconds()
                if left <= 0:
                    raise _late(machine)
                ask = command.Ask(order=order, load=load, url=server.url, name=name, seed=command.seed(number),
                                  folder=exports.folder(place.results, number), limit_s=command.limit(order, machine), trace=played)
                if not _repeat(ask, number, host, server, machine, place, env, left, ran):
                    break
    except BaseException as error:
        error.loaded = _told(order, load, ran)  # type: ignore[attr-defined]
        raise
    return _told(order, load, ran)


def _late(machine: Machine) -> Unreachable:
    return Unreachable(f"the load took longer than {machine.load_minutes:g} minutes", "raise load-minutes in the machine file")


def _repeat(ask: command.Ask, number: int, host: Host, server: Server, machine: Machine, place: Place, env: dict[str, str],
            left: float, ran: list[Ran]) -> bool:
    """One repeat, added to those that ran however it ends; whether the next may follow."""
    log = place.logs / repeat.LOG
    since, begun, code = repeat.size(log), host.clock.now(), None
    host.say(f"load, repeat {number} of {ask.load.repeats}: {ask.load.requests} requests, {ask.order.concurrency} at once")
    try:
        code = repeat.run(ask, number, host, server, place, env, left)
    except Unreachable:
        raise _late(machine) from None
    finally:
        if ask.folder.is_dir():
            seconds = (host.clock.now() - begun).total_seconds()
            ran.append(Ran(number=number, tally=exports.tally(ask.folder, ask.load.output), code=code, seconds=seconds,
                           summary=exports.summary(ask.folder)))
    exports.pack(ask.folder)
    if ran[-1].tally.counts.failed or ran[-1].summary is None:
        _alive(server, host, number)
    if ran[-1].summary is None:
        raise ends.refused(log, since, code)
    return ran[-1].whole


def _alive(server: Server, host: Host, number: int) -> None:
    """`ServerDied` where requests failed since the server ended: which of the two is seen first is chance."""
    for _ in range(_LOOKS):
        if (why := server.over()) is not None:
            raise ServerDied(f"the server ended during the load (repeat {number}): {why}", "its log is kept: bumpbot triage logs")
        host.clock.sleep(LOOK_S)


def _told(order: Order, load: Load, ran: Sequence[Ran]) -> Loaded:
    counts = _added([one.tally for one in ran])
    version = next((one.summary.aiperf_version for one in ran if one.summary and one.summary.aiperf_version), "")
    return Loaded(
        counts=counts, gates=windows.gates(order, load, ran, counts) if ran else (),
        settings=windows.settings(order, load, ran) if ran else (), tools={"aiperf": version} if version else {},
        seconds=sum(one.seconds for one in ran),
        cut=tuple(exports.folder(Path(), one.number).as_posix() for one in ran if not one.whole))


def _added(tallies: Sequence[Tally]) -> Counts:
    """The requests of all repeats."""
    all_of = [one.counts for one in tallies]
    kinds: dict[str, int] = {}
    for counts in all_of:
        for kind, count in counts.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
    return Counts(**{name: sum(getattr(counts, name) for counts in all_of)
                     for name in ("warmup", "profiled", "failed", "invalid", "cancelled")}, kinds=dict(sorted(kinds.items())))
