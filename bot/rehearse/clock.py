"""Virtual time: it moves when something sleeps or when the world is told to go on, and never by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class VirtualClock:
    """Satisfies `ports.Clock`. Five hours of a rehearsal pass in as long as the code between two readings takes."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a virtual clock starts at an aware moment")
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Advances by `seconds`; nobody waits. A negative wait is none, as with `time.sleep` after a late timer."""
        self._now += timedelta(seconds=max(seconds, 0.0))

    def advance_to(self, moment: datetime) -> None:
        """Moves forward to `moment`; a moment already past leaves the clock where it is, for time never runs back."""
        self._now = max(self._now, moment.astimezone(UTC))
