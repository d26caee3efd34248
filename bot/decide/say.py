"""When a comment is worth changing: only if what it says changed, and while waiting at most every so often."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import msgspec

from bot.decide import report
from bot.model.action import Action, OpenPull, Push, Remember, Say
from bot.model.bump import Bump, Ended, Update
from bot.model.record import Record


def digest(record: Record) -> str:
    """A short fingerprint of what a record says."""
    return hashlib.sha256(msgspec.json.encode(record, order="deterministic")).hexdigest()[:16]


def say(bump: Bump, slot: str, record: Record, *, waiting: bool = False, update: Update | None = None) -> tuple[Say, ...]:
    """The comment, if it says something new; a waiting one is held back until the last change is old enough."""
    told = bump.told(slot)
    if told is not None:
        if told.digest == digest(record):
            return ()
        if waiting and bump.now - told.at < timedelta(minutes=bump.subject.limits.update_minutes):
            return ()
    return (Say(slot=slot, record=record, update=update),)


def tomorrow(bump: Bump) -> tuple[Say, ...]:
    """The cluster's GPU-hours of this day are promised: told once, and the first wake of a new day goes on."""
    return say(bump, "status", report.status(bump, about="day-cap", by=None))


def goes_on(bump: Bump) -> tuple[Say, ...]:
    """What the bot said it waits for is there: a comment that still says so would have people press a button again."""
    return say(bump, "status", report.status(bump, about="goes-on", by=None)) if bump.told("status") else ()


def day_begins(bump: Bump) -> tuple[Say, ...]:
    """As `goes_on`, where it was a new day that was waited for: an early sweep label still waits for its smoke then."""
    told = bump.told("status")
    return goes_on(bump) if told and told.digest == digest(report.status(bump, about="day-cap", by=None)) else ()


def with_body(bump: Bump, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The pull request's body follows whatever is being done, so that its state line never lags a whole wake behind."""
    if not actions or any(isinstance(action, OpenPull) for action in actions) or bump.world.pull is None:
        return actions
    facts = (action.fact for action in actions if isinstance(action, Remember))
    ended = next((fact for fact in facts if isinstance(fact, Ended)), bump.memory.ended)
    if any(isinstance(action, Push) for action in actions):
        return actions  # the head is about to change: the next look writes the body with it
    return (*actions, *say(bump, "body", report.proposal(bump, ended=ended)))
