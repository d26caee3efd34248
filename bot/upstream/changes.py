"""The words by which people name a change of an upstream: a commit, a pull request, of this repository or of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from bot.errors import BadInput
from bot.model.policy import CHANGE
from bot.model.upstream import Change

_WORD = re.compile(CHANGE)
Wish = Literal["must-have", "must-not-have"]


def parsed(text: str, repository: str, wanted: Wish, why: str = "") -> Change:
    """`abc1234`, `#123`, `owner/name#123` or `owner/name@abc1234` as a change; without a name it is one of `repository`."""
    if not _WORD.fullmatch(text):
        raise BadInput(f"{text[:80]!r} names no change",
                       "write a commit of 7 digits or more, #123, owner/name#123 or owner/name@commit")
    named, number, commit = _parts(text)
    return Change(repository=named or repository, commit=commit or None, pull=int(number) if number else None, wanted=wanted,
                  why=why)


def about(text: str, repository: str | None) -> bool:
    """Whether a change is one of this repository; one that names none is, and where nobody knows the repository each may be."""
    named = _parts(text)[0]
    return not named or repository is None or same(named, repository)


def same(one: str, other: str) -> bool:
    """Whether two names mean one repository: the same, or `owner/name` and the mirror of it that the layout reads."""
    one, other = one.lower(), other.lower()
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def said(text: str) -> str:
    """A change's word as a sentence may hold it on the forge, where `#123` and `owner/name@abc1234` would be links."""
    named, number, commit = _parts(text)
    return f"{f'pull request {number}' if number else commit}{f' of {named}' if named else ''}"


def wanted(must_have: Sequence[str], must_not_have: Sequence[str], repository: str | None, why: str = "") -> tuple[Change, ...]:
    """What a policy names, as changes; those of no known repository are left out, for nobody can look for them."""
    rows: list[tuple[str, Wish]] = [(text, "must-have") for text in must_have] + [(text, "must-not-have") for text in must_not_have]
    return tuple(parsed(text, repository or "", wish, why) for text, wish in rows if repository or _parts(text)[0])


def _parts(text: str) -> tuple[str, str, str]:
    """The repository, the number and the commit that a word names, each perhaps empty."""
    at = re.search(r"[#@]", text)
    if at is None:
        return "", "", text
    name, rest = text[:at.start()], text[at.end():]
    return (name, rest, "") if at[0] == "#" else (name, "", rest)
