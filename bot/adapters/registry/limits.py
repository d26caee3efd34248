"""How often each registry may be asked: what it said of its limits, by our clock, kept between one bulk question and the next.

A limit is told in three forms: `Retry-After`, seconds or a moment at which it resets, and Docker Hub's
`ratelimit-remaining: 0;w=21600`, which names only the window that is used up. A registry that fails again and again is
asked no further either: two hundred references to a dead host would each wait for it in turn.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.adapters.http import LONGEST_WAIT_S, Answer, Busy, Limited, wait_asked
from bot.adapters.registry.hosts import Host
from bot.ports import Clock

# Questions in a row that a registry left unanswered, each after its own retries, before it is taken for dead.
STRIKES = 3
_LEFT = ("ratelimit-remaining", "x-ratelimit-remaining")
# A window longer than this is no window; the registry asks for more than a day of silence.
_LONGEST_WINDOW_S = 86_400


class Patience:
    """Until when each registry is not to be asked, for all that want something of it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # By registry, and whether only what spends the limit must wait: until when.
        self._until: dict[tuple[str, bool], datetime] = {}
        self._strikes: dict[str, Busy] = {}
        self._counts: dict[str, int] = {}
        self._whom: dict[str, str] = {}

    def begin(self) -> None:
        """A new bulk question: what was dead then may answer now. Limits stay, for they have their own time."""
        self._strikes, self._counts = {}, {}

    def left(self, host: Host, *, spends: bool) -> float:
        """Seconds to wait before this question, which may count towards a limit or not; Busy where that is longer than
        anybody waits, or the registry is dead."""
        if self._counts.get(host.api, 0) >= STRIKES:
            last = self._strikes[host.api]
            raise Busy(f"{host.name} is asked no further, it failed {STRIKES} times: {last.reason}", last.hint)
        now = self._clock.now()
        until = max(self._until.get((host.api, counted), now) for counted in ((False, True) if spends else (False,)))
        seconds = (until - now).total_seconds()
        if seconds > LONGEST_WAIT_S:
            raise Limited(f"{host.name} asks {self._whom[host.api]} for {_long(seconds)} without questions: rate limit reached",
                          "log in for a higher limit, or try again then", after_s=seconds)
        return seconds

    def heard(self, host: Host, answer: Answer, whom: str) -> None:
        """Takes note of the limits that an answer to `whom` tells, whatever its status: the one that used up the last unit
        says so."""
        now = self._clock.now()
        asked = _reset(answer) if (told := wait_asked(answer, now=now.timestamp())) is None else told
        if answer.status in (403, 429, 503) and asked is not None:
            self._hold(host, whom, False, now, asked)
        elif _spent(answer):
            self._hold(host, whom, True, now, asked if asked is not None else _window(answer))

    def failed(self, host: Host, error: Busy) -> None:
        """A question that found no answer after all its retries. A limit is no fault: it has its own time."""
        if not isinstance(error, Limited):
            self._counts[host.api], self._strikes[host.api] = self._counts.get(host.api, 0) + 1, error

    def answered(self, host: Host) -> None:
        """A question that found one."""
        self._counts.pop(host.api, None)

    def _hold(self, host: Host, whom: str, counted: bool, now: datetime, seconds: float) -> None:
        self._whom[host.api] = whom
        until = now + timedelta(seconds=min(seconds, _LONGEST_WINDOW_S))
        self._until[host.api, counted] = max(until, self._until.get((host.api, counted), until))


def _spent(answer: Answer) -> bool:
    return any(answer.headers.get(name, "").partition(";")[0].strip() == "0" for name in _LEFT)


def _reset(answer: Answer) -> float | None:
    """Seconds of `ratelimit-reset`; the same header with an x- holds a moment, which `wait_asked` reads."""
    seconds = answer.headers.get("ratelimit-reset", "").partition(";")[0].strip()
    return float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 9 else None


def _window(answer: Answer) -> float:
    """Seconds of the window in `0;w=21600`; 0 where none is told."""
    for name in _LEFT:
        _, _, seconds = answer.headers.get(name, "").replace(" ", "").partition(";w=")
        if seconds.isascii() and seconds.isdigit() and len(seconds) < 9:
            return float(seconds)
    return 0.0


def _long(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{seconds / 60:.0f} minutes"
