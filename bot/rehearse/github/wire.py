"""Requests, responses, the route table, and what every answer shares: pages, errors, conditional replies."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

from bot.rehearse.github.declare import Account
from bot.rehearse.github.verbs import Refused

DOCS = "https://docs.github.com/rest"
LEVELS = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(kw_only=True)
class Request:
    """A request as handlers see it: who asks, when, the path's named parts in `args`."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    actor: Account | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    args: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        """The body as JSON, {} when there is none."""
        if not self.body:
            return {}
        try:
            return json.loads(self.body)
        except ValueError:
            raise Refused("Problems parsing JSON", status=400) from None

    @property
    def fields(self) -> dict[str, Any]:
        if not isinstance(value := self.json, dict):
            raise Refused("Invalid request.\n\nFor 'links/0/schema', the body is not an object.")
        return value

    @property
    def who(self) -> Account:
        assert self.actor is not None
        return self.actor

    def number(self, name: str) -> int:
        if not self.args[name].isdigit():
            raise Refused("Not Found", status=404)
        return int(self.args[name])

    def text(self, name: str, *, required: bool = True) -> str:
        value = self.fields.get(name)
        if value is None and not required:
            return ""
        if not isinstance(value, str):
            raise Refused(
                "Invalid request.\n\n"
                + (f'"{name}" wasn\'t supplied.' if value is None else f'"{name}" is not a string.')
            )
        return value


@dataclass(kw_only=True)
class Response:
    """An answer. `value` is JSON (None: no body), `data` other bytes, `file` a file to stream."""

    status: int = 200
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes | None = None
    file: Path | None = None

    @property
    def body(self) -> bytes:
        if self.file is not None:
            return self.file.read_bytes()
        if self.data is not None:
            return self.data
        return b"" if self.value is None else json.dumps(self.value, ensure_ascii=False).encode()


@dataclass(frozen=True)
class Page:
    """A list to be answered in pages; `key` names it inside an object with total_count."""

    items: Sequence[Any]
    render: Callable[[Any], Any]
    key: str | None = None


Handler = Callable[[Any, Request], "Response | Page | dict[str, Any] | list[Any]"]


@dataclass(frozen=True)
class Route:
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    needs: str
    anonymous: bool


ROUTES: list[Route] = []
REPO = "/repos/{owner}/{repo}"


def route(method: str, template: str, *, needs: str = "read", anonymous: bool = False) -> Callable[[Handler], Handler]:
    """Registers a handler; `{name}` is one segment, `{name...}` may hold slashes. The first declared that fits wins."""
    pattern = re.sub(
        r"\\{(\w+)(\\\.\\\.\\\.)?\\}", lambda m: f"(?P<{m[1]}>{'.+' if m[2] else '[^/]+'})", re.escape(template)
    )

    def keep(handler: Handler) -> Handler:
        ROUTES.append(Route(method, re.compile(pattern), handler, needs, anonymous))
        return handler

    return keep


def find(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route of a request and the decoded parts of its path; None when there is none."""
    for candidate in ROUTES:
        if candidate.method == method and (found := candidate.pattern.fullmatch(path)):
            return candidate, {name: unquote(value) for name, value in found.groupdict().items()}
    return None


def error(refused: Refused) -> Response:
    """A refusal in GitHub's words."""
    value: dict[str, Any] = {"message": refused.message, "documentation_url": DOCS, "status": str(refused.status)}
    if refused.errors:
        value |= {"message": "Validation Failed", "errors": refused.errors}
    return Response(status=refused.status, value=value)


def paged(page: Page, request: Request, url: str) -> Response:
    """One page of at most 100, with Link headers on our own host."""
    size = min(max(_whole(request.query.get("per_page"), 30), 1), 100)
    at = max(_whole(request.query.get("page"), 1), 1)
    last = max(-(-len(page.items) // size), 1)
    shown = [page.render(item) for item in page.items[(at - 1) * size : at * size]]
    links = {"prev": at - 1, "next": at + 1, "last": last, "first": 1}
    kept = [name for name, to in links.items() if 1 <= to <= last and to != at and (name not in ("last",) or at < last)]
    header = ", ".join(
        f'<{url}{request.path}?{urlencode({**request.query, "page": links[name]})}>; rel="{name}"' for name in kept
    )
    value = shown if page.key is None else {"total_count": len(page.items), page.key: shown}
    return Response(value=value, headers={"Link": header} if header else {})


def _whole(text: str | None, fallback: int) -> int:
    return int(text) if text and text.isdigit() else fallback


def conditional(request: Request, response: Response) -> Response:
    """ETags depend on the token, as on github.com: another job's token never gets a 304."""
    if request.method != "GET" or response.status != 200 or response.file is not None:
        return response
    key = f"{request.headers.get('authorization', '')}\0{request.headers.get('accept', '')}\0".encode()
    tag = f'W/"{hashlib.sha256(key + response.body).hexdigest()}"'
    asked = [word.strip() for word in request.headers.get("if-none-match", "").split(",")]
    headers = {
        **response.headers,
        "ETag": tag,
        "Vary": "Accept, Authorization",
        "Cache-Control": "private, max-age=60, s-maxage=60",
    }
    return Response(status=304, headers=headers) if tag in asked else Response(
        status=200, value=response.value, data=response.data, headers=headers)


def when(text: str) -> datetime:
    """A moment a client sent; 422 when it is none."""
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"Invalid date: {text}") from None
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def within(created: datetime, search: str) -> bool:
    """GitHub's date search: `>=2026-09-10`, `2026-09-01..2026-09-10`, `2026-09-10`, open ends as `*`."""
    if ".." in search:
        low, high = search.split("..", 1)
        return (low == "*" or created >= when(low)) and (high == "*" or created <= _end(high))
    for sign, holds in _SIGNS.items():
        if search.startswith(sign):
            return holds(created, search.removeprefix(sign))
    return when(search) <= created <= _end(search)


def _end(text: str) -> datetime:
    return when(text) if "T" in text else when(text).replace(hour=23, minute=59, second=59)


_SIGNS: Mapping[str, Callable[[datetime, str], bool]] = {
    ">=": lambda created, text: created >= when(text), "<=": lambda created, text: created <= _end(text),
    ">": lambda created, text: created > _end(text), "<": lambda created, text: created < when(text)}
