"""What the ledger at --repo remembers of images and recipes, where there is one."""

from __future__ import annotations

from contextlib import ExitStack
from random import SystemRandom

from bot.adapters.clock import SystemClock
from bot.cli.layouts import is_repository
from bot.cli.output import note
from bot.cli.place import Place
from bot.cli.remote import opened
from bot.errors import BumpbotError
from bot.ledger import Ledger
from bot.model.ledger import Snapshot


def ledger_of(place: Place, stack: ExitStack) -> tuple[Ledger, Snapshot] | None:
    """The ledger and its tip; None without a repository, or one that has none. A ledger that cannot be read is told on stderr:
    what the registry answers is worth showing without it."""
    if not is_repository(place.repo):
        return None
    try:
        ledger = Ledger(opened(str(place.repo.absolute()), stack), clock=SystemClock(), random=SystemRandom())
        tip = ledger.tip()
    except BumpbotError as error:
        note(f"the ledger was not asked what it has seen: {error}")
        return None
    return (ledger, tip) if tip.oid else None
