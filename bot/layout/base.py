"""What every record of a layout file shares: kebab-case keys, nothing unknown, and the plain types."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """One mapping of the layout file. Keys are written with hyphens; every field has a default where a preset may fill it."""
