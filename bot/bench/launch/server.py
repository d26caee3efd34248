"""A server that was launched, seen from the program that follows it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from bot.bench.host import Server
from bot.model.bench import Launched
from bot.ports import Running


class Followed:
    """Satisfies Server: it is over when the program that follows it has ended; `why` makes a line of its exit code."""

    def __init__(self, launched: Launched, running: Running, why: Callable[[int], str]) -> None:
        self.launched, self._running, self._why = launched, running, why
        self._over: str | None = None

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self.launched.url

    def over(self) -> str | None:
        """Why it no longer runs; None while it does."""
        if self._over is None and (code := self._running.ended()) is not None:
            self._over = self._why(code)
        return self._over


MOST_PRINTED = 512 << 20
"""Bytes of a server's log. One that printed without end wrote 771 MB in 13 seconds, and a runner's disk is everybody's."""


class Bounded:
    """The same server, which is over too once its log has grown past `most` bytes: who waits for it then stops it."""

    def __init__(self, server: Server, log: Path, most: int = MOST_PRINTED) -> None:
        self._server, self._log, self._most = server, log, most

    @property
    def launched(self) -> Launched:
        return self._server.launched

    @property
    def url(self) -> str:
        """As the server's own."""
        return self._server.url

    def over(self) -> str | None:
        """Why it no longer runs, or may not; None while it does."""
        why = self._server.over()
        if why is None and self._log.exists() and self._log.stat().st_size > self._most:
            return f"it printed more than {self._most >> 20} MB, and is stopped"
        return why


def ended(code: int) -> str:
    """How a program ended, in words: by a signal (a shell's and a container's 128 + N too) or with a code."""
    number = -code if code < 0 else code - 128 if 128 < code < 160 else 0
    try:
        name = signal.Signals(number).name if number else ""
    except ValueError:
        name = ""
    return f"ended by {name}" if code < 0 and name else f"exit code {code}{f' ({name})' if name else ''}"
