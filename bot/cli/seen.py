"""What the ledger at --repo has seen of an image's tag, where there is one."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from random import SystemRandom

from bot.adapters.clock import SystemClock
from bot.cli.layouts import is_repository
from bot.cli.ledger import opened
from bot.cli.output import note
from bot.cli.place import Place
from bot.errors import BumpbotError
from bot.images.sights import first_seen
from bot.ledger import Ledger
from bot.model.image import Resolved
from bot.wake import sights


def first(place: Place, image: Resolved) -> datetime | None:
    """When a wake first saw this digest under this tag. A ledger that cannot be read is told on stderr: what the registry
    answered is worth showing without it."""
    if not is_repository(place.repo):
        return None
    with ExitStack() as stack:
        ledger = Ledger(opened(str(place.repo.absolute()), stack), clock=SystemClock(), random=SystemRandom())
        try:
            return first_seen(sights.seen(ledger, ledger.tip(), image.reference), image.digest)
        except BumpbotError as error:
            note(f"the ledger was not asked when we first saw it: {error}")
            return None
