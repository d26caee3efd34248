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
    if version == tag or version.removeprefix("v") == stated(image):
        return True
    commit = _COMMIT.search(version)
    in_tag = re.search(r"(?<![0-9a-f])([0-9a-f]{7,40})(?![0-9a-f])", tag)
    if commit and in_tag:
        return in_tag[1].startswith(commit[1]) or commit[1].startswith(in_tag[1])
    return False if stated(image) else None


def moved(version: str, old: str, new: str) -> str | None:
    """The version to write for the new image, in the form in which it stands: what the tag states, with or without its `v`, or
    the tag itself.

    None when it cannot be told from the texts (a nightly's own version is known to the image alone).
    """
    for form in (stated, lambda image: f"v{stated(image)}", tag_of):
        if form(old) == version:
            return form(new) if form is tag_of or stated(new) else None
    return stated(new)


def is_of(engine: str, *names: str) -> bool:
    """Whether an engine (`tensorrt_llm`) is the one that these name: an image's repository, the address of its source."""
    word = _letters(engine)
    return any(word in _letters(name) for name in names)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
