"""The engine's version that an image's tag states, and whether a written version follows an image."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+\.\d+(?:\.\d+)*(?:(?:rc|a|b)\d+)?(?:\.(?:post|dev)\d+)*)(?=$|[-_+@])")
_COMMIT = re.compile(r"\+g([0-9a-f]{7,40})")


def tag_of(image: str) -> str:
    """The tag in an image's text, "" when it has none."""
    name = image.split("@", 1)[0].rsplit("/", 1)[-1]
    return name.partition(":")[2]


def stated(image: str) -> str | None:
    """The version its tag leads with (`v0.20.0-ubuntu2404` states 0.20.0); None for nightly, commit and custom tags."""
    found = _VERSION.match(tag_of(image))
    return found[1] if found else None


def follows(version: str, image: str) -> bool | None:
    """Whether a written version belongs to this image; None when the tag cannot tell."""
    tag = tag_of(image)
    if version in (tag, stated(image)):
        return True
    commit = _COMMIT.search(version)
    in_tag = re.search(r"(?<![0-9a-f])([0-9a-f]{7,40})(?![0-9a-f])", tag)
    if commit and in_tag:
        return in_tag[1].startswith(commit[1]) or commit[1].startswith(in_tag[1])
    return False if stated(image) else None


def moved(version: str, old: str, new: str) -> str | None:
    """The version to write for the new image: what its tag states, or the tag itself where the tag stood before.

    None when neither can be told from the texts (a nightly's own version is known to the image alone).
    """
    return stated(new) or (tag_of(new) or None if version == tag_of(old) else None)
