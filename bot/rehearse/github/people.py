"""People of a scenario: they push with git, label, comment, close and merge, as maintainers do while the bot works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.errors import Missing
from bot.rehearse.github.declare import Account
from bot.rehearse.github.state import Comment, Pull

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub


class Person:
    """One account acting. Everything takes effect at the clock's present moment."""

    def __init__(self, hub: LoopbackGitHub, account: Account) -> None:
        self.hub, self.account = hub, account

    def _pull(self, number: int) -> Pull:
        if (pull := self.hub.store.pulls.get(number)) is None:
            raise Missing(f"no pull request #{number}", "the scenario's player must wait until it is open")
        return pull

    def label(self, number: int, name: str) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.label(self._pull(number), name, self.account, now)

    def unlabel(self, number: int, name: str) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.unlabel(self._pull(number), name, self.account, now)

    def comment(self, number: int, body: str) -> Comment:
        with self.hub.moment() as now:
            return self.hub.verbs.comment(self._pull(number), body, self.account, now)

    def edit_comment(self, comment: int, body: str) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.edit_comment(self.hub.store.comments[comment], body, self.account, now)

    def close(self, number: int) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.close(self._pull(number), self.account, now)

    def reopen(self, number: int) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.reopen(self._pull(number), self.account, now)

    def draft(self, number: int, draft: bool = True) -> None:
        with self.hub.moment() as now:
            self.hub.verbs.draft(self._pull(number), self.account, now, draft=draft)

    def merge(self, number: int) -> str:
        """The merge commit."""
        with self.hub.moment() as now:
            made = self.hub.verbs.merge(self._pull(number), self.account, now)
            self.hub.watch.look(now, by=self.account)
            return made

    def open(self, branch: str, title: str, *, base: str | None = None, body: str = "", draft: bool = False,
             number: int | None = None) -> int:
        """Opens a pull request, under this number if one is given; its number."""
        with self.hub.moment() as now, self.hub.store.numbered(number):
            return self.hub.verbs.open_pull(self.account, now, title=title, body=body, branch=branch, draft=draft,
                                            base=base or self.hub.render.branch).number

    def push(self, branch: str, files: Mapping[str, bytes | None], message: str, *, base: str | None = None,
             force: bool = False) -> str:
        """One commit on a branch's tip (None removes a file). A new branch starts at `base`, else the default branch;
        `force` starts over from there."""
        with self.hub.moment() as now:
            git, ref = self.hub.git, f"refs/heads/{branch}"
            old = git.refs(ref).get(ref)
            tip = git.resolve(base or self.hub.render.branch) if old is None or force else old
            who = (self.account.login, self.email)
            made = git.make_commit(git.tree_with(tip, dict(files)), (tip,) if tip else (), message, who, now)
            git.update_ref(ref, made, *([old] if old else []))
            self.hub.watch.look(now, by=self.account)
            return made

    def delete_branch(self, branch: str) -> None:
        with self.hub.moment() as now:
            ref = f"refs/heads/{branch}"
            self.hub.git.git("update-ref", "-d", ref)
            self.hub.watch.look(now, by=self.account)

    def cancel(self, run: int) -> None:
        with self.hub.moment() as now:
            self.hub.engine.cancel(self.hub.store.runs[run], now)

    def dispatch(self, workflow: str, *, ref: str | None = None, inputs: Mapping[str, str] | None = None) -> int:
        """Starts a workflow by hand; the run's id."""
        with self.hub.moment() as now:
            found = next(known for known in self.hub.workflows if known.file == workflow)
            name = ref or self.hub.render.branch
            head = self.hub.git.resolve(name)
            assert head is not None
            return self.hub.events.dispatch(
                found, ref=name, head=head, inputs=dict(inputs or {}), actor=self.account, now=now
            ).id

    @property
    def email(self) -> str:
        return self.account.emails[0] if self.account.emails else f"{self.account.login}@users.noreply.github.com"
