"""GitHub's answers, read with patience: pages are followed on the API's own host only, artifacts are fetched without the
token, and a read that met a limit or a broken line is repeated on the clock it was given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode, urljoin, urlsplit

import httpx

from bot.adapters.github.faults import fold
from bot.adapters.http import Answer, Busy, fetch, make_client, plain, retry_read, stream
from bot.errors import BadInput, Refusal
from bot.ports import Clock

PAGES = 100
VERSION = "2022-11-28"
DOWNLOAD_S = 600.0
NO_NAMES = ("", ".", "..")
MOVED = (301, 302, 303, 307, 308)


def address(*segments: object) -> str:
    """A path of the API, each segment written so that it stays one: a login or label may hold `/`, `[` or `..`."""
    if any(str(segment) in NO_NAMES for segment in segments):
        raise BadInput(f"{segments} is no path of the forge", "a name in it is empty or dots")
    return "".join(f"/{quote(str(segment), safe='')}" for segment in segments)


class Api:
    """Reads of one repository. `token` goes to the API's host and nowhere else."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *,
                 transport: httpx.BaseTransport | None = None, accept: str = "application/vnd.github+json") -> None:
        self._base, self._clock = base_url.rstrip("/"), clock
        self._repository = address("repos", *repository.split("/"))
        headers = {"Accept": accept, "X-GitHub-Api-Version": VERSION}
        self._plain = make_client(transport=transport)
        self._client = make_client(transport=transport, headers={**headers, "Authorization": f"Bearer {token}"})

    def path(self, *segments: object) -> str:
        """The path of something in the repository."""
        return self._repository + address(*segments)

    def get(self, *segments: object) -> Any:
        """One answer about the repository."""
        return self._ask(self._base + self.path(*segments))[0]

    def told(self, path: str) -> tuple[Any, Mapping[str, str]]:
        """One answer of the forge, and its headers by their names in lower case."""
        data, answer = self._ask(self._base + path)
        return data, answer.headers

    def queried(self, text: str) -> Any:
        """The answer to a GraphQL question; asking changes nothing."""
        host = self._base.removesuffix("/v3") if self._base.endswith("/api/v3") else self._base

        def once() -> Any:
            content = json.dumps({"query": text}).encode()
            return _json(self._good(fetch(self._client, "POST", f"{host}/graphql", content=content)))

        return retry_read(self._clock, once)

    def listed(self, *segments: object, key: str | None = None, **query: object) -> Iterator[Any]:
        """Every item of a paged list of the repository, once; `key` names the list within the answer."""
        return self.listed_at(self.path(*segments), key=key, **query)

    def listed_at(self, path: str, *, key: str | None = None, **query: object) -> Iterator[Any]:
        """As `listed`, at a path of the forge. What is added while the pages are read pushes items to the next one, so that
        they come twice."""
        known = {name: value for name, value in {"per_page": 100, **query}.items() if value is not None}
        seen: set[Any] = set()
        url: str | None = f"{self._base}{path}?{urlencode(known)}"
        for _ in range(PAGES):
            if url is None:
                return
            found, answer = self._ask(url)
            items = found.get(key) if key and isinstance(found, dict) else found
            if not isinstance(items, list):
                raise BadInput("the forge did not answer with a list", "look at its status page", file=path, key=key or "")
            for item in items:
                mark = item.get("id") if isinstance(item, dict) else None
                if mark is None or mark not in seen:
                    yield item
                seen.add(mark)
            url = self._next(answer)
        raise BadInput(f"more than {PAGES} pages", "narrow the question", file=path)

    def download(self, *segments: object, into: BinaryIO, limit: int) -> int:
        """A redirected download: asked for with the token, fetched from where it lies without it.

        A try that broke off is taken back, and the address asked for again: it is good for a minute only.
        """
        url, start = self._base + self.path(*segments), into.tell()

        def once() -> int:
            into.seek(start)
            into.truncate()
            answer = fetch(self._client, "GET", url, limit=limit)
            if answer.status in MOVED:
                return stream(self._plain, self._elsewhere(answer), into, limit=limit, total_s=DOWNLOAD_S)
            return into.write(self._good(answer).body)

        return retry_read(self._clock, once)

    def _ask(self, url: str) -> tuple[Any, Answer]:
        def once() -> tuple[Any, Answer]:
            answer = self._good(fetch(self._client, "GET", url))
            return _json(answer), answer

        return retry_read(self._clock, once)

    def _good(self, answer: Answer) -> Answer:
        if 200 <= answer.status < 300:
            return answer
        try:
            data = _json(answer)
        except Busy:
            data = None  # an error page of something in between
        what, now = f"GET {urlsplit(answer.url).path}", self._clock.now().timestamp()
        raise fold(what, answer.status, answer.headers, data, now=now)

    def _next(self, answer: Answer) -> str | None:
        links = httpx.Response(200, headers={"link": answer.headers.get("link", "")}).links
        url = links.get("next", {}).get("url")
        if url is None:
            return None
        if _host(url) != _host(self._base):
            raise Refusal(f"the next page lies on another host: {urlsplit(url).netloc}", "the forge's answer is not followed")
        return url

    def _elsewhere(self, answer: Answer) -> str:
        """Where a download lies: another host as a rule, but never by a weaker scheme than the API's own."""
        target = urljoin(answer.url, answer.headers.get("location", ""))
        if urlsplit(target).scheme not in ("https", urlsplit(self._base).scheme) or target == answer.url:
            raise Refusal(f"{plain(answer.url)}: moved to a place that is not asked", "the forge's answer is not followed")
        return target


def _json(answer: Answer) -> Mapping[str, Any] | Any:
    try:
        return answer.json()
    except BadInput as error:
        raise Busy(f"the forge's answer cannot be read: {error}", "a later wake tries again") from None


def _host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()
