"""A server that was launched, seen from the program that follows it."""

from __future__ import annotations

import signal
from collections.abc import Callable

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


def ended(code: int) -> str:
    """How a program ended, in words: by a signal (a shell's and a container's 128 + N too) or with a code."""
    number = -code if code < 0 else code - 128 if 128 < code < 160 else 0
    try:
        name = signal.Signals(number).name if number else ""
    except ValueError:
        name = ""
    return f"ended by {name}" if code < 0 and name else f"exit code {code}{f' ({name})' if name else ''}"
