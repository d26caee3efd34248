"""The history of one upstream as small facts: commits with the files they change, tags, branches. Answers the History port."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import ndiff
from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from bot.errors import BadInput, Missing, Refusal
from bot.model.upstream import Commit, Comparison

Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]
_ID = re.compile(r"[0-9a-f]{7,40}")
# As git and GitHub write them into titles: the number of a squash at the very end, that of a merge at the start.
_SQUASH, _MERGE = re.compile(r"\(#(\d+)\)\s*$"), re.compile(r"(?:Merge pull request|Auto merge of) #(\d+)\b")


class CommitTold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One commit. `parents` None: the one told before it; `tree` are the files that it changes, with their new text (None: it
    removes them), `files` those that it changes and whose text nobody told. `sha` may be invented; the file says so. `like` names
    a commit whose change it brings once more (a cherry-pick); `body` is the message below the title, `unnamed` counts commits
    between it and its parent that nobody told; `patch_id` is that of `git patch-id --stable`, where one must fit a real diff."""

    sha: Sha
    title: str = ""
    date: str = "2026-09-01T00:00:00Z"
    pull: int | None = None
    parents: tuple[Sha, ...] | None = None
    tree: dict[str, str | None] = {}
    files: tuple[str, ...] = ()
    like: Sha | None = None
    body: str = ""
    unnamed: int = 0
    patch_id: Sha | None = None


