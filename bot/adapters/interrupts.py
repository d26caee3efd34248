"""Requests that this process end, heard as signals: the first raises where the process is, no later one breaks what it does then.

GitHub cancels a step with SIGINT, SIGTERM 7.5 s later and SIGKILL after another 2.5 s: a second signal is the usual case.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from bot.errors import Stopped

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Satisfies the Interrupts port between `with` and its end; the handlers from before come back then. Under `nohup` a lost
    terminal stays ignored; SIGINT does not, which shells let every program ignore that a script starts with `&`."""

    def __init__(self) -> None:
        self.asked = ""
        self._held = False
        self._first: Callable[[str], None] = lambda how: None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for number in HEARD:
            before = signal.getsignal(number)
            if number != signal.SIGHUP or before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)

    def at_once(self, do: Callable[[str], None]) -> None:
        """Done in the handler of the first signal, before anything else; what the disk refuses is let be."""
        self._first = do

    def hold(self) -> None:
        """From here on a signal is only remembered."""
        self._held = True

    def last(self) -> None:
        """Nothing is left to end but this process itself, on its own: no further signal may say that it ended otherwise."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        self._before.clear()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.asked = self.asked or signal.Signals(number).name
        if not self._held:
            self._held = True
            with suppress(OSError):
                self._first(self.asked)
            raise Stopped(self.asked)
