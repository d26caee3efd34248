"""What rendering needs to know of a metric; `results.metrics.Metric` satisfies it, and rendering imports none of it."""

from __future__ import annotations

from typing import Literal, Protocol

from bot.model.text import Text

ARROWS = {"up": " ↑", "down": " ↓", "none": ""}
STATS = {"p50": "median", "mean": "mean", "p90": "p90", "p99": "p99"}


class Column(Protocol):
    @property
    def unit(self) -> str: ...

    @property
    def decimals(self) -> int: ...

    @property
    def brief(self) -> int | None: ...

    @property
    def stat(self) -> str | None: ...

    @property
    def direction(self) -> Literal["up", "down", "none"]: ...

    @property
    def delta(self) -> Literal["ratio", "difference", "points"]: ...

    @property
    def name(self) -> Text: ...
