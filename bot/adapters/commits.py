"""History of an upstream repository, from GitHub's compare API."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

import httpx
from msgspec.structs import replace

from bot.adapters.http import Answer, check, fetch, make_client, retry_read
from bot.errors import BadInput, Missing, Refusal
from bot.model.upstream import Commit, Comparison
from bot.ports import Clock

PER_PAGE, MAX_PAGES, MAX_ANSWER = 100, 50, 32_000_000
# Two thousand commits are the six weeks of a busy engine, and a third of the sixty requests an hour that a stranger has.
MAX_LISTED = 20
_REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
# A ref as we ask for it: what git allows and no shell or URL takes for anything else. `..` separates two of them.
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,254}")
_PULL = re.compile(r"\(#(\d{1,9})\)\s*$")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class GitHubCommits:
    """Satisfies the Commits port. Redirects (a renamed repository) are followed on the API's own host only."""

    def __init__(self, clock: Clock, *, base_url: str = "https://api.github.com", token: str | None = None,
                 client: httpx.Client | None = None, pages: int = MAX_PAGES,
                 listed: int = MAX_LISTED) -> None:
        self._base, self._clock, self._pages, self._listed = base_url.rstrip("/"), clock, pages, listed
        self._client = client or make_client()
        self._headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def compare(self, repository: str, base: str, head: str) -> Comparison:
        """What lies between two commits: `ahead` and `behind` as git counts them, and the commits of `head` that
        `base` lacks, oldest first. Very long histories end after `pages` x 100 commits: then fewer are listed than
        `ahead` says.

        Histories that share nothing have `merge_base` None; nobody counts them, so `ahead` and `behind` are 0.
        Raises Missing when the repository or a commit is not there.
        """
        _check(repository, base, head)
        what = f"{repository} {base}...{head}"
        url = f"{self._base}/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
        try:
            first = self._page(url, 1, what)
        except Missing:
            if self._unrelated(repository, base, head):
                return Comparison(repository=repository, base=base, head=head, merge_base=None, ahead=0, behind=0)
            raise
        ahead, commits, page = _count(first, "ahead_by", what), _commits(first, what), 1
        while len(commits) < ahead and page < self._pages:
            page += 1
            more = _commits(self._page(url, page, what), what)
            if not more:
                break
            commits += more
        return Comparison(repository=repository, base=base, head=head, merge_base=_merge_base(first, what), ahead=ahead,
                          behind=_count(first, "behind_by", what), commits=tuple({c.sha: c for c in commits}.values()),
                          url=f"{_web(first, self._base)}/{repository}/compare/{base}...{head}")

    def history(self, repository: str, until: Collection[str]) -> tuple[Commit, ...]:
        """The default branch, a hundred commits a request, at most `listed` requests. Raises Missing where there is no such
        repository."""
        _check(repository, *until)
        what, found, left = f"the history of {repository}", list[Commit](), set(until)
        for page in range(1, self._listed + 1):
            told = self._get(f"{self._base}/repos/{repository}/commits?per_page={PER_PAGE}&page={page}", what).json()
            more = _listed(told, what)
            found += more
            left -= {name for name in left for commit in more if commit.sha.startswith(name)}
            if not left or len(more) < PER_PAGE:
                break
        return tuple({commit.sha: commit for commit in found}.values())

    def contains(self, repository: str, commit: str, head: str) -> bool:
        """One request. Histories that share nothing contain nothing of each other; Missing where a commit is not there."""
        _check(repository, commit, head)
        what = f"{repository} {commit}...{head}"
        try:
            told = self._page(f"{self._base}/repos/{repository}/compare/{quote(commit, safe='')}...{quote(head, safe='')}", 1, what)
        except Missing:
            if self._unrelated(repository, commit, head):
                return False
            raise
        return _count(told, "behind_by", what) == 0

    def _page(self, url: str, page: int, what: str) -> Mapping[str, Any]:
        answer = self._get(f"{url}?per_page={PER_PAGE}&page={page}", what)
        told = answer.json()
        if not isinstance(told, dict):
            raise BadInput(f"{what}: the comparison is no object", "the server's answer is broken")
        return told

    def _get(self, url: str, what: str) -> Answer:
        def once() -> Answer:
            answer = fetch(self._client, "GET", url, headers=self._headers, limit=MAX_ANSWER)
            if answer.status in (301, 302, 307, 308):
                target = httpx.URL(url).join(answer.headers.get("location", ""))
                if (target.scheme, target.netloc) != (httpx.URL(url).scheme, httpx.URL(url).netloc):
                    raise Refusal(f"{what}: redirected to {target.host}",
                                  "the token is for one host; name the repository's new place")
                answer = fetch(self._client, "GET", str(target), headers=self._headers, limit=MAX_ANSWER)
            return check(answer, what, now=self._clock.now().timestamp())

        return retry_read(self._clock, once)

    def _unrelated(self, repository: str, *refs: str) -> bool:
        """A 404 means a missing name, or two histories that share nothing: with both commits there, the latter."""
        try:
            for ref in refs:
                self._get(f"{self._base}/repos/{repository}/commits/{quote(ref, safe='')}", f"{repository} {ref}")
        except Missing:
            return False
        return True


def _check(repository: str, *refs: str) -> None:
    if not _REPOSITORY.fullmatch(repository):
        raise BadInput(f"{repository!r} is no repository", "write owner/name")
    for ref in refs:
        if not _REF.fullmatch(ref) or ".." in ref or ref.endswith(("/", ".", ".lock")) or "//" in ref:
            raise BadInput(f"{ref!r} is no commit, tag or branch", "write a hash, or a name without spaces and ..")


def _count(told: Mapping[str, Any], key: str, what: str) -> int:
    value = told.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{what}: {key} is no count", "the server's answer is broken")
    return value


def _merge_base(told: Mapping[str, Any], what: str) -> str:
    sha = _mapping(told.get("merge_base_commit")).get("sha")
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        raise BadInput(f"{what}: no merge base in the answer", "the server's answer is broken")
    return sha


def _commits(told: Mapping[str, Any], what: str) -> list[Commit]:
    """A comparison's commits without their parents: a ledger keeps them, and there nobody asks for an order."""
    return [replace(commit, parents=()) for commit in _listed(told.get("commits"), what)]


def _listed(listed: Any, what: str) -> list[Commit]:
    if not isinstance(listed, list):
        raise BadInput(f"{what}: no list of commits", "the server's answer is broken")
    return [_commit(_mapping(item), what) for item in listed]


def _commit(item: Mapping[str, Any], what: str) -> Commit:
    inner = _mapping(item.get("commit"))
    sha, message = item.get("sha"), inner.get("message")
    date = _mapping(inner.get("committer")).get("date") or _mapping(inner.get("author")).get("date")
    if not isinstance(sha, str) or not _SHA.fullmatch(sha) or not isinstance(message, str):
        raise BadInput(f"{what}: a commit without hash or message", "the server's answer is broken")
    title = message.partition("\n")[0].strip()
    pull = _PULL.search(title)
    parents = [found for parent in _sequence(item.get("parents")) if _SHA.fullmatch(found := str(_mapping(parent).get("sha")))]
    return Commit(sha=sha, title=title, date=date if isinstance(date, str) else "", pull=int(pull[1]) if pull else None,
                  parents=tuple(parents))


def _web(told: Mapping[str, Any], base: str) -> str:
    """The site people open: that of the answer's html_url, never anything else of it."""
    page = told.get("html_url")
    shown = httpx.URL(page) if isinstance(page, str) and page.startswith("http") else httpx.URL(base)
    return f"{shown.scheme}://{shown.netloc.decode()}"


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
