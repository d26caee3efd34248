"""Where the readers of a recipe put what they find."""

from __future__ import annotations

from msgspec import Struct, field

from bot.model.uses import Carried, Pin, Used


class Found(Struct, kw_only=True):
    """Everything of one family, in the order in which it is read."""

    options: list[Used] = field(default_factory=list)
    environment: list[Used] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
