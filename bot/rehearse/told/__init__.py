"""Ports over facts that somebody told: histories, files and wheels of upstreams. A scenario's words and a test's."""

from bot.rehearse.told.history import CommitTold, HistoryTold, TreeTold, UpstreamTold
from bot.rehearse.told.upstreams import CommitsTold, UpstreamsTold

__all__ = ["CommitTold", "CommitsTold", "HistoryTold", "TreeTold", "UpstreamTold", "UpstreamsTold"]
