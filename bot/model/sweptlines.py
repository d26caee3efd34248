"""Pieces of the page of a run whose results were collected. Numbers are unrounded."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.lines import Cell
from bot.model.result import Score

State = Literal["written", "there", "part", "refused", "unwritten"]


class PointLine(Struct, frozen=True, kw_only=True):
    """One throughput point: its values, the requests of its measured phase that failed (None: nobody counted), whether the image
    was proven to have run (a word of the glossary, `proof-`)."""

    recipe: str
    concurrency: int
    cells: tuple[Cell, ...]
    failed: int | None = None
    of: int | None = None
    proof: str | None = None


class GateLine(Struct, frozen=True, kw_only=True):
    """One eval against its threshold."""

    score: Score
    proof: str | None = None


class Curve(Struct, frozen=True, kw_only=True):
    """One metric over the concurrencies of a recipe, lowest first."""

    recipe: str
    metric: str
    points: tuple[tuple[int, float], ...]


class RecipeLine(Struct, frozen=True, kw_only=True):
    """What became of a recipe's results: `written` to the ledger now, `there` already, only a `part` of its points (nobody's
    baseline), `refused`, or `unwritten` because the ledger did not take them."""

    recipe: str
    state: State
    jobs: int
    good: int


class FaultLine(Struct, frozen=True, kw_only=True):
    """Why a job's results do not count, as a word of the glossary (`refused-`); an artifact that is no job's has no job."""

    job: str
    why: str
