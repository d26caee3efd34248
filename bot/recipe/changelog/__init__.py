"""The append-only changelog of a repository: an entry appended, a file checked in bytes, a branch's entries carried over."""

from bot.recipe.changelog.append import Entry, append, barred, gap, state, sync, text_of, unfit
from bot.recipe.changelog.check import check

__all__ = ["Entry", "append", "barred", "check", "gap", "state", "sync", "text_of", "unfit"]
