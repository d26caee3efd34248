"""The questions about images, each in terms of the requests it takes: one for a listing, one for what a tag holds now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import inf
from typing import Any, Literal

from bot.adapters.http import Answer, Limited
from bot.adapters.registry.auth import Logins
from bot.adapters.registry.documents import (
    ACCEPT,
    INDEX_TYPES,
    MANIFEST_TYPES,
    commit_of,
    document,
    env_facts,
    is_index,
    labels_of,
    mapping,
    moment,
    platforms_of,
    proven,
    sha256,
    word,
)
from bot.adapters.registry.hosts import Host, host_of
from bot.adapters.registry.session import Session, scope_of
from bot.adapters.registry.tags import MAX_TAG_PAGE, listing, tags_of
from bot.errors import BadInput, BumpbotError, Missing
from bot.images.reference import valid_digest
from bot.model.image import Held, ImageFacts, Platform, Reference, Resolved

MAX_MANIFEST, MAX_CONFIG = 4_194_304, 8_000_000
# Children of one index that are asked for the facts of an image: of two hundred that are not there each would take its time.
MAX_CHILDREN = 5
# How long a tag listing holds where the registry gives nothing to ask with (docker-registry 2.8 gives none): a scan that is
# done again at once costs one question an image. What a tag holds is always asked, and who names recipes gets a new listing.
FRESH_S = 30.0
_KINDS: dict[str, Literal["index", "manifest"]] = {
    **dict.fromkeys(INDEX_TYPES, "index"), **dict.fromkeys(MANIFEST_TYPES, "manifest")}  # type: ignore[dict-item]


class Reader:
    """The questions of the port, each in terms of what a `Session` asks."""

    def __init__(self, session: Session, logins: Logins, override: Mapping[str, str], trust: bool,
                 listing_s: float = FRESH_S) -> None:
        self._session, self._logins, self._override, self._trust = session, logins, override, trust
        self._listing_s = listing_s

    async def tags(self, reference: Reference) -> tuple[str, ...]:
        host = host_of(reference.registry, self._override)

        async def page(url: str) -> Answer:
            return await self._session.read(host, url, reference, accept="application/json", limit=MAX_TAG_PAGE,
                                            sound=tags_of, lasts=self._listing_s)

        return await listing(page, host, reference, self._session.total_s)

    async def digest(self, reference: Reference) -> str:
        host = host_of(reference.registry, self._override)
        return (await self._told(host, reference))[0] or (await self._seen(host, reference, ""))[0]

    async def held(self, reference: Reference) -> Held:
        """By one GET; where GETs are counted, by a HEAD and, for content not seen before, one GET."""
        host = host_of(reference.registry, self._override)
        told, media = await self._told(host, reference) if host.counts_gets else ("", "")
        try:
            digest, manifest, index, _ = await self._seen(host, reference, told)
        except Limited:
            if not told:
                raise
            return Held(digest=told, kind=_KINDS[media], platforms=None, identity=self._identity(host, reference))
        return Held(digest=digest, kind="index" if index else "manifest", identity=self._identity(host, reference),
                    platforms=platforms_of(manifest, reference.name) if index else None)

    async def resolved(self, reference: Reference) -> Resolved:
        host = host_of(reference.registry, self._override)
        digest, manifest, index, size = await self._seen(host, reference, (await self._told(host, reference))[0])
        platforms = platforms_of(manifest, reference.name) if index else ()
        config = await (self._config(host, reference, platforms) if index else self._config_of(host, reference, manifest))
        if not index:
            system, machine = word(config, "os"), word(config, "architecture")
            platforms = (Platform(os=system, architecture=machine, digest=digest, size=size),)
        labels = labels_of(manifest, config)
        commit = commit_of(labels)
        return Resolved(
            reference=reference, kind="index" if index else "manifest", digest=digest, platforms=platforms,
            created=moment(config.get("created")), labels=labels,
            facts=ImageFacts(**env_facts(config), commit=commit),
            provenance="label" if commit else "none", identity=self._identity(host, reference),
            pushed=await self._pushed(host, reference))

    async def _told(self, host: Host, reference: Reference) -> tuple[str, str]:
        """Digest and media type that HEAD tells; "" where a registry answers HEAD without a digest, or not as one of images."""
        head = await self._session.ask(host, "HEAD", _manifest(host, reference), reference, accept=ACCEPT, limit=0)
        told = _digest_of(head)
        if head.status == 405 or not told or _media(head) not in _KINDS:
            return "", ""
        _expected(reference, told)
        return told, _media(head)

    async def _seen(self, host: Host, reference: Reference, told: str) -> tuple[str, dict[str, Any], bool, int]:
        """Digest of what a reference names, the manifest, whether it is an index, and its bytes: a login page is none."""
        digest, body, media = await self._top(host, reference, told)
        manifest = document(body, f"{reference.name}@{digest}")
        return digest, manifest, is_index(manifest, media, reference.name), len(body)

    async def _top(self, host: Host, reference: Reference, told: str) -> tuple[str, bytes, str]:
        """Digest, bytes and media type of what a reference names; by digest where one is known."""
        def digest_of(answer: Answer) -> str:
            header = _digest_of(answer)
            _expected(reference, header)
            digest = reference.digest or told or header or sha256(answer.body)
            self._proven(answer.body, digest, reference.name)
            return digest

        url = _manifest(host, reference, reference.digest or told)
        answer = await self._session.read(host, url, reference, accept=ACCEPT, limit=MAX_MANIFEST, sound=digest_of,
                                          lasts=inf if told else 0.0)
        return digest_of(answer), answer.body, _media(answer)

    async def _config(self, host: Host, reference: Reference, platforms: Iterable[Platform]) -> dict[str, Any]:
        """The config of linux/amd64, else of the first platform served: ghcr lists children it answers 404 for."""
        for platform in sorted(platforms, key=lambda p: (p.os, p.architecture) != ("linux", "amd64"))[:MAX_CHILDREN]:
            url = _manifest(host, reference, platform.digest)
            try:
                body = await self._content(host, url, reference, ACCEPT, MAX_MANIFEST, platform.digest, platform.size)
            except Missing:
                continue
            return await self._config_of(host, reference, document(body, f"{reference.name}@{platform.digest}"))
        return {}

    async def _config_of(self, host: Host, reference: Reference, manifest: Mapping[str, Any]) -> dict[str, Any]:
        stated = mapping(manifest.get("config"))
        digest, size = stated.get("digest"), stated.get("size")
        if not isinstance(digest, str) or not valid_digest(digest):
            raise BadInput(f"{reference.name}: a manifest without a config", "it is no container image")
        url = f"{host.api}/v2/{reference.repository}/blobs/{digest}"
        body = await self._content(host, url, reference, "*/*", MAX_CONFIG, digest, size if isinstance(size, int) else None)
        return document(body, f"{reference.name}@{digest}")

    async def _content(self, host: Host, url: str, reference: Reference, accept: str, limit: int, digest: str,
                       size: int | None) -> bytes:
        """What stands under a digest, which is the same for ever."""

        def sound(answer: Answer) -> None:
            self._proven(answer.body, digest, reference.name, size=size)

        answer = await self._session.read(host, url, reference, accept=accept, limit=limit, sound=sound, lasts=inf)
        return answer.body

    async def _pushed(self, host: Host, reference: Reference) -> datetime | None:
        """When the tag was last pushed, from Docker Hub's tag pages; None where nobody tells. Never stops a resolve."""
        if host.hub is None or reference.tag is None:
            return None
        url = f"{host.hub}/v2/repositories/{reference.repository}/tags/{reference.tag}"
        try:
            told = mapping((await self._session.beside(url, MAX_MANIFEST)).json())
        except BumpbotError:
            return None
        return moment(told.get("tag_last_pushed") or told.get("last_updated"))

    def _proven(self, body: bytes, digest: str, name: str, *, size: int | None = None) -> None:
        if not self._trust:
            proven(body, digest, name, size=size)

    def _identity(self, host: Host, reference: Reference) -> str:
        return self._logins.identity(host, scope_of(reference))


def _manifest(host: Host, reference: Reference, digest: str = "") -> str:
    """Where a manifest is asked for: by digest where one is known, else by tag."""
    return f"{host.api}/v2/{reference.repository}/manifests/{digest or reference.digest or reference.tag or 'latest'}"


def _digest_of(answer: Answer) -> str:
    told = answer.headers.get("docker-content-digest", "")
    return told if valid_digest(told) else ""


def _media(answer: Answer) -> str:
    return answer.headers.get("content-type", "").partition(";")[0].strip().lower()


def _expected(reference: Reference, told: str) -> None:
    if told and reference.digest and told != reference.digest:
        raise BadInput(f"{reference.name}: asked for {reference.digest}, the registry answers {told}",
                       "the registry is not believed")
