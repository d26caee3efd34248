"""One repeat of a load: AIPerf beside the server, until it ends or must be ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from bot.bench.host import Host, Place, Server
from bot.bench.integrity import Tally
from bot.bench.load import command, ends, exports
from bot.bench.watch import watched
from bot.errors import Missing, Refusal
from bot.ports import Running

LOG = "aiperf.log"
INSTALL = "install it: pip install -r requirements-bench.lock, and put its folder on the PATH"
_HURRIED_S, _PATIENT_S, _LAST_S, _LOOK_S = 4.0, 60.0, 1.0, 0.1


class Ran(Struct, frozen=True, kw_only=True):
    """What came of a repeat. `summary` None: AIPerf came to no result; `code` None: it was stopped."""

    number: int
    tally: Tally
    summary: exports.Summary | None = None
    code: int | None = None
    seconds: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether AIPerf measured all that it was going to."""
        return self.code == 0 and self.summary is not None and self.summary.whole


class Polite:
    """A program that is asked as Ctrl-C does before it is stopped: AIPerf (0.13) writes what it has on SIGINT alone, and ends at
    once on SIGTERM with nothing but single requests written. With `patient` it has a minute for it, else four seconds: a
    runner that is cancelled has ten for everything."""

    def __init__(self, running: Running, host: Host, patient: Callable[[], bool]) -> None:
        self._running, self._host, self._patient, self.pid = running, host, patient, running.pid

    def ended(self) -> int | None:
        """As the program's own."""
        return self._running.ended()

    def interrupt(self) -> None:
        """As the program's own."""
        self._running.interrupt()

    def stop(self, grace_s: float = _LAST_S) -> int:
        """Asks it, waits, and stops it where that did not help. The grace is this class's own."""
        if self.ended() is None:
            self.interrupt()
            clock, most = self._host.clock, _PATIENT_S if self._patient() else _HURRIED_S
            asked = clock.now()
            while self.ended() is None and (clock.now() - asked).total_seconds() < most:
                clock.sleep(_LOOK_S)
        return self._running.stop(_LAST_S)


def run(ask: command.Ask, number: int, host: Host, server: Server, place: Place, env: dict[str, str], limit_s: float) -> int:
    """AIPerf's exit code, after its end. Its console is appended to logs/aiperf.log. Missing where it is not installed; else as
    `watched`."""
    try:
        ask.folder.mkdir(parents=True)
    except OSError as error:
        raise Refusal(f"cannot make {ask.folder}: {error.strerror}", "make room, or give another --out") from None
    log, finished = place.logs / LOG, exports.Finished(ask.folder)
    since, begun = size(log), host.clock.now()
    total = ask.load.requests + ask.load.warmup

    def progress() -> str:
        return "; ".join(filter(None, (f"{finished.count()} of {total} requests", ends.progress(log, since))))

    def patient() -> bool:
        return server.over() is not None or (host.clock.now() - begun).total_seconds() > limit_s

    try:
        running = host.programs.start(command.words(ask), log=log, env=env)
    except Missing as error:
        raise Missing(error.reason, INSTALL) from None
    return watched(host, Polite(running, host, patient), server, what=f"the load (repeat {number})", limit_s=limit_s,
                   progress=progress)


def size(log: Path) -> int:
    """Bytes that a log has already."""
    return log.stat().st_size if log.exists() else 0
