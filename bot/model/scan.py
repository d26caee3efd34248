"""What a scan says of one recipe: the image that stands there, read; and later which one may take its place."""

from __future__ import annotations

from msgspec import Struct

from bot.model.outcome import Disposition
from bot.model.policy import Answered


class Scanned(Struct, frozen=True, kw_only=True):
    """One recipe of a scan (CONTRACTS `scan`). `image` is the text as it stands in the file; what is not known is None, and
    `unknown` says why. `fields` are those of the tag's scheme, in canonical form; `lost` is each other tag's reason, `hints` the
    answers to release hints."""

    recipe: str
    file: str
    image: str | None = None
    registry: str | None = None
    repository: str | None = None
    tag: str | None = None
    digest: str | None = None
    scheme: str | None = None
    fields: dict[str, str | int] = {}
    candidate: str | None = None
    disposition: Disposition | None = None
    reasons: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    lost: dict[str, str] = {}
    hints: tuple[Answered, ...] = ()
