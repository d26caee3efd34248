"""The order of commits, from a listing of one repository's history."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from bot.images.tags import Ancestry, Order
from bot.model.upstream import Commit

_SHORTEST = 7


def lineage(commits: Sequence[Commit]) -> Ancestry:
    """How two commits stand to each other, by what a listing (newest first, with parents) proves; ids may be short. None where
    it proves nothing: an id that is not listed or fits several, or two lines that the listing does not join."""
    parents = {commit.sha: commit.parents for commit in commits}
    known = sorted(parents)
    place = {sha: number for number, sha in enumerate(_main_line(commits, parents))}

    def full(short: str) -> str | None:
        start = bisect_left(known, short)
        found = known[start:start + 2]
        alone = len(found) == 1 or (len(found) == 2 and not found[1].startswith(short))
        return found[0] if len(short) >= _SHORTEST and found and alone and found[0].startswith(short) else None

    @lru_cache(maxsize=1024)
    def behind(sha: str) -> frozenset[str]:
        seen, left = set[str](), [sha]
        while left:
            fresh = [parent for parent in parents.get(left.pop(), ()) if parent not in seen]
            seen.update(fresh)
            left += fresh
        return frozenset(seen)

    def order(one: str, other: str) -> Order | None:
        left, right = full(one), full(other)
        if left is None or right is None:
            return None
        if left == right:
            return "same"
        if left in place and right in place:  # an engine that squashes has one line, and thousands of tags are asked about
            return "newer" if place[left] < place[right] else "older"
        return "newer" if right in behind(left) else "older" if left in behind(right) else None

    return order


def _main_line(commits: Sequence[Commit], parents: dict[str, tuple[str, ...]]) -> list[str]:
    """The tip and its first parents, as far as they are listed."""
    line, sha = list[str](), commits[0].sha if commits else ""
    while sha in parents and (not line or sha != line[0]):
        line.append(sha)
        sha = next(iter(parents[sha]), "")
    return line
