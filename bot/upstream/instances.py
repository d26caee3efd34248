"""Where one change of an upstream stands in its history: the commit itself, its cherry-picks and re-lands, and what reverted it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct

from bot.errors import BumpbotError, Missing, Refusal
from bot.model.upstream import Change, Commit
from bot.ports import History
from bot.upstream import titles

By = Literal["ancestry", "pull", "patch-id", "unknown"]
# A change that was reverted and landed more often than this is nobody's fix.
_ROUNDS = 4
_SAID, _LEAST = 7, 4


class Instance(Struct, frozen=True):
    """One commit that brings the change, and by what that was seen."""

    commit: Commit
    by: By


class Instances:
    """All of them, asked once and then of many heads. `located`: the change is known in this history, so that a head without it
    lacks it; else nobody can tell."""

    def __init__(self, history: History, brought: Sequence[Instance], reverts: Sequence[tuple[Commit, frozenset[str]]],
                 *, located: bool, patch: str | None, files: Collection[str] = ()) -> None:
        self._history, self._brought, self._reverts = history, tuple(brought), tuple(reverts)
        self.located, self._patch, self._files = located, patch, files

    def behind(self, head: str) -> tuple[Instance | None, Instance | None]:
        """An instance behind a head that no revert there took away, and one that any did."""
        there = [one for one in self._brought if self._history.holds(one.commit.sha, head)]
        alive = next((one for one in there if not self._reverted(one.commit.sha, head)), None)
        return alive, None if alive else next(iter(there), None)

    def by_patch(self, head: str) -> Commit | None:
        """A commit with the same patch that only this head has: a cherry-pick that nobody named."""
        if self._patch is None:
            return None
        since = self._brought[0].commit.sha if self._brought else None
        found = self._history.same_change(self._patch, head, since=since, files=self._files)
        return None if found is None or self._reverted(found.sha, head) else found

    def _reverted(self, sha: str, head: str, rounds: int = _ROUNDS) -> bool:
        """Whether a revert of it lies behind the head, after it, and was not reverted itself there."""
        for revert, undone in self._reverts if rounds else ():
            after = sha in undone and revert.sha != sha and not self._history.holds(revert.sha, sha)
            if after and self._history.holds(revert.sha, head) and not self._reverted(revert.sha, head, rounds - 1):
                return True
        return False


def instances(history: History, change: Change, candidate: str | None = None) -> Instances:
    """Asks a history for a change; BumpbotError where it does not answer. `candidate` may be a commit that no branch reaches."""
    root = _root(history, change)
    heads: tuple[str | None, ...] = (None, candidate) if candidate else (None,)
    by: By = "ancestry" if change.commit else "pull"
    brought, reverts = {root.sha: Instance(root, by)} if root else {}, dict[str, tuple[Commit, frozenset[str]]]()
    if root:
        for one in _picked(history, change, root, heads):
            brought.setdefault(one.sha, Instance(one, by))
        asked = set[str]()
        for _ in range(_ROUNDS):
            known = [one.commit for one in brought.values()] + [revert for revert, _ in reverts.values()]
            fresh = [commit for commit in known if commit.sha not in asked]
            for commit in fresh:
                for revert in _undoing(history, change.repository, commit, heads):
                    undone = reverts.get(revert.sha, (revert, frozenset()))[1]
                    reverts[revert.sha] = (revert, undone | {commit.sha})
            asked |= {commit.sha for commit in fresh}
            landed = _landed(history, root, [revert for revert, _ in reverts.values()], heads) if fresh else []
            brought |= {one.sha: Instance(one, by) for one in landed if one.sha not in brought and one.sha not in reverts}
            if not fresh:
                break
    patch, files = _patch(history, change, root)
    return Instances(history, list(brought.values()), list(reverts.values()), located=root is not None, patch=patch, files=files)


def _root(history: History, change: Change) -> Commit | None:
    """The commit by which the change first came. One that no branch reaches came nowhere, and its patch may still be found."""
    if change.commit:
        try:
            return history.commit(change.commit)
        except (Missing, Refusal):
            return None
    return history.merged(change.pull, None) if change.pull else None


def _picked(history: History, change: Change, root: Commit, heads: Sequence[str | None]) -> list[Commit]:
    """Its cherry-picks: git's own note of one, the pull request's number at the end of a title, a title that says so."""
    numbers = {number for number in (change.pull, root.pull) if number}
    noted = _saying(history, heads, [f"cherry picked from commit {root.sha}"], root.sha)
    titled = _saying(history, heads, [*(f"(#{number})" for number in numbers), titles.stem(root.title)], root.sha)
    return noted + [one for one in titled if not titles.is_revert(one.title)
                    and (numbers & set(titles.pulls(one.title)) or titles.again(one.title, root.title))]


def _undoing(history: History, repository: str, commit: Commit, heads: Sequence[str | None]) -> list[Commit]:
    """What reverted a commit, by the words of git and of GitHub's button."""
    texts = [f'Revert "{titles.stem(commit.title)}']
    own = "/".join(repository.split("/")[-2:])  # a mirror's messages name what it mirrors
    texts += [f"Reverts {name}#{commit.pull}" for name in ("", own) if commit.pull]
    plain = _saying(history, heads, [f"This reverts commit {commit.sha[:_SAID]}"], commit.sha)
    titled = [one for one in _saying(history, heads, texts, commit.sha) if titles.is_revert(one.title)]
    return [one for one in (*plain, *titled) if one.sha != commit.sha]


def _landed(history: History, root: Commit, reverts: Sequence[Commit], heads: Sequence[str | None]) -> list[Commit]:
    """What brought it again after a revert, under its own title."""
    found = _saying(history, heads, [titles.stem(root.title)], root.sha) if reverts else []
    return [one for one in found if titles.same(one.title, root.title) and not titles.is_revert(one.title)
            and any(history.holds(revert.sha, one.sha) for revert in reverts)]


def _saying(history: History, heads: Sequence[str | None], texts: Sequence[str], since: str) -> list[Commit]:
    wanted = [text for text in texts if len(text) >= _LEAST]
    found = [one for head in heads for one in history.saying(head, wanted, since=since)] if wanted else []
    return list({one.sha: one for one in found}.values())


def _patch(history: History, change: Change, root: Commit | None) -> tuple[str | None, Collection[str]]:
    if change.patch_id:
        return change.patch_id, ()
    sha = root.sha if root else change.commit
    try:
        told = history.patch_ids([sha]) if sha else {}
        files = history.touched(root.parents[0], root.sha).get(root.sha, ()) if root and root.parents else ()
    except BumpbotError:
        return None, ()
    return next(iter(told.values()), None), files
