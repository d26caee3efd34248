"""Whether two texts name one image, as far as texts can tell."""

from __future__ import annotations

from typing import Literal

from bot.errors import BadInput
from bot.images.reference import parse
from bot.model.image import Reference

Alike = Literal["digest", "tag"]


def alike(one: str, other: str) -> Alike | None:
    """By what two texts name one image: `digest` where both have the same, wherever it is kept; `tag` where one of them lacks
    a digest and registry, repository and tag are the same. None where they do not, or where one is no reference."""
    try:
        return like(parse(one), parse(other))
    except BadInput:
        return None


def like(one: Reference, other: Reference) -> Alike | None:
    """The same of two references."""
    if one.digest and other.digest:
        return "digest" if one.digest == other.digest else None
    return "tag" if one.tag and one.tag == other.tag and one.name == other.name else None
