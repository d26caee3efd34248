"""Machines and the token that asks about them, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.preflight import Load, Staged
from bot.model.settings import App, Holder, Repository, Runner, Seen


class FleetHere:
    """Satisfies Fleet. None: nobody says."""

    def __init__(self, staged: Sequence[Staged] | None = None, loads: Sequence[Load] | None = None) -> None:
        self._staged, self._loads = staged, loads

    def staged(self) -> Sequence[Staged] | None:
        return self._staged

    def loads(self) -> Sequence[Load] | None:
        return self._loads


class SettingsHere:
    """The part of Settings that is asked before a bump: whose token this is, and which runners there are."""

    def __init__(self, holder: Holder, runners: Seen[tuple[Runner, ...]]) -> None:
        self._holder, self._runners = holder, runners

    def holder(self) -> Holder:
        return self._holder

    def repository(self) -> Repository:
        return Repository(name="o/r", default_branch="main", private=False, may_push=True)

    def app(self, slug: str) -> Seen[App]:
        return App(id=1, slug=slug, permissions={"contents": "write", "pull_requests": "write", "issues": "write", "actions": "write"})

    def runners(self) -> Seen[tuple[Runner, ...]]:
        return self._runners

    def runner_groups(self) -> Seen[tuple]:
        return ()
