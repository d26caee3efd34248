"""One conversation with any number of registries, many questions at a time: who may ask, how often, as whom, and how
long an answer may take. Lives inside one event loop; what must outlive it (logins, limits, the cache) is given to it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from typing import Any

import httpx

from bot.adapters.addresses import may_follow, readable
from bot.adapters.http import Answer, Busy, check, fetch_async, plain, retry_async
from bot.adapters.registry.auth import ANONYMOUS, Logins, asked_by, told_of
from bot.adapters.registry.cache import Cache, Kept
from bot.adapters.registry.hosts import Host
from bot.adapters.registry.limits import Patience
from bot.adapters.waiting import aside
from bot.errors import BadInput, BumpbotError, Refusal, Unreachable
from bot.model.image import Reference
from bot.ports import Clock

# Questions to one registry and requests to all, under way at once: one that hangs holds its own share and no more, and
# what the first ones learn of it (how to log in, that it is dead) is known to those that come after.
PER_HOST, TOGETHER = 10, 40
MAX_HOPS = 5
MAX_TOKEN_ANSWER = 256_000
# Seconds for one answer; a question with its retries gets twice that, waits that were asked for not counted.
TOTAL_S = 60.0
# How many times that all questions to one registry may take together. Each answer in time and each just so can last hours.
ONE_HOST = 10
REDIRECTS = (301, 302, 303, 307, 308)
# Answers that are looked at before they are an error: a challenge, "as you have it", and what a login may open.
_TOLD = (304, 401, 403, 405)


class Session:
    """`ask` answers one request with whatever login, patience and redirects it takes."""

    def __init__(self, client: httpx.AsyncClient, clock: Clock, logins: Logins, patience: Patience, *,
                 cache: Cache | None = None, total_s: float = TOTAL_S) -> None:
        self._client, self._clock, self._logins, self._patience, self._cache = client, clock, logins, patience, cache
        self.total_s = total_s
        self._until: defaultdict[str, float] = defaultdict(lambda: time.monotonic() + ONE_HOST * total_s)
        self._together = asyncio.Semaphore(TOGETHER)
        self._share: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(PER_HOST))
        self._resting: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._meeting: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._shut: dict[tuple[str, str], BumpbotError] = {}

    async def ask(self, host: Host, method: str, url: str, reference: Reference, *, accept: str, limit: int,
                  validator: str = "") -> Answer:
        """One request as the registry wants it asked. 2xx is an answer, so is 304 to a `validator` and 405 to a HEAD;
        401, 403, 404, 429 and 5xx are errors of their own kinds."""
        what = f"{reference.text} at {host.name}"
        headers = {"Accept": accept} | ({"If-None-Match": validator} if validator else {})
        async with self._share[host.api]:
            try:
                answer = await self._as_somebody(host, method, url, scope_of(reference), headers, limit, what)
            except Busy as error:
                self._patience.failed(host, error)
                raise
            self._patience.answered(host)
        if answer.status == (304 if validator else None) or (answer.status == 405 and method == "HEAD"):
            return answer
        if answer.status == 405:
            raise Refusal(f"{what}: the registry does not answer this question (405)", "it has no such listing")
        if check(answer, what, now=self._now()).status != 200:
            raise BadInput(f"{what}: an answer that says it is not whole ({answer.status})", "the registry is broken")
        return answer

    async def read(self, host: Host, url: str, reference: Reference, *, accept: str, limit: int,
                   sound: Callable[[Answer], Any], lasts: float = 0.0) -> Answer:
        """A GET as `ask` answers it, out of the cache where the registry says that nothing changed. What is kept no longer
        than `lasts` seconds, and gives nothing to ask with, is not asked about at all; nor, for ever, what cannot change.
        `sound` raises for an answer that is not to be believed: one is never kept, and never taken from the cache."""
        kept = self._kept(host, url, sound)
        if kept:
            alone = kept.identity not in host.shared_users and (not kept.validator or lasts == inf)
            if alone and 0 <= self._now() - kept.at < lasts:
                return kept.answer
            answer = await self.ask(host, "GET", url, reference, accept=accept, limit=limit, validator=kept.validator)
            told, known = (each.headers.get("docker-content-digest", "") for each in (answer, kept.answer))
            if answer.status == 304 and told in ("", known):
                return kept.answer
        if not kept or answer.status == 304:
            # The second: "as you have it", and another digest in the same breath.
            answer = await self.ask(host, "GET", url, reference, accept=accept, limit=limit)
        sound(answer)
        if self._cache:
            self._cache.keep(url, self._logins.identity(host, scope_of(reference)), answer, self._now())
        return answer

    def _kept(self, host: Host, url: str, sound: Callable[[Answer], Any]) -> Kept | None:
        kept = self._cache.find(url, (self._logins.user(host), ANONYMOUS)) if self._cache else None
        try:
            if kept and self._cache:
                sound(kept.answer)
                self._cache.touch(url, kept)
        except BadInput:
            return None
        return kept

    async def beside(self, url: str, limit: int) -> Answer:
        """A page beside a registry, asked for without any login; errors are those of `check`."""
        async with self._share[httpx.URL(url).host], self._together:
            return check(await fetch_async(self._client, "GET", url, limit=limit, total_s=self.total_s), plain(url))

    async def _as_somebody(self, host: Host, method: str, url: str, scope: str, headers: Mapping[str, str], limit: int,
                           what: str) -> Answer:
        """Only the challenge to a request without a login is met: one registry sends those whose token ran out to a host
        that lets no stranger in. A login refused at once after its challenge was met is refused for good."""
        await self._meet(host, scope, None)
        met: Answer | None = None
        spends = not host.counts_gets or (method == "GET" and "/manifests/" in url)
        while True:
            login = self._logins.header(host, scope)
            sent = {**headers, "Authorization": login} if login else headers
            whom, led = self._logins.tried(host, scope) if login else (ANONYMOUS, "")
            answer = await self._patiently(
                host, lambda sent=sent, whom=whom: self._once(host, method, url, sent, limit, what, whom), spends=spends)
            refused = answer.status == 403 or (answer.status == 405 and method == "GET")
            if refused and login is None and met is None:
                # Some registries refuse a stranger without saying how to log in, except at their root.
                met = await self._patiently(host, lambda: self._send(host, "GET", f"{host.api}/v2/", {}, MAX_TOKEN_ANSWER))
                if met.status != 401:
                    return _allowed(answer, f"{what}: refused as {whom} for {scope}", led)
                await self._meet(host, scope, met)
            elif answer.status != 401 or met is not None:
                return _allowed(answer, f"{what}: refused as {whom} for {scope}", led)
            elif login is not None:
                self._logins.forget(host, scope, login)
            else:
                met = answer
                await self._meet(host, scope, answer)

    async def _meet(self, host: Host, scope: str, challenge: Answer | None) -> None:
        """Wins a login once for all that want it; a failure is told to all of them and not asked for again. Without a
        challenge, one is won only where the registry's way is known already."""
        async with self._meeting[host.api, scope]:
            if (host.api, scope) in self._shut:
                raise self._shut[host.api, scope]
            if self._logins.header(host, scope) is not None:
                return

            async def ask(url: str, headers: Mapping[str, str]) -> Answer:
                return await self._patiently(host, lambda: self._token(host, url, headers))

            try:
                if challenge is None:
                    await self._logins.prepare(host, scope, ask)
                else:
                    await self._logins.answer(host, scope, challenge, ask)
            except BumpbotError as error:
                self._shut[host.api, scope] = error
                raise

    async def _patiently(self, host: Host, read: Callable[[], Awaitable[Answer]], *, spends: bool = False) -> Answer:
        """A request repeated while the registry is busy, and not begun while it asked to be left alone."""
        worked = 0.0

        async def once() -> Answer:
            nonlocal worked
            if time.monotonic() > self._until[host.api]:
                raise Unreachable(f"{host.name} is asked no further, it took too long", "try again later")
            await self._rest(host, self._patience.left(host, spends=spends))
            began = time.monotonic()
            try:
                return await read()
            finally:
                worked += time.monotonic() - began

        async def rest(seconds: float) -> None:
            await self._rest(host, seconds)

        return await retry_async(rest, once, enough=lambda: worked >= 2 * self.total_s)

    async def _rest(self, host: Host, seconds: float) -> None:
        """A wait of one registry is waited once, however many of its questions wait."""
        if seconds <= 0:
            return
        began = self._clock.now()
        async with self._resting[host.api]:
            left = seconds - (self._clock.now() - began).total_seconds()
            if left > 0:
                await aside(self._clock.sleep, left)

    async def _once(self, host: Host, method: str, url: str, headers: Mapping[str, str], limit: int, what: str,
                    whom: str) -> Answer:
        """Follows redirects with no credentials, whatever host they name; a second challenge is nobody's to ask."""
        answer = await self._send(host, method, url, headers, limit)
        self._patience.heard(host, answer, whom)
        for _ in range(MAX_HOPS):
            if answer.status not in REDIRECTS:
                break
            target = joined(answer.url, answer.headers.get("location", ""))
            may_follow(answer.url, target)
            answer = await self._send(host, method, target, {"Accept": headers["Accept"]}, limit)
            if answer.status == 401:
                raise Refusal(f"{what}: redirected to {httpx.URL(target).host}, which asks for a login", "it gets none")
        limited = answer.status == 403 and "retry-after" in answer.headers
        return answer if answer.status in _TOLD and not limited else check(answer, f"{what} as {whom}", now=self._now())

    async def _token(self, host: Host, url: str, headers: Mapping[str, str]) -> Answer:
        answer = await self._send(host, "GET", url, headers, MAX_TOKEN_ANSWER)
        return answer if answer.status in (401, 403) else check(answer, plain(url), now=self._now())

    async def _send(self, host: Host, method: str, url: str, headers: Mapping[str, str], limit: int) -> Answer:
        async with self._together:
            return await fetch_async(self._client, method, url, headers=headers, limit=limit, total_s=self.total_s)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _allowed(answer: Answer, refused: str, challenge: str) -> Answer:
    """The answer, unless it refuses: then who was refused what, and the challenge that was met or, without a login, offered."""
    if answer.status in (401, 403):
        raise Refusal(f"{refused} ({answer.status}; {challenge or told_of(asked_by(answer))})",
                      "check what this login may read, or log in with `docker login`")
    return answer


def scope_of(reference: Reference) -> str:
    """What a token must be good for to read this repository."""
    return f"repository:{reference.repository}:pull"


def joined(base: str, target: str) -> str:
    """Where a Location or Link of `base` leads."""
    found = readable(target, base)
    if found is None:
        raise BadInput(f"{plain(base)}: points to what is no address, or one with a login in it", "the registry is broken")
    return str(found)
