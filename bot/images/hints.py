"""Release hints answered: each is somebody's word on what to take, and gets a yes, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping

from bot.images.offers import Offer
from bot.images.rank import Rank
from bot.model.policy import Hint


def answers(hints: tuple[Hint, ...], current: str, winner: Offer | None, lost: Mapping[str, str],
            rank: Rank) -> tuple[str, ...]:
    """One sentence for each hint and each part of it."""
    said: list[str] = []
    for hint in hints:
        by = f" ({hint.by})" if hint.by else ""
        if hint.use:
            said.append(f"hint: {hint.use} or newer{by}: {_use(hint.use, current, winner, lost, rank)}")
        if hint.contains:
            said.append(f"hint: what contains {hint.contains}{by}: {_contains(hint.contains, winner)}")
    return tuple(said)


def _use(tag: str, current: str, winner: Offer | None, lost: Mapping[str, str], rank: Rank) -> str:
    if winner is not None:
        found, why = rank.among(winner.tag, tag)
        if found in ("same", "newer"):
            return f"taken, {winner.tag} is {'it' if found == 'same' else f'newer ({why})'}"
        fault = f"{winner.tag} is {'older' if found == 'older' else 'not comparable'} ({why})"
    else:
        found, why = rank.among(current, tag)
        if found in ("same", "newer"):
            return f"fulfilled already, {current} is {'it' if found == 'same' else f'newer ({why})'}"
        fault = "nothing is taken"
    return f"not taken, {fault}; {tag}: {lost.get(tag, 'the registry lists no such tag')}"


def _contains(commit: str, winner: Offer | None) -> str:
    if winner is None:
        return "not taken, nothing is taken"
    found = winner.contains.get(commit)
    if found is None:
        return f"not known of {winner.tag}"
    return f"taken, {winner.tag} contains it" if found else f"not taken, {winner.tag} does not contain it"
