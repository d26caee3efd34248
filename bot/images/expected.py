"""What an image would say of itself when it runs, as far as its reference, its labels and the registry tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from packaging.version import Version

from bot.errors import BadInput
from bot.images.reference import parse
from bot.images.spoken import version_of
from bot.images.tags import Scheme, fields
from bot.model.image import Reference, Resolved

_MARKS = (("alpha", "a"), ("beta", "b"), ("rc", "rc"), ("post", ".post"), ("dev", ".dev"))
_BETWEEN = re.compile(r"[/:@#+_]+")


class Told(Struct, frozen=True, kw_only=True):
    """An image's identity. `engine` is whose version its tag names (empty: not known); `tagged`: the commit stands in the
    tag, where a label's may be a base image's; `pinned`: the recipe names it by its digest."""

    reference: Reference
    digests: frozenset[str]
    engine: str = ""
    version: Version | None = None
    commit: str | None = None
    tagged: bool = False
    pinned: bool = False

    @property
    def words(self) -> str:
        """What a server would have said, as people write it."""
        if self.version is not None and not self.tagged:
            return str(self.version)
        return self.commit[:9] if self.commit else self.reference.tag or ""

    @property
    def names(self) -> tuple[str, ...]:
        """The repository as it may be spelt: launchers leave the hub's name out, and others theirs."""
        repository = self.reference.repository
        short = repository.removeprefix("library/")
        return tuple(dict.fromkeys((f"{self.reference.registry}/{repository}", repository, short)))

    def tells(self, engines: Mapping[str, Sequence[str]]) -> bool:
        """Whether a server's log could tell this image: an engine whose words are known, a tag that names what it says."""
        return self.engine in engines and (self.version is not None or self.commit is not None)


def told(image: Resolved, text: str, schemes: Sequence[Scheme], engines: Mapping[str, Sequence[str]]) -> Told:
    """An image's identity; `text` is the recipe's reference, which may pin a digest that the registry's answer does not name."""
    read = fields(image.reference.tag, schemes).fields if image.reference.tag else {}
    variant = str(read.get("variant", ""))
    engine = variant if variant in engines else next(
        (name for name, globs in engines.items() if any(fnmatchcase(image.reference.name, glob) for glob in globs)), "")
    pinned = image.reference.digest or text.partition("@")[2] or None
    digests = {image.digest, *(platform.digest for platform in image.platforms), *([pinned] if pinned else [])}
    tagged = str(read["commit"]) if read.get("commit") else None
    return Told(reference=image.reference, digests=frozenset(digests), engine=engine, version=_version(read),
                commit=tagged or image.facts.commit, tagged=tagged is not None, pinned=pinned is not None)


def named(text: str, image: Told) -> bool:
    """Whether a text names this image; one that leaves the digest out may, one with another does not."""
    try:
        reference = parse(text)
    except BadInput:
        return False
    if reference.name != image.reference.name or (reference.tag or "") != (image.reference.tag or ""):
        return reference.name == image.reference.name and reference.digest is not None and reference.digest in image.digests
    return reference.digest is None or reference.digest in image.digests


def squashed(text: str) -> str:
    """A squash file's name in one spelling: fleets write `_` or `+` for what may not stand in a file's name."""
    return _BETWEEN.sub("_", text).lower()


def spellings(image: Told) -> frozenset[str]:
    """The names that the image's squash file may have, without the suffix."""
    tag = f":{image.reference.tag}" if image.reference.tag else ""
    ends = [tag, *(f"{start}@{digest}" for start in (tag, "") for digest in image.digests)]
    return frozenset(squashed(f"{name}{end}") for name in image.names for end in ends)


def _version(read: Mapping[str, str | int]) -> Version | None:
    if "version" not in read:
        return None
    return version_of(str(read["version"]) + "".join(f"{mark}{read[name]}" for name, mark in _MARKS if name in read))
