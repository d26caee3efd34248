"""Logging in to registries: whose word is taken for where, and which secret goes to whom (SECURITY.md rule 11).

A registry answers 401 and names a realm, and whoever controls that answer could have our password sent anywhere. So a
realm is used only on the registry's own host, or on the host that the table names for it; on loopback, on any port.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

import httpx
from msgspec import Struct

from bot.adapters.addresses import is_loopback_name, readable
from bot.adapters.http import Answer, check, plain
from bot.adapters.registry.hosts import Host
from bot.adapters.registry.secrets import Secrets
from bot.errors import BadInput, Refusal
from bot.ports import Clock

Ask = Callable[[str, Mapping[str, str]], Awaitable[Answer]]
"""One patient GET of a URL with these headers; 401 and 403 are answers."""

ANONYMOUS = "anonymous"
_ANY = "*"
_SHOWN = ("realm", "service", "scope", "error")
_PARAMETER = re.compile(r'([A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?')
_HEADER_SAFE = re.compile(r"[\x21-\x7e]{1,65536}")


class Challenge(Struct, frozen=True, kw_only=True):
    """One way to log in that a 401 offers."""

    scheme: str
    parameters: dict[str, str]


def challenges(header: str) -> list[Challenge]:
    """The ways to log in that a WWW-Authenticate header offers, in its order; schemes lower-case."""
    found: list[tuple[str, dict[str, str]]] = []
    for name, quoted, bare in _PARAMETER.findall(header[:8192]):
        value = re.sub(r"\\(.)", r"\1", quoted) or bare
        if value and found:
            found[-1][1][name.lower()] = value
        elif not value:
            found.append((name.lower(), {}))
    return [Challenge(scheme=scheme, parameters=parameters) for scheme, parameters in found]


def told_of(offered: Sequence[Challenge]) -> str:
    """What a 401 asked for, in characters that may be shown: a fault of the registry is told from one of ours by it."""
    def words(one: Challenge) -> str:
        shown = (f"{name}={one.parameters[name].partition('?')[0]}" for name in _SHOWN if name in one.parameters)
        return " ".join((one.scheme[:40], *shown))

    return re.sub(r"[^A-Za-z0-9_.:/+=, -]", "?", ", ".join(map(words, offered[:3])) or "no way to log in")[:300]


def asked_by(refused: Answer) -> list[Challenge]:
    """The ways to log in that an answer offers."""
    return challenges(refused.headers.get("www-authenticate", ""))


class Won(Struct, frozen=True, kw_only=True):
    """An Authorization header, who it makes us, and until when it is good; None is for ever. `declined`: who we said we are
    before, and were not believed; `challenge`: what asked for it, in words."""

    header: str
    identity: str
    until: datetime | None = None
    declined: str = ""
    challenge: str = ""


class Logins:
    """Credentials and the headers won with them, per registry and scope. Nothing of it is written
    anywhere. That only one asks for a token at a time is the caller's to see to (`Session`)."""

    def __init__(self, clock: Clock, secrets: Secrets) -> None:
        self._clock, self._secrets = clock, secrets
        self._won: dict[tuple[str, str], Won] = {}
        self._ways: dict[str, Challenge] = {}

    def header(self, host: Host, scope: str) -> str | None:
        """The Authorization header for a scope, while it is valid."""
        won = self._found(host, scope)
        return won.header if won and (won.until is None or self._clock.now() < won.until) else None

    def identity(self, host: Host, scope: str) -> str:
        """Who the registry took us for in its last answer."""
        won = self._found(host, scope)
        return won.identity if won else ANONYMOUS

    def tried(self, host: Host, scope: str) -> tuple[str, str]:
        """In words for an error: who we say we are, with the login that was not believed before, and the challenge that it
        answers; "" where there was none."""
        won = self._found(host, scope)
        return (_as_whom(won.identity, won.declined), won.challenge) if won else (ANONYMOUS, "")

    def user(self, host: Host) -> str:
        """Who we would say we are to a registry that asks."""
        secret = self._secrets.of(host.name)
        return secret[0] if secret else ANONYMOUS

    def forget(self, host: Host, scope: str, header: str) -> None:
        """Drops a header that was refused, unless another has taken its place meanwhile."""
        for key in ((host.api, scope), (host.api, _ANY)):
            if key in self._won and self._won[key].header == header:
                del self._won[key]

    async def prepare(self, host: Host, scope: str, ask: Ask) -> None:
        """Wins a token before a request where the registry's way is known: it saves the refusal that would tell it again.
        The scope is the one its challenges show for another repository, with this one's name."""
        way = self._ways.get(host.api)
        if way is not None and self.header(host, scope) is None:
            self._won[host.api, scope] = await self._token(host, way.parameters["scope"].format(repository_of(scope)), way, ask)

    async def answer(self, host: Host, scope: str, refused: Answer, ask: Ask) -> None:
        """Meets a 401's challenge so that `header` has something to send; a Refusal tells scope and identity."""
        offered = {c.scheme: c for c in asked_by(refused)}
        if bearer := offered.get("bearer"):
            # At its root ghcr.io names the scope of an image that is nobody's; there the one that is wanted is known better.
            root = refused.url == f"{host.api}/v2/"
            asked_for = scope if root else bearer.parameters.get("scope", scope)
            self._won[host.api, scope] = await self._token(host, asked_for, bearer, ask)
            self._learn(host, scope, asked_for, bearer)
            return
        secret = self._secrets.of(host.name)
        if "basic" in offered and secret is not None:
            self._won[host.api, _ANY] = Won(header=_basic(*secret), identity=secret[0], challenge=told_of([offered["basic"]]))
            return
        raise Refusal(f"{host.name} refuses {ANONYMOUS} for {scope} and offers {told_of(asked_by(refused))}",
                      "log in with `docker login`")

    def _found(self, host: Host, scope: str) -> Won | None:
        return self._won.get((host.api, scope)) or self._won.get((host.api, _ANY))

    def _learn(self, host: Host, scope: str, asked_for: str, challenge: Challenge) -> None:
        name = repository_of(scope)
        if asked_for.count(name) == 1 and not set("{}") & set(asked_for):
            pattern = {**challenge.parameters, "scope": asked_for.replace(name, "{}")}
            self._ways[host.api] = Challenge(scheme="bearer", parameters=pattern)

    async def _token(self, host: Host, scope: str, challenge: Challenge, ask: Ask) -> Won:
        realm = self._realm(host, challenge)
        wanted = {"service": challenge.parameters.get("service", ""), "scope": scope}
        url = str(realm.copy_merge_params({name: value for name, value in wanted.items() if value}))
        secret = self._secrets.of(host.name)
        identity, declined = secret[0] if secret else ANONYMOUS, ""
        answer = await ask(url, {"Authorization": _basic(*secret)} if secret else {})
        if secret and answer.status in (401, 403):
            identity, declined, answer = ANONYMOUS, identity, await ask(url, {})
        told = told_of([challenge])
        check(answer, f"{host.name}: a token for {scope} as {_as_whom(identity, declined)} ({told})")
        header, until = self._read(answer)
        return Won(header=header, until=until, identity=identity, declined=declined, challenge=told)

    def _read(self, answer: Answer) -> tuple[str, datetime]:
        told = answer.json()
        token = (told.get("token") or told.get("access_token")) if isinstance(told, dict) else None
        if not isinstance(token, str) or not _HEADER_SAFE.fullmatch(token):
            raise BadInput(f"{plain(answer.url)}: no token in the answer", "the registry's login is broken")
        life = told.get("expires_in")
        seconds = min(max(life, 10), 3600) if isinstance(life, (int, float)) and not isinstance(life, bool) else 60
        return f"Bearer {token}", self._clock.now() + timedelta(seconds=seconds - 5)

    def _realm(self, host: Host, challenge: Challenge) -> httpx.URL:
        realm = readable(challenge.parameters.get("realm", "")) or httpx.URL("")
        local = host.local and realm.scheme in ("http", "https") and is_loopback_name(realm.host)
        own = realm.host in {httpx.URL(host.api).host, *host.realms} and realm.scheme == "https" and not host.local
        if not (local or own):
            raise Refusal(f"{host.name} sends its logins to {realm.host[:255] or 'nowhere'}",
                          "a realm is used only on the registry's own host or the one its table names")
        return realm


def _as_whom(identity: str, declined: str) -> str:
    return f"{identity}, for {declined} was refused" if declined else identity


def repository_of(scope: str) -> str:
    """The repository of a scope `repository:NAME:ACTIONS`."""
    return scope.removeprefix("repository:").rpartition(":")[0]


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