class UpstreamTold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One repository: commits oldest first, the first with the files as they stood. `branches` None: main is the last one. `trees`
    are whole trees by commit, tag or branch; the changes of later commits lie over them. `packages` are wheels that the index
    has: name -> version -> path -> text, the newest version first."""

    repository: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$")]
    about: str = ""
    commits: tuple[CommitTold, ...] = ()
    tags: dict[str, Sha] = {}
    branches: dict[str, Sha] | None = None
    trees: dict[str, dict[str, str]] = {}
    packages: dict[str, dict[str, dict[str, str]]] = {}


class TreeTold:
    """Files in memory, as the Tree port."""

    def __init__(self, files: Mapping[str, bytes | str]) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        return sorted(path for path in self.files if path.startswith(prefix))


class HistoryTold:
    """The History port over one UpstreamTold."""

    def __init__(self, told: UpstreamTold) -> None:
        self.told = told
        self._at = {one.sha: one for one in told.commits}
        before: dict[str, tuple[str, ...]] = {}
        last: str | None = None
        for one in told.commits:
            before[one.sha] = one.parents if one.parents is not None else ((last,) if last else ())
            last = one.sha
        self._parents = before
        self.branches = told.branches if told.branches is not None else ({"main": last} if last else {})
        self._trees = {told.tags.get(name) or self.branches.get(name) or name: files for name, files in told.trees.items()}

    @cached_property
    def _reached(self) -> frozenset[str]:
        return frozenset().union(*(self.behind(sha) for sha in (*self.branches.values(), *self.told.tags.values())))

    def behind(self, sha: str) -> frozenset[str]:
        """A commit and all that it rests on."""
        seen: set[str] = set()
        todo = [sha]
        while todo:
            if (at := todo.pop()) not in seen and at in self._at:
                seen.add(at)
                todo += self._parents[at]
        return frozenset(seen)

    def full(self, name: str) -> str:
        found = self.known(name)
        if found not in self._reached:
            raise Refusal(f"no branch or tag of {self.told.repository} reaches {name}", "an impostor, perhaps")
        return found

    def known(self, name: str) -> str:
        """The one commit that is meant, whether or not a branch or tag reaches it."""
        named = None if _ID.fullmatch(name) else self.told.tags.get(name) or self.branches.get(name)
        if named is not None:
            return named
        found = [sha for sha in self._at if _ID.fullmatch(name) and sha.startswith(name)]
        if not found:
            raise Missing(f"{self.told.repository} has no commit {name}", "it was rewritten or never was there")
        if len(found) > 1:
            raise BadInput(f"{name} means {len(found)} commits of {self.told.repository}", "give more of the id")
        return found[0]

    def commit(self, name: str) -> Commit:
        """The noun for one commit, by id, short id or tag."""
        sha = name if name in self._at else self.full(name)
        if sha not in self._at:
            raise Missing(f"{self.told.repository} has {name}, and nothing is told of that commit", "tell it")
        one = self._at[sha]
        return Commit(sha=sha, title=one.title, date=one.date, pull=one.pull, parents=self._parents[sha])

    def among(self, shas: frozenset[str]) -> list[str]:
        """These commits, newest first."""
        return [one.sha for one in reversed(self.told.commits) if one.sha in shas]

    def between(self, base: str, head: str) -> list[str]:
        """What `head` has and `base` lacks, newest first."""
        return self.among(self.behind(self.full(head)) - self.behind(self.full(base)))

    def touched(self, base: str, head: str) -> Mapping[str, Sequence[str]]:
        return {sha: sorted({*self._at[sha].tree, *self._at[sha].files}) for sha in self.between(base, head)}

    def last_touched(self, head: str, path: str, *, since: str | None = None, text: str = "") -> Sequence[Commit]:
        return [self.commit(sha) for sha in self._reach(head, since) if self._changes(sha, path, text)]

    def _changes(self, sha: str, path: str, text: str) -> bool:
        one = self._at[sha]
        if not text:
            return path in one.tree or path in one.files
        if path not in one.tree:
            return False
        above = self.files(self._parents[sha][0]).get(path) if self._parents[sha] else None
        return (one.tree[path] or "").count(text) != (above or "").count(text)

    def files(self, sha: str) -> dict[str, str]:
        """The files at a commit, as far as they were told: its first parents' with each one's changes over them."""
        line = [sha]
        while line[-1] not in self._trees and self._parents.get(line[-1]):
            line.append(self._parents[line[-1]][0])
        found: dict[str, str] = dict(self._trees.get(line[-1], {}))
        for at in reversed(line):
            if at in self._trees:
                continue
            for path, text in (self._at[at].tree if at in self._at else {}).items():
                found.pop(path, None)
                if text is not None:
                    found[path] = text
        return found

    def tags(self) -> Mapping[str, str]:
        return dict(self.told.tags)

    def holds(self, commit: str, head: str) -> bool:
        return self.full(commit) in self.behind(self.full(head))

    def compare(self, base: str, head: str) -> Comparison:
        """What the forge's compare route answers: `commits` are those of head alone, oldest first."""
        one, other = self.known(base), self.known(head)
        below, above, name = self.behind(one), self.behind(other), self.told.repository
        shared, ahead = self.among(below & above), self.among(above - below)
        return Comparison(repository=name, base=base if base in self.branches else one, head=other,
                          merge_base=shared[0] if shared else None, ahead=self._count(above - below),
                          behind=self._count(below - above), commits=tuple(self.commit(sha) for sha in reversed(ahead)),
                          url=f"https://github.com/{name}/compare/{one}...{other}")

    def _count(self, shas: frozenset[str]) -> int:
        return sum(1 + self._at[sha].unnamed for sha in shas)

    def _reach(self, head: str | None, since: str | None = None) -> list[str]:
        behind = self.behind(self.full(head)) if head else self._reached
        return self.among(behind - (self.behind(self.full(since)) if since else frozenset()))

    def saying(self, head: str | None, texts: Sequence[str], *, since: str | None = None) -> Sequence[Commit]:
        return [self.commit(sha) for sha in self._reach(head, since)
                if any(text in f"{self._at[sha].title}\n\n{self._at[sha].body}" for text in texts)]

    def lines(self, base: str, head: str, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        found: dict[str, Sequence[str]] = {}
        for sha in self.between(base, head):
            one = self._at[sha]
            if set(paths) & set(one.files) - set(one.tree):
                raise Missing(f"which lines {sha[:12]} changed is not told", "tell the text of its files")
            if touched := sorted(set(paths) & set(one.tree)):
                found[sha] = [line for path in touched for line in self._lines(sha, path)]
        return found

    def _lines(self, sha: str, path: str) -> list[str]:
        above = self.files(self._parents[sha][0]).get(path) if self._parents[sha] else None
        both = ndiff((above or "").splitlines(), (self._at[sha].tree[path] or "").splitlines())
        return [line[2:] for line in both if line[:2] in ("+ ", "- ")]

    def merged(self, pull: int, head: str | None) -> Commit | None:
        found = [sha for sha in self._reach(head) if pull in (self._at[sha].pull, _number(self._at[sha].title))]
        return self.commit(found[0]) if found else None

    def patch_ids(self, commits: Sequence[str]) -> Mapping[str, str]:
        return {sha: self._patch_id(self.full(sha)) for sha in commits}

    def same_change(self, patch_id: str, head: str, *, since: str | None = None, files: Collection[str] = ()) -> Commit | None:
        return next((self.commit(sha) for sha in self._reach(head, since) if self._patch_id(sha) == patch_id), None)

    def _patch_id(self, sha: str) -> str:
        one = self._at[sha]
        if one.patch_id or one.like:
            return one.patch_id or self._patch_id(one.like or "")
        above = self.files(self._parents[sha][0]) if self._parents[sha] and one.tree else {}
        change = repr([(path, above.get(path), text) for path, text in sorted(one.tree.items())]) if one.tree else one.sha
        return hashlib.sha1(change.encode()).hexdigest()


def _number(title: str) -> int | None:
    """The pull request that a title says it came by."""
    found = _SQUASH.search(title) or _MERGE.match(title)
    return int(found[1]) if found else None
