"""Waiting for a program beside a server: whichever ends first, and never for longer than the limit."""

from __future__ import annotations

from collections.abc import Callable

from bot.bench.host import Host, Server
from bot.errors import Refusal, Unreachable
from bot.ports import Running

LOOK_S, TELL_S = 0.2, 30.0


class ServerDied(Refusal):
    """The server ended while it was needed. What was measured until then is kept."""


def watched(host: Host, running: Running, server: Server, *, what: str, limit_s: float,
            progress: Callable[[], str] = lambda: "") -> int:
    """The program's exit code. It is stopped when the server ends (`ServerDied`) or the limit passes (`Unreachable`), and on
    every other way out; a line of progress is told each half minute."""
    begun = told = host.clock.now()
    try:
        while (code := running.ended()) is None:
            if (why := server.over()) is not None:
                raise ServerDied(f"the server ended during {what}: {why}", "its log is kept: bumpbot triage logs")
            now = host.clock.now()
            if (now - begun).total_seconds() > limit_s:
                raise Unreachable(f"{what} took longer than {limit_s / 60:g} minutes", "raise load-minutes in the machine file")
            if (now - told).total_seconds() >= TELL_S:
                told = now
                host.say(f"{what}: {(now - begun).total_seconds():.0f} s {progress()}".rstrip())
            host.clock.sleep(LOOK_S)
        return code
    finally:
        running.stop()
