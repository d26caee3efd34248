"""Every result format of the field into the same rows: `collect` says what an attempt's files hold."""

from __future__ import annotations

from bot.results.collect import PARSERS, Collected, Skipped, claim, collect
from bot.results.metrics import Metric, Metrics
from bot.results.metrics import parse as load_metrics

__all__ = ["PARSERS", "Collected", "Metric", "Metrics", "Skipped", "claim", "collect", "load_metrics"]
