"""Registries of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bot.errors import BumpbotError
from bot.model.image import Held, Reference, Resolved


class Registry(Protocol):
    def resolve(self, reference: Reference) -> Resolved:
        """What the registry holds under a reference now: digest, platforms, labels, environment facts."""
        ...

    def digest(self, reference: Reference) -> str:
        """The digest alone of what a reference names now; the cheapest question there is."""
        ...

    def tags(self, reference: Reference) -> Sequence[str]: ...

    def listings(self, references: Sequence[Reference]) -> Mapping[str, Sequence[str] | BumpbotError]:
        """All tags of each repository named, by `Reference.name`; one that fails has its error and takes no other with it."""
        ...

    def held(self, references: Sequence[Reference]) -> Mapping[str, Held | BumpbotError]:
        """What each reference names now, by `Reference.text`; errors as `listings`. Platforms are None also for a single
        manifest, which names its own only in its config: `resolve` reads that."""
        ...
