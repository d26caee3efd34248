"""Pieces of what people read before a GPU is asked for: upstream's commits, checks, open questions, hints, siblings, pins."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.finding import Check, Who
from bot.model.text import Text
from bot.model.upstream import Doubt

State = Literal["holds", "stop", "repair-first", "ask", "note", "unknown"]


class TouchLine(Struct, frozen=True, kw_only=True):
    """A commit that touches what the recipe uses, and the words of the recipe that it touches. Its title is somebody else's text,
    which the forge's page never shows; `title` is for a terminal alone."""

    sha: str
    url: str
    date: str
    pull: int | None
    words: tuple[str, ...]
    title: str = ""


class CompareLine(Struct, frozen=True, kw_only=True):
    """What lies between two commits. `touching` are the first of those that concern the recipe, `more` how many others do;
    `doubts` keep the comparison from being whole."""

    repository: str
    base: str
    head: str
    merge_base: str | None
    ahead: int | None
    behind: int | None
    url: str = ""
    touching: tuple[TouchLine, ...] = ()
    more: int = 0
    doubts: tuple[Doubt, ...] = ()


class CheckLine(Struct, frozen=True, kw_only=True):
    """One finding of a check, or that it found nothing, or why it could not look. `class_` is a word of the glossary; `what` the
    finding's own words; `repair` what the bot does about it by itself; `release` what must change before it is tried again;
    `holds` what waits while it stands unanswered."""

    check: Check
    state: State
    class_: str | None = None
    what: Text | None = None
    evidence: str = ""
    where: str = ""
    next: Text | None = None
    who: Who | None = None
    repair: str | None = None
    release: Text | None = None
    holds: Literal["smoke", "sweep"] | None = None

    @property
    def plain(self) -> bool:
        """Whether there is nothing to say but that it holds."""
        return self.state == "holds" and self.what is None


class HintLine(Struct, frozen=True, kw_only=True):
    """A release hint and its answer: `how` the tag that was taken stands to it, a word of the glossary, and `why`."""

    what: str
    by: str
    answer: str
    how: str
    beside: str
    why: str = ""


class SiblingLine(Struct, frozen=True, kw_only=True):
    """A recipe that runs the candidate already."""

    recipe: str
    same: Literal["digest", "tag"]
    hardware: str
    since: str | None
    pins: tuple[str, ...] = ()
    evals: tuple[Text, ...] = ()


class CarriedLine(Struct, frozen=True, kw_only=True):
    """A carried patch: the upstream changes that it stands for, and whether the candidate holds them all (None: unknown)."""

    at: str
    changes: tuple[str, ...]
    holds: bool | None
