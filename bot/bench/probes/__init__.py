"""The gate before and after the load: a few questions whose answers must hold, streamed and not.

Before the load a failure ends the point while it has cost seconds; after it, the same questions show what the load broke. Each
(gate, streamed or not) is one `Gate`: it passes when every probe of it holds, and says the first that does not.

    stream   a plain answer: finish reason, usage, text, `[DONE]`, and streamed the same text as in one piece
    json     `response_format` json_object and json_schema: it parses, and fits the schema
    tools    one tool, `tool_choice: auto`: name, id, arguments of its schema, finish reason; then its result, and a last answer

**Asked once more.** Before the load one probe of the phase is asked again where its connection was refused, reset or cut, or the
answer was a status of 5xx: a server that has just come up does that once, and the point would have been refused for it, hours of
waiting for a runner with it. The gate says so. A second such fault, a wrong answer, silence until the limit, and all that comes
after the load stand as they are.

What is asked is `asked.wanted`. Untrusted words of an answer are cut, escaped and only ever in `said`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from bot.bench import room, served, waiting
from bot.bench.host import Host, Server
from bot.bench.probes import asked
from bot.bench.probes.ask import Asker, Silent, Wrong
from bot.bench.probes.reply import told
from bot.bench.probes.table import PROBES, Unsure
from bot.bench.watch import ServerDied
from bot.model.bench import Gate, Machine, Order

LIMIT_S, FIRST_S = 120.0, 600.0
"""Of one answer. A server's first request may build kernels for minutes (DeepGEMM, torch.compile) though it says it is ready."""
_MACHINE = Machine()
MOST_TOKENS = 2048
"""Of one answer, thinking included: thought about a weather question has taken more than 500."""
REST_S = 0.5
"""A program that breaks off in the middle of an answer may take this long to have ended."""
_Phase = Literal["before", "after"]
_Fault = Literal["", "error", "hung"]


class _Found(NamedTuple):
    """What came of one gate's probes: whether all hold (None: it cannot be told), the first that does not; `passing`: for a reason
    that may be over a moment later."""

    passed: bool | None
    said: str = ""
    fault: _Fault = ""
    passing: bool = False


def limits(machine: Machine) -> tuple[float, float]:
    """Seconds that an answer may take, and the very first: never longer than one request of a load, or a start, may here."""
    each = min(machine.request_seconds or LIMIT_S, machine.load_minutes * 60)
    return each, max(each, min(FIRST_S, machine.startup_minutes * 60, machine.load_minutes * 60))


def run(order: Order, server: Server, host: Host, phase: _Phase, machine: Machine = _MACHINE) -> tuple[Gate, ...]:
    """Every gate that is asked for, within `limits`; what takes more than two seconds is told meanwhile. Raises ServerDied where
    the server ended; all else that goes wrong is a gate that fails.

    After the first question without any answer nothing more is asked: a server that hangs would take its limit each time.
    """
    limit_s, first_s = limits(machine)
    model, context = served.name(order, server, host), room.context(order, server, host)
    tokens = MOST_TOKENS if context is None else max(32, min(MOST_TOKENS, context // 2))
    ask = Asker(web=host.web, url=server.url, model=model, tokens=tokens, limit_s=first_s if phase == "before" else limit_s)
    gates: list[Gate] = []
    hung, spare = "", phase == "before"
    for name, stream in ((name, stream) for name in PROBES for stream in (False, True)):
        wanted = asked.wanted(order, name)
        if wanted == "no":
            continue
        if hung:
            gates.append(_gate(name, _Found(None, f"not asked: {hung}"), phase, stream))
            continue
        with waiting.telling(host, f"gates {phase}: {name}", ask.limit_s):
            found = _asked(name, ask.streaming(stream), wanted, server, host)
            if spare and found.passing:
                spare = False
                host.say(f"gate {name}, asked once more: {told(found.said, 200, quote=False)}")
                found = _twice(found.said, _asked(name, ask.streaming(stream), wanted, server, host))
        ask = ask.within(limit_s)
        hung = found.said if found.fault == "hung" else ""
        gates.append(_gate(name, found, phase, stream))
    return tuple(gates)


def _asked(name: str, ask: Asker, wanted: asked.Wanted, server: Server, host: Host) -> _Found:
    """What comes of this gate's probes. Raises ServerDied where the server ended over them."""
    began = host.clock.now()
    found = _held(name, ask, wanted)
    if found.fault == "hung":
        host.clock.sleep(REST_S)
        if (host.clock.now() - began).total_seconds() < ask.limit_s:
            found = found._replace(fault="", passing=True)
    if (why := server.over()) is not None:
        raise ServerDied(f"the server ended while it was asked for {name}: {why}", "its log is kept: bumpbot triage logs")
    return found


def _held(name: str, ask: Asker, wanted: asked.Wanted) -> _Found:
    """Whether every probe of this gate holds; no answer at all is told as `hung`."""
    for probe in PROBES[name]:
        try:
            probe.holds(ask)
        except Unsure as why:
            return _Found(None, f"{probe.name}: {why}")
        except Silent as why:
            return _Found(False, f"no answer to {probe.name}: {why}", "hung")
        except Wrong as why:
            # A refusal of the request itself is a fault only where somebody said that the server can.
            passed = None if why.unsupported and wanted == "may" else False
            return _Found(passed, f"{probe.name}: {why}", "error" if why.failed else "", why.passing)
    return _Found(True)


def _twice(first: str, found: _Found) -> _Found:
    """The second try, which says what the first met."""
    return found._replace(said=f"asked twice: first {first}; then {found.said or 'it held'}")


def _gate(name: str, found: _Found, phase: _Phase, stream: bool) -> Gate:
    return Gate(name=name, passed=found.passed, said=told(found.said, 300, quote=False), phase=phase, stream=stream,
                fault=found.fault)
