"""The noun for what planning finds before a GPU is asked for (CONTRACTS section 2, finding)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.text import Text

Check = Literal["identity", "roster", "runners", "staging", "mergeable", "history", "imports", "options", "arch", "contains",
                "certify", "names", "parity", "capacity", "overlap"]


class PlanFinding(Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """One fact that speaks against going on, or that somebody must know. `class_` is a word of the classes of failures or
    None, `evidence` what was seen, `where` the place that says so, `next` what to do about it."""

    check: Check
    class_: str | None
    action: Literal["stop", "repair-first", "ask", "note"]
    evidence: str
    where: str
    next: Text
    who: Literal["bot", "maintainer", "upstream", "operator"]
