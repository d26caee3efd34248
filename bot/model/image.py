"""Nouns for container images. A Reference is only made by `images.reference.parse`, so one that exists is valid."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.model.policy import Answered


class Reference(Struct, frozen=True, kw_only=True):
    """The text that names an image, taken apart; `text` is what stood in the file, byte for byte.

    `style` is "enroot" when the registry is followed by `#` (launchers look the raw string up, so it must survive).
    """

    text: str
    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None
    style: Literal["docker", "enroot"] = "docker"

    @property
    def name(self) -> str:
        """`registry/repository`, the form allow-lists use."""
        return f"{self.registry}/{self.repository}"

    def __str__(self) -> str:
        return self.text


class Platform(Struct, frozen=True, kw_only=True):
    os: str
    architecture: str
    digest: str
    size: int


class Held(Struct, frozen=True, kw_only=True):
    """What a tag or digest names now, by one question: enough for a scan. `platforms` as the index lists them; None where
    the registry answered without a body."""

    digest: str
    kind: Literal["index", "manifest"]
    platforms: tuple[Platform, ...] | None
    identity: str = "anonymous"


class Sight(Struct, frozen=True, kw_only=True):
    """A digest first seen under a tag, and when by our own clock."""

    digest: str
    at: datetime


class Look(Struct, frozen=True, kw_only=True):
    """That a tag held a digest at a moment of our own clock: what the first-seen ledger is told."""

    reference: Reference
    digest: str
    at: datetime


class ImageFacts(Struct, frozen=True, kw_only=True):
    """What an image says of itself, from labels and environment; None is not known."""

    cuda: str | None = None
    rocm: str | None = None
    arch_list: str | None = None
    commit: str | None = None


class Resolved(Struct, frozen=True, kw_only=True):
    """One reference as the registry holds it now. Sizes in bytes; `identity` is who we were to the registry."""

    reference: Reference
    kind: Literal["index", "manifest"]
    digest: str
    platforms: tuple[Platform, ...]
    created: datetime | None = None
    labels: dict[str, str] = {}
    facts: ImageFacts = ImageFacts()
    provenance: Literal["label", "tag", "none"] = "none"
    identity: str = "anonymous"
    first_seen: datetime | None = None
    pushed: datetime | None = None


class Candidate(Struct, frozen=True, kw_only=True):
    """A resolved reference proposed in place of the current one, and why. `repushed`: when the current tag was pushed after
    its baseline was measured; `was`: what it held before, where we saw it ourselves; `hints`: the answers to release hints."""

    old: Resolved
    new: Resolved
    text: str
    reasons: tuple[str, ...] = ()
    repushed: datetime | None = None
    was: Sight | None = None
    hints: tuple[Answered, ...] = ()
