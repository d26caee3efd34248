"""What a person reads about a choice beside its order: age, platform, commits, pins, and what could not be known."""

from __future__ import annotations

from datetime import datetime

from bot.images.offers import Current, Offer, looks, spoken
from bot.images.policy import Policy
from bot.images.provenance import other_day
from bot.images.rank import Rank
from bot.images.sights import first_seen, retold
from bot.upstream import changes


def of_winner(offer: Offer, current: Current, policy: Policy, rank: Rank, now: datetime) -> tuple[str, ...]:
    """Why the winner holds to the policy, and what is odd about it."""
    sights, said = looks(offer, now), list[str]()
    seen = first_seen(offer.sights, offer.digest or offer.sights[-1].digest) if offer.sights else None
    if seen is not None:
        said.append(f"first seen by us {spoken(seen)}")
    if offer.tag != current.tag and (again := retold(offer.tag, sights)):
        said.append(again)
    if policy.platform and offer.platforms is not None:
        said.append(f"holds {policy.platform}")
    said += [f"contains {changes.said(change)}" for change in policy.must_have]
    said += [f"does not contain {changes.said(change)}" for change in policy.must_not_have]
    told = rank.told.get(offer.tag, rank.current).fields
    if odd := other_day(told, offer.created):
        said.append(odd)
    if not policy.pin:
        said.append("the fleet is not known to take a digest: named by its tag alone")
    elif current.reference.digest is None:
        said.append("the recipe names no digest; it is pinned to one with this move")
    return tuple(said)


def unknown(offer: Offer, policy: Policy) -> tuple[str, ...]:
    """What nobody could tell about a winner."""
    asked = (
        (offer.digest is None, "which digest {0} holds"),
        (policy.platform is not None and offer.platforms is None, f"whether {{0}} holds {policy.platform}"),
        (not offer.sights, "when {0} appeared: no first sight yet"),
    )
    return tuple(text.format(offer.tag) for holds, text in asked if holds)


def of_current(current: Current, listed: bool, policy: Policy, winner: Offer | None) -> tuple[str, ...]:
    """What is odd about the image that runs, whatever is chosen."""
    said = []
    if not listed:
        said.append(f"{current.tag}, which the recipe runs, is not among the registry's tags")
    if winner is None and policy.pin and current.reference.digest is None and current.digest:
        said.append(f"the recipe names no digest, though the fleet takes one: @{current.digest} would pin what it runs")
    return tuple(said)
