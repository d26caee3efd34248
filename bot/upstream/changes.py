"""The words by which people name a change of an upstream: a commit, a pull request, of this repository or of another."""

from __future__ import annotations

import re
from typing import Literal

from bot.errors import BadInput
from bot.model.policy import CHANGE
from bot.model.upstream import Change

_WORD = re.compile(CHANGE)


def parsed(text: str, repository: str, wanted: Literal["must-have", "must-not-have"], why: str = "") -> Change:
    """`abc1234`, `#123`, `owner/name#123` or `owner/name@abc1234` as a change; without a name it is one of `repository`."""
    found = _WORD.fullmatch(text)
    if found is None:
        raise BadInput(f"{text!r} names no change", "write a commit of 7 digits or more, #123, owner/name#123 or owner/name@commit")
    number = found["pull"]
    return Change(repository=found["of"] or repository, commit=found["commit"], pull=int(number) if number else None,
                  wanted=wanted, why=why)


def about(text: str, repository: str | None) -> bool:
    """Whether a change is one of this repository; one that names none is, and where nobody knows the repository each may be."""
    found = _WORD.fullmatch(text)
    named = found["of"] if found else None
    return not named or repository is None or named.lower() == repository.lower()
