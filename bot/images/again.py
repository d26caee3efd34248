"""The recipe's own tag, pushed again: the same name over other bytes. Whether those may follow the ones that run."""

from __future__ import annotations

from datetime import datetime

from bot.images.offers import Current, Fault, Offer, fault, looks
from bot.images.policy import Policy, off_channel
from bot.images.sights import first_seen, retold
from bot.images.tags import TagFields


def moved_on(own: Offer | None, current: Current) -> bool:
    """Whether the recipe's tag holds another digest than the recipe runs, as far as digests tell."""
    return own is not None and None not in (own.digest, current.runs) and own.digest != current.runs


def not_taken(own: Offer, current: Current, policy: Policy, tag: TagFields, now: datetime) -> Fault | None:
    """Why the bytes that the tag holds now do not follow the ones that run; None when they may. Forward is what we first
    saw later: a tag that was set back to bytes seen earlier holds an older image."""
    if found := fault(own, current, policy, now):
        return found
    if (why := off_channel(tag, tag, policy.channel)) is not None:
        return Fault(reason=why)
    if not policy.pin:
        return Fault(reason="the fleet takes no digest, so the recipe names these bytes already and none other")
    sights = looks(own, now)
    ran, holds = first_seen(sights, current.runs or ""), first_seen(sights, own.digest or "")
    if ran is None or holds is None:
        say = f"whether {own.digest}, which {own.tag} holds now, came after {current.runs}, which the recipe runs, is not known"
        return Fault(reason=say, unknown=say)
    if holds <= ran:
        return Fault(reason=f"{own.tag} was set back to {own.digest}, which we saw before the bytes that run")
    return None


def sentence(own: Offer | None, current: Current, now: datetime) -> str | None:
    """What is told of the recipe's tag when we saw it move. A pinned recipe's baseline ran the bytes that it names."""
    if own is None:
        return None
    return retold(own.tag, looks(own, now), None if current.reference.digest else current.measured)
