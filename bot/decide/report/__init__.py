"""Facts into records: what people read, chosen here and worded in the templates. Pure, one file a kind of comment."""

from bot.decide.report.attempt import attempt
from bot.decide.report.body import proposal
from bot.decide.report.closing import finishing, last_words, status, stop
from bot.decide.report.sweep import sweep

__all__ = ["attempt", "finishing", "last_words", "proposal", "status", "stop", "sweep"]
