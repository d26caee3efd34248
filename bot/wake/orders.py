"""Finds the slash commands in a pull request's comments, and asks the forge whether whoever wrote one may give it.

Looked for at every wake, since events are dropped, doubled and late. The author is the comment's, never an event's actor:
who runs a workflow again gives no command (SECURITY.md 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache

from bot import commands
from bot import ledger as chains
from bot.decide.asked import remembered
from bot.decide.orders import slot
from bot.errors import Missing
from bot.model.bump import Bump
from bot.model.event import Commented, Event
from bot.model.forge import Comment, Permission, Pull
from bot.model.ledger import OpenBumps, Snapshot
from bot.model.order import Objection, Order
from bot.wake.context import Context

# A command that is seen later than this is not obeyed; after a week nobody waits for an answer to it either.
FRESH, FORGOTTEN = timedelta(hours=24), timedelta(days=7)


def orders(context: Context, bump: Bump, pull: Pull | None, *, since: datetime) -> tuple[Order, ...]:
    """The commands on the pull request since the bump's beginning, oldest first. `bump` holds the world of the last look that
    was kept: what was settled then stays as it was, so that nobody is asked about twice and no later edit commands anything."""
    if pull is None:
        return ()
    seen = {order.comment: order for order in bump.world.orders}

    @cache
    def permission(login: str) -> Permission:
        return context.forge.permission(login)

    found = (_order(bump, comment, seen.get(comment.id), permission) for comment in _of_people(context, pull, since))
    return tuple(order for order in found if order is not None)


def _of_people(context: Context, pull: Pull, since: datetime) -> Iterator[Comment]:
    """Comments that may command, oldest first: none of ours, of another bot, of a deleted account, or from before the bump."""
    nobody = ("", context.forge.me().casefold())
    for comment in sorted(context.forge.comments(pull.number, since), key=lambda comment: comment.id):
        if not comment.bot and comment.author.casefold() not in nobody and comment.created >= since:
            yield comment


def _order(bump: Bump, comment: Comment, seen: Order | None, permission: Callable[[str], Permission]) -> Order | None:
    if seen is not None and (seen.objection or bump.told(slot(seen)) or remembered(bump.memory, seen)):
        return seen
    spoken, age = commands.parse(comment.body), bump.now - comment.created
    if spoken is None or (seen is None and age > FORGOTTEN):
        return None
    late: Objection | None = "old" if seen is None and age > FRESH else spoken.objection
    objection: Objection | None = "edited" if comment.updated != comment.created else late
    # Asked first, for only whoever may command is told why a command was not obeyed.
    if not commands.may(permission(comment.author), commands.COMMANDS.get(spoken.word) if spoken.word else None):
        objection = "no-permission"
    return Order(comment=comment.id, by=comment.author, at=comment.created, word=spoken.word, said=spoken.said,
                 objection=objection)


def ended(context: Context, snapshot: Snapshot, event: Event) -> tuple[str, ...]:
    """Bumps that have ended and are looked at nevertheless: the one whose pull request was commented on, and any that is
    being opened again by a wake which did not come to its end. Nobody looks at the others: they are many, and for good."""
    over = {bump for _, bump in context.ledger.ended_bumps(snapshot)} - set(context.ledger.open_bumps(snapshot))
    known = context.ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps)
    found = {bump for bump in (known.bumps if known else ()) if bump in over}
    if isinstance(event, Commented) and over:
        try:
            branch = context.forge.pull(event.pull).branch
        except Missing:
            branch = ""
        found |= {branch.removeprefix(context.layout.branch)} & over
    return tuple(sorted(found))
