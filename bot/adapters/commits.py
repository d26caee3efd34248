"""History of an upstream repository, from GitHub's compare API."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from bot.adapters.upstream.api import SHA, GitHubApi, check_named, listed, mapping, plain, sequence
from bot.errors import BadInput, Missing
from bot.model.upstream import Commit, Comparison
from bot.ports import Clock

_ID = re.compile(r"[0-9a-f]{7,64}")
PER_PAGE, MAX_PAGES = 100, 50
# Two thousand commits are the six weeks of a busy engine, and a third of the sixty requests an hour that a stranger has.
MAX_LISTED = 20


class GitHubCommits:
    """Satisfies the Commits port."""

    def __init__(self, clock: Clock, *, base_url: str = "https://api.github.com", token: str | None = None,
                 client: httpx.Client | None = None, pages: int = MAX_PAGES,
                 listed: int = MAX_LISTED) -> None:
        self.api = GitHubApi(clock, base_url=base_url, token=token, client=client)
        self._pages, self._listed = pages, listed

    def compare(self, repository: str, base: str, head: str) -> Comparison:
        """What lies between two commits: `ahead` and `behind` as git counts them, and the commits of `head` that
        `base` lacks, oldest first. Very long histories end after `pages` x 100 commits: then fewer are listed than
        `ahead` says.

        Histories that share nothing have `merge_base` None; GitHub does not count them, so `ahead` and `behind` are None.
        Raises Missing when the repository or a commit is not there.
        """
        what = f"{repository} {base}...{head}"
        pages = self.pages(repository, base, head)
        try:
            first = next(pages)
        except Missing:
            if self._unrelated(repository, base, head):
                return Comparison(repository=repository, base=base, head=head, merge_base=None, ahead=None, behind=None)
            raise
        commits = _commits(first, what)
        for page in pages:
            commits += _commits(page, what)
        _check_meant(first, commits, base, head, what)
        return Comparison(repository=repository, base=base, head=head, merge_base=_merge_base(first, what),
                          ahead=_count(first, "ahead_by", what), behind=_count(first, "behind_by", what),
                          commits=tuple({c.sha: c for c in commits}.values()),
                          url=f"{_web(first, self.api.base)}/{repository}/compare/{base}...{head}")

    def pages(self, repository: str, base: str, head: str) -> Iterator[Mapping[str, Any]]:
        """The pages of a comparison as GitHub tells them, until all commits were told or a limit is reached."""
        check_named(repository, base, head)
        what, path = f"{repository} {base}...{head}", f"/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
        seen, ahead = 0, 1
        for page in range(1, self._pages + 1):
            told = self.api.mapping(f"{path}?per_page={PER_PAGE}&page={page}", what)
            yield told
            more = len(sequence(told.get("commits")))
            seen, ahead = seen + more, _count(told, "ahead_by", what) if page == 1 else ahead
            if seen >= ahead or not more:
                return

    def history(self, repository: str, until: Collection[str]) -> tuple[Commit, ...]:
        """The default branch, a hundred commits a request, at most `listed` requests. Raises Missing where there is no such
        repository."""
        check_named(repository, *until)
        what, found, left = f"the history of {repository}", list[Commit](), set(until)
        for page in range(1, self._listed + 1):
            told = self.api.get(f"/repos/{repository}/commits?per_page={PER_PAGE}&page={page}", what).json()
            more = [commit for commit, _ in listed(told, what)]
            found += more
            left -= {name for name in left for commit in more if commit.sha.startswith(name)}
            if not left or len(more) < PER_PAGE:
                break
        return tuple({commit.sha: commit for commit in found}.values())

    def contains(self, repository: str, commit: str, head: str) -> bool:
        """One request. Histories that share nothing contain nothing of each other; Missing where a commit is not there."""
        check_named(repository, commit, head)
        try:
            told = next(self.pages(repository, commit, head))
        except Missing:
            if self._unrelated(repository, commit, head):
                return False
            raise
        what = f"{repository} {commit}...{head}"
        _check_meant(told, _commits(told, what), commit, head, what)
        return _count(told, "behind_by", what) == 0

    def _unrelated(self, repository: str, *refs: str) -> bool:
        """A 404 means a missing name, or two histories that share nothing: with both commits there, the latter."""
        try:
            for ref in refs:
                self.api.get(f"/repos/{repository}/commits/{quote(ref, safe='')}", f"{repository} {ref}")
        except Missing:
            return False
        return True


def _check_meant(told: Mapping[str, Any], commits: list[Commit], base: str, head: str, what: str) -> None:
    """Missing where GitHub took a branch for an id that it does not know. Of a head that it did not list nothing is seen."""
    ahead = _count(told, "ahead_by", what)
    tip = commits[-1].sha if commits and len(commits) == ahead else _merge_base(told, what) if ahead == 0 else None
    for name, sha in ((base, mapping(told.get("base_commit")).get("sha")), (head, tip)):
        if _ID.fullmatch(name) and isinstance(sha, str) and not sha.startswith(name):
            raise Missing(f"{what}: there is no commit {name}, only a branch or tag of that name", "name the commit itself")


def _count(told: Mapping[str, Any], key: str, what: str) -> int:
    value = told.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{what}: {key} is no count", "the server's answer is broken")
    return value


def _merge_base(told: Mapping[str, Any], what: str) -> str:
    sha = mapping(told.get("merge_base_commit")).get("sha")
    if not isinstance(sha, str) or not SHA.fullmatch(sha):
        raise BadInput(f"{what}: no merge base in the answer", "the server's answer is broken")
    return sha


def _commits(told: Mapping[str, Any], what: str) -> list[Commit]:
    return [plain(commit) for commit, _ in listed(told.get("commits"), what)]


def _web(told: Mapping[str, Any], base: str) -> str:
    """The site people open: that of the answer's html_url, never anything else of it."""
    page = told.get("html_url")
    shown = httpx.URL(page) if isinstance(page, str) and page.startswith("http") else httpx.URL(base)
    return f"{shown.scheme}://{shown.netloc.decode()}"
