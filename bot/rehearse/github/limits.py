"""The hourly request limit of each token, on the virtual clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.rehearse.github.declare import Account, Kind

# A job's own token has 1,000 requests an hour a repository, an App's or person's 5,000 (GitHub's documentation).
HOURLY: Mapping[Kind, int] = {"default": 1000, "app": 5000, "user": 5000}


class Limits:
    """Requests used by each login in its current hour."""

    def __init__(self, hourly: Mapping[Kind, int]) -> None:
        self.hourly = {**HOURLY, **hourly}
        self._windows: dict[str, tuple[datetime, int]] = {}

    def shown(self, who: Account, now: datetime) -> dict[str, int]:
        start, used = self._window(who, now)
        limit = self.hourly[who.kind]
        return {
            "limit": limit,
            "used": used,
            "remaining": max(limit - used, 0),
            "reset": int((start + timedelta(hours=1)).timestamp()),
        }

    def count(self, who: Account, now: datetime) -> bool:
        """One request more; False when the hour's are spent."""
        start, used = self._window(who, now)
        if used >= self.hourly[who.kind]:
            return False
        self._windows[who.login] = (start, used + 1)
        return True

    def give_back(self, who: Account, now: datetime) -> None:
        """A 304 does not count."""
        start, used = self._window(who, now)
        self._windows[who.login] = (start, max(used - 1, 0))

    def headers(self, who: Account, now: datetime) -> dict[str, str]:
        shown = self.shown(who, now)
        return {f"X-RateLimit-{name.title()}": str(value) for name, value in shown.items()} | {
            "X-RateLimit-Resource": "core"
        }

    def _window(self, who: Account, now: datetime) -> tuple[datetime, int]:
        start, used = self._windows.get(who.login, (now, 0))
        return (start, used) if now < start + timedelta(hours=1) else (now, 0)
