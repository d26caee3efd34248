"""What every launcher is given, and how it calls the programs that do the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.bench.host import Host, Place
from bot.errors import Unreachable
from bot.model.bench import Machine, Order
from bot.ports import Running

LOOK_S, TELL_S = 0.1, 30.0


@dataclass(frozen=True)
class Start:
    """One start of a server. `port` is free on this machine; `name` is what container or job are called."""

    order: Order
    machine: Machine
    host: Host
    place: Place
    stack: ExitStack
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        return f"bumpbot-{os.getpid()}-{self.port}"

    @property
    def log(self) -> Path:
        """What the launcher and its programs said."""
        return self.place.logs / "launch.log"

    @property
    def server_log(self) -> Path:
        return self.place.logs / "server.log"

    def told(self, line: str) -> None:
        """One line for the person who watches, and for the log."""
        self.host.say(line)
        self.noted(line)

    def noted(self, text: str) -> None:
        """A line in the log alone."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{text.rstrip()}\n")

    def asked(self, argv: Sequence[str], env: Mapping[str, str], limit_s: float = 30.0) -> tuple[int, str, str]:
        """Exit code and both outputs of a program that answers at once; what it said stands in the log."""
        self.noted(f"$ {_shown(argv)}")
        code, out, err = self.host.programs.run(argv, env=env, limit_s=limit_s)
        words = [part.decode("utf-8", "replace").strip() for part in (out, err)]
        self.noted("\n".join([*filter(None, words), *([f"exit code {code}"] if code else [])]) or "done")
        return code, words[0], words[1]

    def called(self, argv: Sequence[str], env: Mapping[str, str], *, what: str, limit_s: float,
               patience_s: float = 0.0) -> tuple[int, str]:
        """Exit code and output (both, as they came) of a program that takes its time: its output goes to the log while it
        runs, and it is stopped on every way out, after `patience_s` seconds in which it may end by itself. Unreachable past the
        limit."""
        self.noted(f"$ {_shown(argv)}")
        before, clock = self.log.stat().st_size, self.host.clock
        begun = told = clock.now()
        running = self.host.programs.start(argv, log=self.log, env=env)
        try:
            while (code := running.ended()) is None:
                now = clock.now()
                if (now - begun).total_seconds() > limit_s:
                    raise Unreachable(f"{what} took longer than {limit_s / 60:g} minutes",
                                      "raise startup-minutes in the machine file, or do it once by hand")
                if (now - told).total_seconds() >= TELL_S:
                    told = now
                    self.host.say(f"{what}: {(now - begun).total_seconds():.0f} s")
                clock.sleep(LOOK_S)
        finally:
            self._patient(running, patience_s)
            running.stop(2.0)
        with self.log.open("rb") as file:
            file.seek(before)
            return code, file.read(1_000_000).decode("utf-8", "replace")

    def _patient(self, running: Running, seconds: float) -> None:
        clock = self.host.clock
        until = clock.now() + timedelta(seconds=seconds)
        while running.ended() is None and clock.now() < until:
            clock.sleep(LOOK_S)


def tail(file: Path, size: int = 65_536) -> str:
    """The end of a log; empty where there is none."""
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - size))
            return stream.read(size).decode("utf-8", "replace")
    except OSError:
        return ""


def _shown(argv: Sequence[str]) -> str:
    return " ".join(word if word and not set(word) & set(" \t\n'\"\\$`") else repr(word) for word in argv)
