"""Release hints answered: each is somebody's word on what to take, and gets a yes, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping

from bot.images.offers import Offer
from bot.images.rank import Rank
from bot.images.tags import Order
from bot.model.policy import Answered, Hint


def answers(hints: tuple[Hint, ...], current: str, winner: Offer | None, lost: Mapping[str, str],
            rank: Rank) -> tuple[Answered, ...]:
    """One answer for each hint and each part of it, to the tag that a choice took, or to none."""
    said: list[Answered] = []
    for hint in hints:
        if hint.use:
            found, why = rank.among(winner.tag if winner else current, hint.use)
            said.append(_use(hint, winner.tag if winner else None, current, found, why,
                             lost.get(hint.use, "the registry lists no such tag")))
        if hint.contains:
            said.append(_contains(hint, winner.tag if winner else None, winner.contains.get(hint.contains) if winner else None))
    return tuple(said)


def of_named(hints: tuple[Hint, ...], taken: str, order: Mapping[str, tuple[Order, str]],
             contains: Mapping[str, bool | None]) -> tuple[Answered, ...]:
    """The answers where somebody named the image: how the tag `taken` stands to each hint's (`order`), and what it holds."""
    said: list[Answered] = []
    for hint in hints:
        if hint.use in order:
            said.append(_use(hint, taken, taken, *order[hint.use], lost=""))
        if hint.contains:
            said.append(_contains(hint, taken, contains.get(hint.contains)))
    return tuple(said)


def _use(hint: Hint, taken: str | None, current: str, found: Order, why: str, lost: str) -> Answered:
    if found in ("same", "newer"):
        return Answered(what=hint.use, of="tag", by=hint.by, answer="taken" if taken else "fulfilled", beside=taken or current,
                        how=found, why=why)
    return Answered(what=hint.use, of="tag", by=hint.by, answer="not-taken", beside=taken or "", how=found if taken else "none",
                    why=why if taken else "", lost=lost)


def _contains(hint: Hint, taken: str | None, found: bool | None) -> Answered:
    if taken is None:
        return Answered(what=hint.contains, of="commit", by=hint.by, answer="not-taken", beside="", how="none")
    if found is None:
        return Answered(what=hint.contains, of="commit", by=hint.by, answer="unknown", beside=taken, how="unknown")
    return Answered(what=hint.contains, of="commit", by=hint.by, answer="taken" if found else "not-taken", beside=taken,
                    how="contains" if found else "lacks")
