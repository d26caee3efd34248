"""A registry in memory: images by their text, each with the little that a plan asks of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from bot.errors import BumpbotError, Missing
from bot.images import reference
from bot.model.image import Held, ImageFacts, Platform, Reference, Resolved

REVISION = "org.opencontainers.image.revision"


class ImageTold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One image. `commit` is what its label says, `created` a day; the digest follows from the text where none is told."""

    created: str = "2026-09-01"
    commit: str | None = None
    digest: str | None = None
    platforms: tuple[str, ...] = ("amd64", "arm64")
    cuda: str | None = None
    rocm: str | None = None
    arch_list: str | None = None


class ImagesHere:
    """Satisfies Registry."""

    def __init__(self, told: Mapping[str, ImageTold]) -> None:
        self._told = {(parsed := reference.parse(text)).name + ":" + (parsed.tag or ""): one for text, one in told.items()}

    def resolve(self, wanted: Reference) -> Resolved:
        one, digest = self._one(wanted), self.digest(wanted)
        platforms = tuple(Platform(os="linux", architecture=name, digest=_digest(f"{digest} {name}"), size=1) for name in one.platforms)
        return Resolved(reference=wanted, kind="index" if len(platforms) > 1 else "manifest", digest=digest, platforms=platforms,
                        created=datetime.fromisoformat(one.created).replace(tzinfo=UTC),
                        labels={REVISION: one.commit} if one.commit else {},
                        facts=ImageFacts(cuda=one.cuda, rocm=one.rocm, arch_list=one.arch_list, commit=one.commit))

    def digest(self, wanted: Reference) -> str:
        return self._one(wanted).digest or _digest(f"{wanted.name}:{wanted.tag}")

    def tags(self, wanted: Reference) -> Sequence[str]:
        return [name.rpartition(":")[2] for name in self._told if name.rpartition(":")[0] == wanted.name]

    def listings(self, wanted: Sequence[Reference]) -> Mapping[str, Sequence[str] | BumpbotError]:
        return {one.name: self.tags(one) for one in wanted}

    def held(self, wanted: Sequence[Reference]) -> Mapping[str, Held | BumpbotError]:
        return {one.text: Held(digest=self.digest(one), kind="index", platforms=None) for one in wanted}

    def _one(self, wanted: Reference) -> ImageTold:
        found = self._told.get(f"{wanted.name}:{wanted.tag}")
        if found is None:
            raise Missing(f"manifest unknown: {wanted.text}", "correct the tag")
        return found


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
