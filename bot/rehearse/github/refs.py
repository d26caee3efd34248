"""Pushes go to the bare repository past this server; it notices them by comparing refs with what it saw last."""

from __future__ import annotations

from datetime import datetime

from bot.rehearse.github.declare import Account
from bot.rehearse.github.gitrepo import ZERO, GitRepo
from bot.rehearse.github.objects import account_of
from bot.rehearse.github.state import Store
from bot.rehearse.github.verbs import Verbs


class RefWatch:
    """`pusher` owns the pushes whose committer address belongs to nobody declared."""

    def __init__(self, store: Store, git: GitRepo, verbs: Verbs, pusher: Account) -> None:
        self.store, self.git, self.verbs, self.pusher = store, git, verbs, pusher
        self.seen = self._tips()

    def _tips(self) -> dict[str, str]:
        """Branches and tags: a push to another namespace raises no event on GitHub."""
        return self.git.refs("refs/heads/", "refs/tags/")

    def look(self, now: datetime, by: Account | None = None) -> None:
        """Events for what moved, oldest tip first; `by` says who pushed where the caller knows."""
        tips = self._tips()
        moved = [ref for ref in {**self.seen, **tips} if self.seen.get(ref) != tips.get(ref)]
        before, self.seen = self.seen, tips
        for ref in sorted(moved, key=lambda ref: (self._date(tips.get(ref)), ref)):
            after = tips.get(ref, ZERO)
            self.verbs.moved(ref, before.get(ref, ZERO), after, by or self._owner(after), now)

    def _date(self, sha: str | None) -> str:
        return self.git.text("show", "-s", "--format=%ct", f"{sha}^{{commit}}").rjust(12, "0") if sha else ""

    def _owner(self, sha: str) -> Account:
        if sha == ZERO:
            return self.pusher
        email = self.git.text("show", "-s", "--format=%ce", f"{sha}^{{commit}}")
        return account_of(self.store, email) or self.pusher
