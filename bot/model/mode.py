"""How far the bot may go, as an operator says it."""

from __future__ import annotations

from typing import Literal

Mode = Literal["off", "observe", "propose", "act"]
