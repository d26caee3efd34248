"""Logging in to registries: whose word is taken for where, and which secret goes to whom (SECURITY.md rule 11).

A registry answers 401 and names a realm, and whoever controls that answer could have our password sent anywhere. So a
realm is used only on the registry's own host, or on the host that the table names for it; on loopback, on any port.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import httpx
from msgspec import Struct

from bot.adapters.addresses import is_loopback_name
from bot.adapters.http import Answer, check, fetch, plain, retry_read
from bot.errors import BadInput, Refusal
from bot.images.reference import HUB, HUB_NAMES
from bot.ports import Clock

ANONYMOUS = "anonymous"
MAX_TOKEN_ANSWER = 256_000
_PARAMETER = re.compile(r'([A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?')
_HEADER_SAFE = re.compile(r"[\x21-\x7e]{1,65536}")


class Host(Struct, frozen=True, kw_only=True):
    """Where a registry is spoken to. `realms`: other hosts its token realm may name; `hub`: the tag API beside it."""

    name: str
    api: str
    realms: frozenset[str] = frozenset()
    hub: str | None = None

    @property
    def local(self) -> bool:
        return is_loopback_name(httpx.URL(self.api).host)


# To add a registry that is more than "https, its own realm": one row.
HOSTS: dict[str, Host] = {host.name: host for host in (
    Host(name=HUB, api="https://registry-1.docker.io", realms=frozenset({"auth.docker.io"}),
         hub="https://hub.docker.com"),
    Host(name="registry.gitlab.com", api="https://registry.gitlab.com", realms=frozenset({"gitlab.com"})),
)}


class Challenge(Struct, frozen=True, kw_only=True):
    """One way to log in that a 401 offers."""

    scheme: str
    parameters: dict[str, str]


def host_of(registry: str, override: Mapping[str, str] | None = None) -> Host:
    """How a registry is reached. An override (rehearsals) must name loopback; its credentials are its own."""
    if override and registry in override:
        base = httpx.URL(override[registry])
        if base.scheme != "http" or not is_loopback_name(base.host):
            raise Refusal(f"the stand-in for {registry} is not on loopback", "write http://127.0.0.1:PORT")
        api = f"http://{base.netloc.decode()}"
        return Host(name=base.netloc.decode(), api=api, hub=api if HOSTS.get(registry, _NO_HUB).hub else None)
    if registry in HOSTS:
        return HOSTS[registry]
    local = is_loopback_name(httpx.URL(f"http://{registry}").host)
    return Host(name=registry, api=f"{'http' if local else 'https'}://{registry}")


_NO_HUB = Host(name="", api="")


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


class Logins:
    """Credentials of Docker's config file and the headers won with them, per registry and scope."""

    def __init__(self, client: httpx.Client, clock: Clock, config: Mapping[str, Any] | None) -> None:
        self._client, self._clock = client, clock
        self._secrets = _secrets(config or {})
        self._won: dict[tuple[str, str], tuple[str, str, datetime | None]] = {}

    def header(self, host: Host, scope: str) -> str | None:
        """The Authorization header for a scope, while it is valid."""
        header, _, until = self._won.get((host.api, scope), (None, "", None))
        return header if until is None or self._clock.now() < until else None

    def identity(self, host: Host, scope: str) -> str:
        """Who the registry took us for in its last answer."""
        return self._won.get((host.api, scope), ("", ANONYMOUS, None))[1]

    def answer(self, host: Host, scope: str, refused: Answer) -> None:
        """Meets a 401's challenge so that `header` has something to send; a Refusal tells scope and identity."""
        self._won.pop((host.api, scope), None)
        offered = {c.scheme: c for c in challenges(refused.headers.get("www-authenticate", ""))}
        if "bearer" in offered:
            self._won[host.api, scope] = self._token(host, scope, offered["bearer"])
            return
        secret = self._secrets.get(host.name)
        if "basic" in offered and secret is not None:
            self._won[host.api, scope] = (_basic(*secret), secret[0], None)
            return
        ways = ", ".join(offered) or "no way to log in"
        raise Refusal(f"{host.name} refuses {ANONYMOUS} for {scope} and offers {ways}", "log in with `docker login`")

    def _token(self, host: Host, scope: str, challenge: Challenge) -> tuple[str, str, datetime]:
        realm = self._realm(host, challenge)
        wanted = {"service": challenge.parameters.get("service", ""), "scope": challenge.parameters.get("scope", scope)}
        url = str(realm.copy_merge_params({name: value for name, value in wanted.items() if value}))
        secret = self._secrets.get(host.name)
        identity = secret[0] if secret else ANONYMOUS
        answer = self._ask(url, _basic(*secret) if secret else None)
        if secret and answer.status in (401, 403):
            identity, answer = ANONYMOUS, self._ask(url, None)
        check(answer, f"a token of {realm.host} for {wanted['scope']} as {identity}")
        return self._read(answer, identity)

    def _ask(self, url: str, authorization: str | None) -> Answer:
        headers = {"Authorization": authorization} if authorization else {}

        def once() -> Answer:
            answer = fetch(self._client, "GET", url, headers=headers, limit=MAX_TOKEN_ANSWER, total_s=30)
            if answer.status in (401, 403):
                return answer
            return check(answer, plain(url), now=self._clock.now().timestamp())

        return retry_read(self._clock, once)

    def _read(self, answer: Answer, identity: str) -> tuple[str, str, datetime]:
        told = answer.json()
        token = (told.get("token") or told.get("access_token")) if isinstance(told, dict) else None
        if not isinstance(token, str) or not _HEADER_SAFE.fullmatch(token):
            raise BadInput(f"{plain(answer.url)}: no token in the answer", "the registry's login is broken")
        life = told.get("expires_in")
        seconds = min(max(life, 10), 3600) if isinstance(life, (int, float)) and not isinstance(life, bool) else 60
        return f"Bearer {token}", identity, self._clock.now() + timedelta(seconds=seconds - 5)

    def _realm(self, host: Host, challenge: Challenge) -> httpx.URL:
        try:
            realm = httpx.URL(challenge.parameters.get("realm", ""))
        except (httpx.InvalidURL, ValueError):
            realm = httpx.URL("")
        local = host.local and realm.scheme in ("http", "https") and is_loopback_name(realm.host)
        own = realm.host in {httpx.URL(host.api).host, *host.realms} and realm.scheme == "https" and not host.local
        if not (local or own) or realm.userinfo:
            raise Refusal(f"{host.name} sends its logins to {realm.host or 'nowhere'}",
                          "a realm is used only on the registry's own host or the one its table names")
        return realm


def _secrets(config: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """User and password per registry from the `auths` of Docker's config.json; what helpers keep is not there."""
    found: dict[str, tuple[str, str]] = {}
    entries = config.get("auths")
    for key, entry in entries.items() if isinstance(entries, Mapping) else ():
        if not isinstance(entry, Mapping):
            continue
        secret = _secret(entry)
        name = re.sub(r"^https?://", "", str(key)).partition("/")[0].lower()
        if secret is not None:
            found[HUB if name in HUB_NAMES else name] = secret
    return found


def _secret(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    user, password = entry.get("username"), entry.get("password")
    if isinstance(entry.get("auth"), str) and entry["auth"]:
        try:
            user, _, password = base64.b64decode(entry["auth"], validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise BadInput("an `auth` in Docker's config is not base64", "run `docker login` again") from None
    return (user, password) if isinstance(user, str) and isinstance(password, str) and user and password else None


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
