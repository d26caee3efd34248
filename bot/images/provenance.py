"""Which commit an image was built from and how we know, and whether its tag was moved after somebody measured it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Literal

from msgspec.structs import replace

from bot.errors import BadInput
from bot.images.tags import Scheme, fields
from bot.model.image import Resolved

REVISION = "org.opencontainers.image.revision"
VERSION = "org.opencontainers.image.version"
# Whose labels an image keeps that was built on it and says nothing of its own: their version is the system's.
_BASE = "org.opencontainers.image.ref.name"
_SYSTEMS = frozenset({"ubuntu", "debian", "alpine", "ubi", "rhel", "centos", "fedora", "rockylinux", "almalinux"})
_HASH = re.compile(r"[0-9a-f]{7,64}")


def commit_of(image: Resolved, schemes: Iterable[Scheme]) -> tuple[str | None, Literal["label", "tag", "none"]]:
    """The commit as the image's label states it, else as its tag does, else None. A label is the builder's word, a tag
    anybody's who may push; neither is proof, which is what the server reports when it runs."""
    label = image.labels.get(REVISION, "").strip().lower()
    if _HASH.fullmatch(label):
        return label, "label"
    commit = fields(image.reference.tag, schemes).fields.get("commit") if image.reference.tag else None
    return (str(commit), "tag") if commit else (None, "none")


def settle(image: Resolved, schemes: Iterable[Scheme]) -> Resolved:
    """The image with its commit and provenance filled in."""
    commit, source = commit_of(image, schemes)
    return replace(image, facts=replace(image.facts, commit=commit), provenance=source)


def contradiction(image: Resolved, schemes: Iterable[Scheme]) -> str | None:
    """What label and tag, or the tag's day and the time of creation, say against each other; None when they agree.

    A nightly is built within two days of the day in its tag; a tag that names another day was retagged or mistyped.
    """
    told = fields(image.reference.tag, schemes).fields if image.reference.tag else {}
    label, tagged = image.labels.get(REVISION, "").strip().lower(), str(told.get("commit", ""))
    if tagged and _HASH.fullmatch(label) and not label.startswith(tagged) and not tagged.startswith(label):
        return f"the tag says commit {tagged}, the label says {label}"
    return other_day(told, image.created)


def other_version(image: Resolved, schemes: Iterable[Scheme]) -> str | None:
    """What the image's label says of its version against the tag; None when they agree or one of them says nothing.

    A release pushed under another release's tag was deployed by everybody who followed that tag. A label may say less than
    the tag, or more (`1.4` and `1.4.2`), and one that came with the base system tells of that system.
    """
    schemes = tuple(schemes)
    if image.reference.tag is None or image.labels.get(_BASE, "").strip().lower() in _SYSTEMS:
        return None
    label = image.labels.get(VERSION, "").strip().partition("+")[0]
    tagged, told = (str(fields(text, schemes).fields.get("version", "")) for text in (image.reference.tag, label))
    if not tagged or not told:
        return None
    alike = all(int(one) == int(other) for one, other in zip(tagged.split("."), told.split("."), strict=False))
    return None if alike else f"the tag says version {tagged}, the label says {told}"


def other_day(told: Mapping[str, str | int], created: datetime | None) -> str | None:
    """What a tag's own day says against the time of creation; None when they agree or one of them is not known."""
    day = str(told.get("date", "--"))
    if created is None or day.startswith("--"):
        return None
    made = created.date()
    apart = abs((made - date.fromisoformat(day)).days)
    return f"the tag says {day}, the image was created on {made.isoformat()}" if apart > 2 else None


def repushed(image: Resolved, measured: str | date) -> datetime | None:
    """When the tag was pushed after the day it was measured (ISO date), else None: the bytes measured then cannot be
    verified any more. A push on the day itself may have come before the measurement and is not held against it."""
    try:
        day = measured if isinstance(measured, date) else date.fromisoformat(measured[:10])
    except ValueError:
        raise BadInput(f"{measured!r} is not a date", "write YYYY-MM-DD") from None
    return image.pushed if image.pushed is not None and image.pushed.date() > day else None
