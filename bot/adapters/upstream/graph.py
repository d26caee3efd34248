"""A repository's commits in memory: who came from whom, asked about thousands of tags."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache

from bot.model.upstream import Commit
from bot.upstream import titles

FORMAT = "%H%x00%P%x00%cI%x00%s"


def parsed(out: bytes) -> list[Commit]:
    """The commits of `rev-list --no-commit-header --format=FORMAT`."""
    made = []
    for line in out.decode("utf-8", "replace").split("\n"):
        if line:
            sha, parents, date, title = line.split("\0", 3)
            numbers = titles.pulls(title)
            made.append(Commit(sha=sha, title=title, date=utc(date), pull=numbers[0] if numbers else None,
                               parents=tuple(parents.split())))
    return made


def utc(date: str) -> str:
    """`2026-09-01T12:00:00Z`, as GitHub writes it."""
    found = re.fullmatch(r"(.{19})(?:\+00:00|-00:00|Z)", date)
    if found:
        return f"{found[1]}Z"
    try:
        return f"{datetime.fromisoformat(date).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError):
        return ""


class Graph:
    """All commits that branches and tags reach, children before parents (`rev-list --topo-order`)."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.order = {one.sha: place for place, one in enumerate(commits)}
        self.commits = list(commits)
        self._sorted = sorted(self.order)
        self._parents = [tuple(self.order[parent] for parent in one.parents if parent in self.order) for one in commits]
        self._newer = lru_cache(maxsize=256)(self._descendants)
        self._older = lru_cache(maxsize=64)(self._ancestors)

    @cached_property
    def by_pull(self) -> dict[int, list[Commit]]:
        """The commits that came by each pull request, by their titles."""
        made: dict[int, list[Commit]] = {}
        for one in self.commits:
            for number in titles.pulls(one.title) if one.pull else ():
                made.setdefault(number, []).append(one)
        return made

    def __contains__(self, sha: str) -> bool:
        return sha in self.order

    def starting(self, text: str) -> list[str]:
        """The first commits, two at most, whose ids begin so."""
        at = bisect_left(self._sorted, text)
        return [sha for sha in self._sorted[at:at + 2] if sha.startswith(text)]

    def holds(self, commit: str, head: str) -> bool:
        """Whether one lies behind another, itself included; both are known."""
        return self.order[head] in self._newer(commit)

    def between(self, base: str, head: str) -> list[Commit]:
        """What `head` has and `base` lacks, newest first. Walked from the head, so that near ones cost little."""
        known, found, left = self._older(base), set[int](), [self.order[head]]
        while left:
            place = left.pop()
            if place not in known and place not in found:
                found.add(place)
                left += self._parents[place]
        return [self.commits[place] for place in sorted(found)]

    def behind(self, head: str | None) -> Iterable[Commit]:
        """All that a head holds, newest first; all there is for None."""
        return self.commits if head is None else (self.commits[place] for place in sorted(self._older(head)))

    def merge_base(self, base: str, head: str) -> str | None:
        """A newest commit that both hold."""
        common = self._older(base) & self._older(head)
        return self.commits[min(common)].sha if common else None

    def _descendants(self, commit: str) -> frozenset[int]:
        start = self.order[commit]
        found = {start}
        for place in range(start - 1, -1, -1):
            if any(parent in found for parent in self._parents[place]):
                found.add(place)
        return frozenset(found)

    def _ancestors(self, commit: str) -> frozenset[int]:
        found, left = set[int](), [self.order[commit]]
        while left:
            place = left.pop()
            if place not in found:
                found.add(place)
                left += self._parents[place]
        return frozenset(found)
