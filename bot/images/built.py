"""Which commit of its engine each published tag was built from, as far as names tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.images.policy import kind_of
from bot.images.schemes import Scheme
from bot.images.tags import TagFields, fields

_LETTERS = {"alpha": "a", "beta": "b", "rc": "rc"}


def built(tags: Sequence[str], schemes: Iterable[Scheme], git_tags: Mapping[str, str]) -> tuple[tuple[str, str | None], ...]:
    """Each image tag with its commit: the one in its name, or that of the repository's tag of its version. None where the name
    says neither; a dated build of a version is none of its release."""
    known = tuple(schemes)
    return tuple((tag, commit_of(fields(tag, known), git_tags)) for tag in tags)


def commit_of(tag: TagFields, git_tags: Mapping[str, str]) -> str | None:
    """The commit that one tag names, short as it may stand there."""
    told = tag.fields
    if commit := told.get("commit"):
        return str(commit)
    if kind_of(tag) not in ("release", "candidate") or told.keys() & {"date", "build", "channel"}:
        return None
    return next((git_tags[name] for name in _names(told) if name in git_tags), None)


def _names(told: Mapping[str, str | int]) -> Sequence[str]:
    """How repositories spell a version: `v0.5.12.post1`, `0.8.1`, `v1.3.0rc18`, `v1.3.0-rc18`."""
    version, post = str(told.get("version")), f".post{told['post']}" if "post" in told else ""
    early = next(((word, str(told[name])) for name, word in _LETTERS.items() if name in told), None)
    ends = [form.format(*early) for form in ("{}{}", "-{}{}", "-{}.{}", ".{}{}")] if early else [""]
    return [f"{start}{version}{end}{post}" for end in ends for start in ("v", "")]
