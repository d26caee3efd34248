"""The gate before and after the load: a few questions whose answers must hold, streamed and not.

Before the load a failure ends the point while it has cost seconds; after it, the same questions show what the load broke. Each
(gate, streamed or not) is one `Gate`: it passes when every probe of it holds, and says the first that does not.

    stream   a plain answer: finish reason, usage, text, `[DONE]`, and streamed the same text as in one piece
    json     `response_format` json_object and json_schema: it parses, and fits the schema
    tools    one tool, `tool_choice: auto`: name, id, arguments of its schema, finish reason; then its result, and a last answer

What is asked is `asked.wanted`. Untrusted words of an answer are cut, escaped and only ever in `said`.
"""

from __future__ import annotations

from typing import Literal

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
_How = Literal["", "silent", "error"]
_Fault = Literal["", "error", "hung"]


def limits(machine: Machine) -> tuple[float, float]:
    """Seconds that an answer may take, and the very first: never longer than one request of a load, or a start, may here."""
    each = min(machine.request_seconds or LIMIT_S, machine.load_minutes * 60)
    return each, max(each, min(FIRST_S, machine.startup_minutes * 60, machine.load_minutes * 60))


def run(order: Order, server: Server, host: Host, phase: _Phase, machine: Machine = _MACHINE) -> tuple[Gate, ...]:
    """Every gate that is asked for, within `limits`; what takes more than two seconds is told meanwhile. Raises ServerDied
    where the server ended; all else that goes wrong is a gate that fails.

    After the first question without any answer nothing more is asked: a server that hangs would take its limit each time.
    """
    limit_s, first_s = limits(machine)
    model, context = served.name(order, server, host), room.context(order, server, host)
    tokens = MOST_TOKENS if context is None else max(32, min(MOST_TOKENS, context // 2))
    ask = Asker(web=host.web, url=server.url, model=model, tokens=tokens, limit_s=first_s if phase == "before" else limit_s)
    gates: list[Gate] = []
    hung = ""
    for name, stream in ((name, stream) for name in PROBES for stream in (False, True)):
        wanted = asked.wanted(order, name)
        if wanted == "no":
            continue
        if hung:
            gates.append(_gate(name, None, f"not asked: {hung}", phase, stream))
            continue
        began = host.clock.now()
        with waiting.telling(host, f"gates {phase}: {name}", ask.limit_s):
            passed, said, how = _asked(name, ask.streaming(stream), wanted)
        if how == "silent":
            host.clock.sleep(REST_S)
        if (why := server.over()) is not None:
            raise ServerDied(f"the server ended while it was asked for {name}: {why}", "its log is kept: bumpbot triage logs")
        hung = said if how == "silent" and (host.clock.now() - began).total_seconds() >= ask.limit_s else ""
        ask = ask.within(limit_s)
        gates.append(_gate(name, passed, said, phase, stream, "hung" if hung else "error" if how == "error" else ""))
    return tuple(gates)


def _asked(name: str, ask: Asker, wanted: asked.Wanted) -> tuple[bool | None, str, _How]:
    """Whether every probe of this gate holds; the first that does not; and whether to that came no answer at all."""
    for probe in PROBES[name]:
        try:
            probe.holds(ask)
        except Unsure as why:
            return None, f"{probe.name}: {why}", ""
        except Silent as why:
            return False, f"no answer to {probe.name}: {why}", "silent"
        except Wrong as why:
            # A refusal of the request itself is a fault only where somebody said that the server can.
            return (None if why.unsupported and wanted == "may" else False), f"{probe.name}: {why}", "error" if why.failed else ""
    return True, "", ""


def _gate(name: str, passed: bool | None, said: str, phase: _Phase, stream: bool, fault: _Fault = "") -> Gate:
    return Gate(name=name, passed=passed, said=told(said, 300, quote=False), phase=phase, stream=stream, fault=fault)
