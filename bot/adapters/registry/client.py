"""What registries hold, over the OCI distribution protocol: many questions at a time, content checked against its digest.

A registry is a stranger: it may lie about digests and sizes, page for ever, answer slowly, or send us elsewhere.
Everything is bounded, and what is not proven by its digest is refused. `trust_declared` lifts exactly that last rule,
for rehearsals only: a scenario states the digest a real tag had, and no made-up bytes can have it.

Each question opens an event loop of its own and closes it with the answer, so that callers need none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx

from bot.adapters.addresses import Guard, Resolve, system_resolve
from bot.adapters.http import make_async_client
from bot.adapters.registry.auth import Logins
from bot.adapters.registry.cache import Cache
from bot.adapters.registry.limits import Patience
from bot.adapters.registry.reader import FRESH_S, Reader
from bot.adapters.registry.secrets import Helper, Secrets
from bot.adapters.registry.session import TOTAL_S, Session
from bot.errors import BumpbotError
from bot.images.reference import canonical
from bot.model.image import Held, Reference, Resolved
from bot.ports import Clock

T = TypeVar("T")


class OciRegistry:
    """Satisfies the Registry port for every registry a reference may name.

    `credentials` is Docker's config.json as a mapping, `helper` asks the programs that it names (None: they are not asked);
    `override` sends a registry's name to loopback (rehearsals); `cache` is a folder of ours for answers, None keeps none; a
    listing of tags holds for `listing_s` seconds where the registry gives nothing to ask with.
    """

    def __init__(self, clock: Clock, *, credentials: Mapping[str, Any] | None = None,
                 helper: Helper | None = None, override: Mapping[str, str] | None = None, trust_declared: bool = False,
                 resolve: Resolve = system_resolve, transport: httpx.AsyncBaseTransport | None = None,
                 total_s: float = TOTAL_S, cache: Path | None = None, listing_s: float = FRESH_S) -> None:
        self._clock, self._override, self._trust = clock, dict(override or {}), trust_declared
        self._resolve, self._transport, self._total_s = resolve, transport, total_s
        self._logins, self._patience = Logins(clock, Secrets(credentials or {}, helper)), Patience(clock)
        self._listing_s = listing_s
        self._cache = Cache(cache) if cache else None

    def resolve(self, reference: Reference) -> Resolved:
        """What stands under a reference now. `created`, labels and facts are those of one platform's config
        (linux/amd64 where there is one); they stay unknown when the registry serves no platform at all."""
        return self._run(lambda reader: reader.resolved(reference))

    def digest(self, reference: Reference) -> str:
        """What a reference names now, by one HEAD, which no pull limit counts; by a GET where HEAD does not tell."""
        return self._run(lambda reader: reader.digest(reference))

    def tags(self, reference: Reference) -> Sequence[str]:
        """Every tag of a repository, in the registry's order. A listing that does not end is an error, never a part."""
        return self._run(lambda reader: reader.tags(reference))

    def listings(self, references: Sequence[Reference]) -> Mapping[str, Sequence[str] | BumpbotError]:
        """All tags of each repository that a reference names, by `Reference.name`; each is asked once. A repository that
        fails has its error for an answer and takes no other with it."""
        found = self._many({each.name: each for each in references}, lambda reader, each: reader.tags(each))
        return {each.name: found[each.name] for each in references}

    def held(self, references: Sequence[Reference]) -> Mapping[str, Held | BumpbotError]:
        """What each reference names now, by `Reference.text`, from one answer each; two spellings of an image are asked
        once. Platforms are unknown for a single manifest, which names its own only in its config (`resolve`)."""
        found = self._many({canonical(each): each for each in references}, lambda reader, each: reader.held(each))
        return {each.text: found[canonical(each)] for each in references}

    def _many(self, wanted: Mapping[str, Reference],
              question: Callable[[Reader, Reference], Awaitable[T]]) -> dict[str, T | BumpbotError]:
        async def together(reader: Reader) -> dict[str, T | BumpbotError]:
            answers = await asyncio.gather(*(_or_error(question(reader, each)) for each in wanted.values()))
            return dict(zip(wanted, answers, strict=True))

        return self._run(together) if wanted else {}

    def _run(self, question: Callable[[Reader], Awaitable[T]]) -> T:
        async def inside() -> T:
            async with make_async_client(self._transport or Guard(resolve=self._resolve)) as client:
                self._patience.begin()
                session = Session(client, self._clock, self._logins, self._patience, cache=self._cache, total_s=self._total_s)
                return await question(Reader(session, self._logins, self._override, self._trust, self._listing_s))

        try:
            return asyncio.run(inside())
        finally:
            if self._cache:
                self._cache.close()


async def _or_error(answer: Awaitable[T]) -> T | BumpbotError:
    try:
        return await answer
    except BumpbotError as error:
        return error
