"""Slash commands as they were found in comments: who asked for what, and whether it may be obeyed."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

Word = Literal["status", "stop", "smoke", "sweep", "retry", "help"]
# Why an order is not obeyed; each is answered in its own words.
Objection = Literal["no-permission", "unknown-word", "extra-words", "edited", "old"]


class Order(Struct, frozen=True, kw_only=True):
    """One comment that gives a command. `word` None: it names none that is known (`said` is what stood there, cut to the
    letters a command may have). `objection` None: it may be obeyed; the permission was asked from the forge for it."""

    comment: int
    by: str
    at: datetime
    word: Word | None
    said: str = ""
    objection: Objection | None = None
