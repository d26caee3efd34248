"""The nouns for what planning finds before a GPU is asked for (CONTRACTS section 2, finding)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.text import Text

Check = Literal["identity", "roster", "runners", "staging", "mergeable", "history", "imports", "options", "arch", "contains",
                "certify", "names", "parity", "capacity", "overlap"]
Act = Literal["stop", "repair-first", "ask", "note"]
Who = Literal["bot", "maintainer", "upstream", "operator"]


class Release(Struct, frozen=True, kw_only=True):
    """A blocker's condition, re-checked before a retry: `of` is the check that must not find `subject` again (`staging`:
    `h200-dgxc lmsysorg/sglang:v0.5.19-cu130`)."""

    of: Check
    subject: str
    says: Text


class PlanFinding(Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """One fact that speaks against going on, or that somebody must know. `class_` is a word of the classes of failures or
    None, `evidence` what was seen, `where` the place that says so, `next` what to do about it.

    `what` is the finding in words for people, `repair` the known repair that the bot can make by itself before the first smoke (an
    id of knowledge/repairs.yaml), `release` what must change before the same candidate is worth another try.
    """

    check: Check
    class_: str | None
    action: Act
    evidence: str
    where: str
    next: Text
    who: Who
    what: Text | None = None
    repair: str | None = None
    release: Release | None = None


class Checked(Struct, frozen=True, kw_only=True):
    """One check as it was made: what it found, what it looked at in words, or why it could not look (then nothing is known).
    `held` are subjects of releases that were looked at and are right, also where something else could not be."""

    check: Check
    findings: tuple[PlanFinding, ...] = ()
    about: Text | None = None
    unknown: Text | None = None
    held: tuple[str, ...] = ()
