"""GitHub's API about other people's repositories: reads, retried with patience, never carried to another host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx
from msgspec.structs import replace

from bot.adapters.http import ATTEMPTS, Answer, Busy, check, fetch, make_client, retry_read
from bot.errors import BadInput, Missing, Refusal
from bot.model.upstream import Commit
from bot.ports import Clock
from bot.upstream import titles

MAX_ANSWER = 32_000_000
_REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
# A ref as we ask for it: what git allows and no shell or URL takes for anything else. `..` separates two of them.
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,254}")
SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class GitHubApi:
    """One host and token. Redirects (a renamed repository) are followed on that host only."""

    def __init__(self, clock: Clock, *, base_url: str = "https://api.github.com", token: str | None = None,
                 client: httpx.Client | None = None) -> None:
        self.base, self._clock, self._attempts = base_url.rstrip("/"), clock, ATTEMPTS
        self._client = client or make_client()
        self._headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, what: str, *, accept: str | None = None) -> Answer:
        """What stands at a path (`/repos/...`); `what` names it for people. Missing where there is nothing."""
        url, headers = f"{self.base}{path}", {**self._headers, **({"Accept": accept} if accept else {})}

        def once() -> Answer:
            answer = fetch(self._client, "GET", url, headers=headers, limit=MAX_ANSWER)
            if answer.status in (301, 302, 307, 308):
                target = httpx.URL(url).join(answer.headers.get("location", ""))
                if (target.scheme, target.netloc) != (httpx.URL(url).scheme, httpx.URL(url).netloc):
                    raise Refusal(f"{what}: redirected to {target.host}",
                                  "the token is for one host; name the repository's new place")
                answer = fetch(self._client, "GET", str(target), headers=headers, limit=MAX_ANSWER)
            if answer.status == 422 and b"No commit found" in answer.body:
                raise Missing(f"{what}: there is no such commit", "it is gone, or the short id of several")
            return check(answer, what, now=self._clock.now().timestamp())

        try:
            return retry_read(self._clock, once, attempts=self._attempts)
        except Busy:
            # A plan has dozens of questions: of a server that has not answered one, each would wait its seven seconds anew.
            self._attempts = 1
            raise

    def mapping(self, path: str, what: str) -> Mapping[str, Any]:
        """An object that stands at a path."""
        told = self.get(path, what).json()
        if not isinstance(told, dict):
            raise BadInput(f"{what}: the answer is no object", "the server's answer is broken")
        return told


def check_named(repository: str, *refs: str) -> None:
    """BadInput for what is no `owner/name`, or no commit, tag or branch."""
    if not _REPOSITORY.fullmatch(repository):
        raise BadInput(f"{repository!r} is no repository", "write owner/name")
    for ref in refs:
        if not _REF.fullmatch(ref) or ".." in ref or ref.endswith(("/", ".", ".lock")) or "//" in ref:
            raise BadInput(f"{ref!r} is no commit, tag or branch", "write a hash, or a name without spaces and ..")


def listed(told: Any, what: str) -> list[tuple[Commit, str]]:
    """A list of commits, each with its whole message."""
    if not isinstance(told, list):
        raise BadInput(f"{what}: no list of commits", "the server's answer is broken")
    return [_commit(mapping(item), what) for item in told]


def plain(commit: Commit) -> Commit:
    """A commit without its parents: a ledger keeps comparisons, and there nobody asks for an order."""
    return replace(commit, parents=())


def _commit(item: Mapping[str, Any], what: str) -> tuple[Commit, str]:
    inner = mapping(item.get("commit"))
    sha, message = item.get("sha"), inner.get("message")
    date = mapping(inner.get("committer")).get("date") or mapping(inner.get("author")).get("date")
    if not isinstance(sha, str) or not SHA.fullmatch(sha) or not isinstance(message, str):
        raise BadInput(f"{what}: a commit without hash or message", "the server's answer is broken")
    title = message.partition("\n")[0].strip()
    numbers = titles.pulls(title)
    parents = [found for parent in sequence(item.get("parents")) if SHA.fullmatch(found := str(mapping(parent).get("sha")))]
    return Commit(sha=sha, title=title, date=date if isinstance(date, str) else "", pull=numbers[0] if numbers else None,
                  parents=tuple(parents)), message


def sequence(value: Any) -> list[Any]:
    """A list as it is, nothing for anything else."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> Mapping[str, Any]:
    """An object as it is, nothing for anything else."""
    return value if isinstance(value, dict) else {}
