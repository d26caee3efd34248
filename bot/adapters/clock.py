"""The machine's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Satisfies the Clock port with real time."""

    def now(self) -> datetime:
        """The present moment, aware, UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Waits; zero and less return at once."""
        if seconds > 0:
            time.sleep(seconds)
