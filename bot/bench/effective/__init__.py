"""Requested against effective: what the server was asked for, beside what it says came of it."""

from bot.bench.effective.check import check
from bot.bench.effective.table import Known, load

__all__ = ["Known", "check", "load"]
