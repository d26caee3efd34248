"""What one bump's finding is to the next: a fact with the range it holds for, and what must change before it does not."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from bot.model.finding import Check, Release
from bot.model.outcome import Outcome


class Lesson(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """`memory/<bump>/<n>.json`, written once. What was seen of one candidate: `signature` as the logs or a check gave it, the
    `repair` tried and whether it `helped` (None: nothing ran after it). `commit` and `pins` (name -> version or commit) are the
    engine's and the coupled parts' as they stood, `asked` a sum of what the recipe asked of them. `release`: a blocker, and what
    must be seen before the same candidate is tried again."""

    version: int = 1
    bump: str
    recipes: tuple[str, ...]
    at: datetime
    engine: str
    image: str
    digest: str | None = None
    was: str | None = None
    commit: str | None = None
    pins: dict[str, str] = {}
    asked: str = ""
    hardware: str = ""
    check: Check | None = None
    class_: str | None = None
    signature: str | None = None
    evidence: str = ""
    repair: str | None = None
    helped: bool | None = None
    outcome: Outcome | None = None
    release: Release | None = None
