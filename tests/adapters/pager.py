"""A registry that pages its tags, put in front of docker-registry 2.8, which ignores `n` and `last`.

Everything but `tags/list` is handed on and back as it is. A listing is put in order, cut after `last`, and linked on in
the form that `form` names: real registries send all three, and each is a URI reference that RFC 8288 allows.
"""

from __future__ import annotations

import http.client
import json
import re
from typing import Literal

from bot.rehearse.loopback import Loopback, Reply, Request, json_reply
from tests.adapters.registries import Asked, DockerRegistry

Form = Literal["path", "absolute", "query"]
FORMS: tuple[Form, ...] = ("path", "absolute", "query")
_TAGS = re.compile(r"/v2/(.+)/tags/list")
_ON = ("accept", "authorization", "if-none-match")
_BACK = ("content-type", "docker-content-digest", "etag", "www-authenticate", "location")


class Pager:
    """`most` is the longest page, whatever a client asks for; `pages` counts those sent."""

    opens = "anyone"

    def __init__(self, behind: DockerRegistry, *, most: int = 4) -> None:
        self.form: Form = "path"
        self.pages = 0
        self.asked: list[Asked] = []
        self._behind, self._most = behind, most
        self._server = Loopback(self._answer)
        self.push = behind.push

    def __enter__(self) -> Pager:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def netloc(self) -> str:
        return self._server.url.removeprefix("http://")

    def _answer(self, request: Request) -> Reply:
        reply = self._handed_on(request)
        listing = _TAGS.fullmatch(request.path)
        if listing and reply.status == 200:
            reply = self._page(listing[1], json.loads(reply.body)["tags"], request)
        query = "&".join(f"{key}={value}" for key, value in request.query.items())
        self.asked.append(Asked(method=request.method, path=f"{request.path}?{query}".rstrip("?"), status=reply.status))
        return reply

    def _handed_on(self, request: Request) -> Reply:
        """The answer to a GET, also for a HEAD: the length of a HEAD's answer is that of the body it does not send."""
        line = http.client.HTTPConnection(self._behind.netloc, timeout=20)
        try:
            line.request("GET", request.path, headers={name: request.headers[name] for name in _ON if name in request.headers})
            answer = line.getresponse()
            told = {name: value for name, value in answer.getheaders() if name.lower() in _BACK}
            return Reply(status=answer.status, body=answer.read(), headers=told)
        finally:
            line.close()

    def _page(self, repository: str, tags: list[str], request: Request) -> Reply:
        wanted = request.query.get("n", "")
        size = min(self._most, int(wanted)) if wanted.isdigit() and int(wanted) else self._most
        rest = sorted(tag for tag in tags if tag > request.query.get("last", ""))
        page, self.pages = rest[:size], self.pages + 1
        link = {"Link": f'<{self._next(repository, size, page[-1])}>; rel="next"'} if len(rest) > size else {}
        return json_reply({"name": repository, "tags": page}, headers=link)

    def _next(self, repository: str, size: int, last: str) -> str:
        query, path = f"?n={size}&last={last}", f"/v2/{repository}/tags/list"
        return {"path": f"{path}{query}", "absolute": f"{self._server.url}{path}{query}", "query": query}[self.form]
