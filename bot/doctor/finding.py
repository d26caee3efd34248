"""What a check answers: its state, what was seen, and how to mend it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.settings import Unseen

State = Literal["good", "wrong", "unknown", "not needed"]


class Told(Struct, frozen=True, kw_only=True):
    """`mend` says what to do and `at` on which page or with which command; both are empty where nothing is to do."""

    state: State
    seen: str
    mend: str = ""
    at: str = ""


class Finding(Told, frozen=True, kw_only=True):
    check: str
    title: str


def good(seen: str) -> Told:
    """As it should be."""
    return Told(state="good", seen=seen)


def wrong(seen: str, mend: str, at: str = "") -> Told:
    """Set so that the bot stops or somebody can misuse it."""
    return Told(state="wrong", seen=seen, mend=mend, at=at)


def unneeded(seen: str) -> Told:
    """A question that this repository does not raise."""
    return Told(state="not needed", seen=seen)


def unknown(seen: str, mend: str = "", at: str = "") -> Told:
    """Not to be told from here."""
    return Told(state="unknown", seen=seen, mend=mend, at=at)


def hidden(what: str, unseen: Unseen, at: str = "", *, known: str = "") -> Told:
    """The token may not look: which permission would show it, and where a person can look instead. `what` goes on after
    "not shown", as a thing or as "whether ..."; `known` is what was seen all the same."""
    return unknown(f"{known}{'; ' if known else ''}this token is not shown {what} ({unseen.why})",
                   f"{unseen.needs} would show it" + ("; or look yourself" if at else ""), at)
