"""GitHub's answers into our records. Pages are followed on the API's own host only; artifacts are fetched without the token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode, urlsplit

import httpx

from bot.adapters.http import Answer, check, fetch, make_client, retry_read, stream
from bot.errors import BadInput, Refusal
from bot.ports import Clock

PAGES = 100
VERSION = "2022-11-28"
DOWNLOAD_S = 600.0


class Api:
    """Reads of one repository. `token` goes to the API's host and nowhere else."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *,
                 transport: httpx.BaseTransport | None = None) -> None:
        self._base, self._repository, self._clock = base_url.rstrip("/"), repository, clock
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": VERSION}
        self._plain = make_client(transport=transport)
        self._client = make_client(transport=transport, headers={**headers, "Authorization": f"Bearer {token}"})

    def get(self, path: str, **query: object) -> Any:
        """One answer of the repository (`path` without a slash in front), or of the API (with one)."""
        return self._ask(self._url(path, query)).json()

    def listed(self, path: str, key: str | None = None, **query: object) -> Iterator[Mapping[str, Any]]:
        """Every item of a paged list; `key` names the list within the answer."""
        url: str | None = self._url(path, {"per_page": 100, **query})
        for _ in range(PAGES):
            if url is None:
                return
            answer = self._ask(url)
            found = answer.json()
            items = found[key] if key else found
            if not isinstance(items, list):
                raise BadInput(f"{path}: the forge did not answer with a list", "look at its status page")
            yield from items
            url = self._next(answer)
        raise BadInput(f"{path}: more than {PAGES} pages", "narrow the question")

    def download(self, path: str, into: BinaryIO, limit: int) -> int:
        """A redirected download: asked for with the token, fetched from where it lies without it."""
        answer = retry_read(self._clock, lambda: fetch(self._client, "GET", self._url(path, {}), limit=limit))
        if answer.status in (301, 302, 303, 307, 308):
            target = answer.headers.get("location", "")
            return retry_read(self._clock, lambda: stream(self._plain, target, into, limit=limit, total_s=DOWNLOAD_S))
        return into.write(check(answer, path).body)

    def _ask(self, url: str) -> Answer:
        now = self._clock.now().timestamp()
        return retry_read(self._clock, lambda: check(fetch(self._client, "GET", url), urlsplit(url).path, now=now))

    def _url(self, path: str, query: Mapping[str, object]) -> str:
        known = {name: value for name, value in query.items() if value is not None}
        tail = f"?{urlencode(known)}" if known else ""
        root = "" if path.startswith("/") else f"/repos/{self._repository}/"
        return f"{self._base}{root}{quote(path)}{tail}"

    def _next(self, answer: Answer) -> str | None:
        links = httpx.Response(200, headers={"link": answer.headers.get("link", "")}).links
        url = links.get("next", {}).get("url")
        if url is None:
            return None
        if urlsplit(url)[:2] != urlsplit(self._base)[:2]:
            raise Refusal(f"the next page lies on another host: {urlsplit(url).netloc}", "the forge's answer is not followed")
        return url
