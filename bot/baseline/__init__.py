"""Which published points a candidate is compared with, and what cannot be verified about them."""

from __future__ import annotations

from bot.baseline.control import same_day
from bot.baseline.findings import findings
from bot.baseline.freeze import freeze
from bot.baseline.identity import question
from bot.baseline.join import join
from bot.baseline.match import Match, match
from bot.baseline.median import medians

__all__ = ["Match", "findings", "freeze", "join", "match", "medians", "question", "same_day"]
