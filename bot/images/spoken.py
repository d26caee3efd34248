"""What an engine says of itself, read: its version as PEP 440 orders it, and the commit in the version's local part.

`0.26.1.dev22+g75c2eef75` is 22 commits behind 0.26.0 at 75c2eef75; `0.27.1+rocm721` is the release, built for ROCm;
`1.3.0-rc.18` is 1.3.0rc18. A development version without a commit may be any of a week's nightlies.
"""

from __future__ import annotations

import re

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from bot.model.result import Reported

_COMMIT = re.compile(r"g([0-9a-f]{7,40})|((?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,40})")
_BARE = re.compile(r"[0-9a-f]{7,64}")
_LONGEST = 120
PARTS = 3
"""A tag with fewer numbers (`vllm0.26`) names every release that begins so."""


class Spoken(Struct, frozen=True, kw_only=True):
    """A report read: `version` without its local part."""

    engine: str
    version: Version | None = None
    commit: str | None = None


def spoken(said: Reported) -> Spoken | None:
    """None where the text is neither a version nor a commit."""
    text = said.value.strip().lower()
    if said.kind == "commit":
        return Spoken(engine=said.engine, commit=text) if _BARE.fullmatch(text) else None
    version = version_of(text)
    if version is None:
        return None
    return Spoken(engine=said.engine, version=Version(version.public), commit=_local_commit(version.local or ""))


def version_of(text: str) -> Version | None:
    """A version in any of PEP 440's spellings, a leading `v` left out."""
    if len(text) > _LONGEST:
        return None
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _local_commit(local: str) -> str | None:
    for segment in local.split("."):
        found = _COMMIT.fullmatch(segment)
        if found:
            return found[1] or found[2]
    return None


def commits_agree(one: str, other: str) -> bool:
    """Whether two commits, either of them short, may be the same."""
    one, other = one.lower(), other.lower()
    return one.startswith(other) or other.startswith(one)


def fits(said: Version, tagged: Version) -> bool:
    """Whether an engine's version is the one that a tag names: 0.29.0 is v0.29.0, and 0.26.1 is `vllm0.26`."""
    if said == tagged:
        return True
    short = len(tagged.release) < PARTS and tagged == Version(tagged.base_version)
    return short and not said.is_prerelease and said.release[: len(tagged.release)] == tagged.release
