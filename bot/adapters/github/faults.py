"""What GitHub says no with, as our errors: one fold for reads and mutations, for REST and for GraphQL's errors in a 200.

A limit is known by its header or by its words: a secondary one often comes as a 403 with no header at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.adapters.http import Answer, Busy, wait_asked
from bot.errors import BadInput, BumpbotError, Conflict, Missing, Refusal

# GitHub's documentation asks for a minute where a secondary limit names no time.
SECONDARY_S = 60.0
_RIGHTS = "look at what the token may do: contents, pull requests, issues and actions, each to write"
_LIMIT_WORDS = ("rate limit", "abuse detection")
_PASSING_WORDS = ("something went wrong", "timed out", "timeout", "try again later")
_GRAPHQL = {"NOT_FOUND": 404, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403, "RATE_LIMITED": 429, "UNPROCESSABLE": 422}


class Declined(Refusal):
    """GitHub will not do this; `status` and `said` let a caller tell a no that is none from the others."""

    def __init__(self, status: int, said: str, reason: str, hint: str) -> None:
        self.status, self.said = status, said
        super().__init__(reason, hint)


class Unprocessable(BadInput):
    """422: GitHub understood and declined what we sent; nothing was changed."""

    def __init__(self, said: str, reason: str) -> None:
        self.said = said
        super().__init__(reason, "the request must be changed before it is sent again")


def fold(what: str, status: int, headers: Mapping[str, str], data: Any, *, now: float | None = None) -> BumpbotError:
    """One refused request as one of our errors. `what` names it; `now` (epoch seconds) prices a limit's reset time.

    404 and 410 are Missing, 409 a Conflict, 422 Unprocessable, a limit or a fault of the server Busy, all else Declined.
    """
    said = words_of(data)
    reason = f"{what}: the forge answered {status}{f': {said}' if said else ''}"
    if status in (404, 410):
        return Missing(reason, "it does not exist, is gone, or the token may not see it")
    if status == 409:
        return Conflict(reason, "the next look decides again")
    if status == 422:
        return Unprocessable(said, reason)
    if status == 429 or status >= 500 or (status == 403 and _limited(headers, said)):
        return Busy(reason, "a later wake tries again", after_s=_asked(status, headers, said, now))
    if 300 <= status < 400:
        return Declined(status, said, reason, "it moved: name its new place in the layout")
    return Declined(status, said, reason, _RIGHTS if status in (401, 403) else "look again")


def fold_graphql(what: str, data: Any) -> BumpbotError:
    """The errors of a GraphQL answer, which come with status 200."""
    errors = data.get("errors") if isinstance(data, Mapping) else None
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], Mapping) else {}
    said = words_of(data)
    passing = any(word in said.lower() for word in _PASSING_WORDS)
    return fold(what, _GRAPHQL.get(str(first.get("type", "")), 502 if passing else 400), {}, data)


def words_of(data: Any) -> str:
    """The message of an answer and of each error in it, in one line of at most 300 characters."""
    if not isinstance(data, Mapping):
        return ""
    errors = data.get("errors")
    told = [data.get("message"), *(errors if isinstance(errors, list) else [errors])]
    parts = [_words(part) for part in told if part]
    return " ".join("; ".join(dict.fromkeys(part for part in parts if part)).split())[:300]


def _words(part: Any) -> str:
    """An error is a text, or an object with a message, with the name of a field and a code, or with all three."""
    if not isinstance(part, Mapping):
        return str(part)
    place = " ".join(str(part[name]) for name in ("resource", "field", "code") if part.get(name))
    return ": ".join(str(told) for told in (place, part.get("message")) if told)


def _limited(headers: Mapping[str, str], said: str) -> bool:
    spent = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return spent or any(word in said.lower() for word in _LIMIT_WORDS)


def _asked(status: int, headers: Mapping[str, str], said: str, now: float | None) -> float | None:
    """Seconds the server asked for; a reset time counts only where the limit is spent, for it stands on every answer."""
    named = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    asked = wait_asked(Answer(url="", status=status, headers=dict(headers), body=b""), now=now) if named else None
    return SECONDARY_S if asked is None and "secondary rate limit" in said.lower() else asked
