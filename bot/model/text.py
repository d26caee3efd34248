"""A sentence a person reads, in both languages."""

from __future__ import annotations

from msgspec import Struct


class Text(Struct, frozen=True):
    en: str
    zh: str
