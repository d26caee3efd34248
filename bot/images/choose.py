"""Which tag of a repository takes a recipe's image's place, and one reason for each tag that does not.

Only what tags and history prove orders here: a time of creation is the builder's word, and a release cut from an old branch
is created later and holds less. One popular bot went from rc14 to rc9, another to any build when the current tag was
missing from the list; so nothing is taken that is not newer than the current tag, nor anything older than another tag
that holds the very bytes that run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from bot.images import again, notes
from bot.images.hints import answers
from bot.images.offers import Current, Fault, Offer, days, fault, fits, spoken
from bot.images.policy import NOTHING, Policy, off_channel
from bot.images.rank import Rank
from bot.images.schemes import CUSTOM
from bot.images.tags import Ancestry, Scheme
from bot.model.outcome import Disposition
from bot.model.policy import Answered

__all__ = ["Choice", "Current", "Offer", "choose"]

# Tags without an order that are named one by one; the others are only said to be there.
_NAMED = 3


class Choice(Struct, frozen=True, kw_only=True):
    """The tag that wins, or why none does. `lost`: each other tag's reason; `unknown`: what could not be known about the
    winner, or kept a tag from winning. A winner about which something is unknown is the one to ask the registry about, and
    then to choose again. `unordered`: tags of the recipe's own line that nobody could order against its own."""

    winner: str | None = None
    disposition: Disposition | None = None
    reasons: tuple[str, ...] = ()
    lost: dict[str, str] = {}
    unknown: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()
    hints: tuple[Answered, ...] = ()


def choose(current: Current, offers: Sequence[Offer], policy: Policy, schemes: Iterable[Scheme],
           ancestry: Ancestry | None = None, *, now: datetime, rank: Rank | None = None) -> Choice:
    """The newest offer that the policy takes in place of `current`.

    `offers` are all tags of the current image's repository, its own included, one each; bare tags will do, and then the
    choice is by tags alone. The answer does not depend on their order, and an older tag added changes nothing. `rank` is that
    of the very same tags, from who asks about them again.
    """
    told = {offer.tag: offer for offer in sorted(offers, key=lambda offer: (offer.tag, msgspec.json.encode(offer)))}
    if (shut := _shut(current, policy)) is not None:
        disposition, why = shut
        return Choice(disposition=disposition, reasons=(why,), lost=dict.fromkeys(told.keys() - {current.tag}, why))
    ranked = rank or Rank(current.tag, told, schemes, ancestry, policy.free)
    return _Choosing(current, told, policy, ranked, now).choice()


def _shut(current: Current, policy: Policy) -> tuple[Disposition, str] | None:
    if policy.keep:
        return Disposition.PINNED, f"pinned: {policy.keep}"
    if current.reference.name not in policy.allow:
        return Disposition.OBSERVED_ONLY, f"{current.reference.name} is not on the layout's list of repositories"
    return None


class _Choosing:
    """One choice on its way. `able` are the tags that break no rule, `heads` those of them that none of them is newer than;
    `anchors` are newer names of the bytes that run already; `unordered` could be newer, and nobody can tell."""

    def __init__(self, current: Current, offers: Mapping[str, Offer], policy: Policy, rank: Rank, now: datetime) -> None:
        self.current, self.offers, self.policy, self.rank, self.now = current, offers, policy, rank, now
        self.own = offers.get(current.tag)
        self.newer = rank.newer()
        self.unordered = tuple(tag for tag in rank.unordered()
                               if off_channel(rank.told[tag], rank.current, policy.channel) is None)
        self.faults = {tag: found for tag in self.newer if (found := self._fault(tag)) is not None}
        self.anchors = tuple(tag for tag, found in self.faults.items() if found.kind == "bytes")
        foremost = rank.heads(self.anchors)
        for tag in self.newer:
            if tag not in self.faults and (found := self._behind(tag, foremost)) is not None:
                self.faults[tag] = found
        self.able = tuple(tag for tag in self.newer if tag not in self.faults)
        self.heads = rank.heads(self.able)
        self.winner = self._settled()

    def choice(self) -> Choice:
        """The whole answer. A recipe that moved lately waits, whatever is newest."""
        lost, unknown = self._lost(), self._unknown()
        if again.moved_on(self.own, self.current):
            self._own_tag(lost, unknown)
        if self.winner and (wait := self._cadence()) is not None:
            lost[self.winner], self.winner = wait, None
        won = self.offers[self.winner] if self.winner else None
        disposition = Disposition.ALREADY_CURRENT if won is None and self._rests(lost) else None
        reasons = [*(self._won(won) if won else self._none(lost))]
        reasons += notes.of_current(self.current, self.own is not None, self.policy, won)
        reasons += [said] if (said := again.sentence(self.own, self.current, self.now)) else []
        hints = answers(self.policy.hints, self.current.tag, won, lost, self.rank)
        reasons += [hint.said for hint in hints]
        unknown += notes.unknown(won, self.policy) if won else ()
        if self.policy.cadence != NOTHING and self.current.moved is None:
            unknown.append("when the recipe last moved")
        return Choice(winner=self.winner, disposition=disposition, reasons=tuple(reasons), lost=dict(sorted(lost.items())),
                      unknown=tuple(unknown), unordered=self.unordered, hints=hints)

    def _fault(self, tag: str) -> Fault | None:
        found = fault(self.offers[tag], self.current, self.policy, self.now)
        if found is not None and found.kind == "bytes":
            return found
        why = off_channel(self.rank.told[tag], self.rank.current, self.policy.channel)
        return Fault(reason=why, kind="line") if why else found

    def _behind(self, tag: str, anchors: Sequence[str]) -> Fault | None:
        for anchor in anchors:
            found, why = self.rank.among(tag, anchor)
            if found != "newer":
                return Fault(reason=f"{found} ({why}) beside {anchor}, which holds the bytes that run", kind="line")
        return None

    def _settled(self) -> str | None:
        """The one head; of several names of one build the one that is labelled as the current tag is, or any where all
        are known to hold the same bytes."""
        if len(self.heads) < 2:
            return self.heads[0] if self.heads else None
        if any(self.rank.among(self.heads[0], tag)[0] != "same" for tag in self.heads[1:]):
            return None
        alike = [tag for tag in self.heads if self.rank.like_current(tag)]
        digests = {self.offers[tag].digest for tag in alike or self.heads}
        return (alike or self.heads)[0] if len(alike) == 1 or (len(digests) == 1 and None not in digests) else None

    def _lost(self) -> dict[str, str]:
        return {tag: self._reason(tag) for tag in self.rank.told if tag not in (self.current.tag, self.winner)}

    def _reason(self, tag: str) -> str:
        found, why = self.rank.against[tag]
        if found != "newer":
            return f"{found}: {why}"
        ahead = (self.winner,) if self.winner else self.heads if tag in self.able else ()
        for head in ahead:
            found, why = self.rank.among(tag, head)
            if found == "older":
                return f"older than {head} ({why})"
            if found == "same" and head == self.winner:
                return f"the same build as {head} under other labels"
        if tag in self.faults:
            return self.faults[tag].reason
        other = next(head for head in self.heads if head != tag)
        return f"does not order against {other} ({self.rank.among(tag, other)[1]})"

    def _unknown(self) -> list[str]:
        """What kept a tag from winning that could have: an order nobody knows, facts nobody gave."""
        rank, odd = self.rank, self.unordered
        said = [f"whether {tag} is newer: {rank.against[tag][1]}" for tag in odd[:_NAMED]]
        said += ["whether others are newer, for the same reasons"] if len(odd) > _NAMED else []
        if rank.current.scheme == CUSTOM:
            said.append(f"whether any tag is newer: no scheme reads {self.current.tag}")
        if self.own is not None and self.own.digest is None and not (self.winner and self.current.runs):
            said.append(f"which digest {self.current.tag} holds now")
        known = {tag: found.unknown for tag, found in self.faults.items() if found.unknown}
        ahead = [tag for tag in known if not self.winner or rank.among(tag, self.winner)[0] != "older"]
        said += [f"of {tag}, {known[tag]}" for tag in rank.heads(ahead)]
        return said

    def _own_tag(self, lost: dict[str, str], unknown: list[str]) -> None:
        """The recipe's tag holds other bytes now: they are the candidate when no newer tag is one."""
        found = again.not_taken(self.own, self.current, self.policy, self.rank.current, self.now) if self.own else None
        if found is not None and found.kind == "bytes":
            return
        if self.winner or self.heads:
            lost[self.current.tag] = f"pushed again, and older than {self.winner or self.heads[0]}"
        elif found is not None:
            lost[self.current.tag] = found.reason
            unknown += [found.unknown] if found.unknown else []
        else:
            self.winner = self.current.tag

    def _cadence(self) -> str | None:
        if self.current.moved is None or self.current.moved + self.policy.cadence <= self.now:
            return None
        due = self.current.moved + self.policy.cadence
        return (f"the recipe moved {spoken(self.current.moved)} and moves once in {days(self.policy.cadence)}: "
                f"it waits until {spoken(due)}")

    def _rests(self, lost: Mapping[str, str]) -> bool:
        """Whether the newest there is runs already: no rule stands in the way of anything newer, and no order is missing."""
        blocked = self.heads or self.unordered or self.current.tag in lost or self.rank.current.scheme == CUSTOM
        return not blocked and all(found.kind != "rule" for found in self.faults.values())

    def _won(self, offer: Offer) -> list[str]:
        if offer.tag == self.current.tag:
            said = [f"{offer.tag} holds {offer.digest} now, the recipe runs {self.current.runs}, and no tag is newer"]
        else:
            said = [f"{offer.tag} is newer than {self.current.tag} ({self.rank.against[offer.tag][1]})"]
            others = [tag for tag in self.heads if tag != offer.tag]
            said += [f"{', '.join(others)}: the same build under other labels"] if others else []
        return [*said, *notes.of_winner(offer, self.current, self.policy, self.rank, self.now)]

    def _none(self, lost: Mapping[str, str]) -> list[str]:
        """Why nothing is taken, the nearest miss first."""
        if len(self.heads) > 1:
            why = self.rank.among(*self.heads[:2])[1]
            return [f"{_listed(self.heads)} are newer and do not order among themselves ({why}): none is taken"]
        near = self.heads or self.rank.heads([tag for tag, found in self.faults.items() if found.kind == "rule"])
        said = [f"{tag} is newer and not taken: {lost[tag]}" for tag in near]
        if near and not self.heads and not any(fits(self.offers[tag], self.policy) for tag in self.newer):
            said.append("no newer tag is known to hold every commit that it must and none that it must not")
        said += [f"{self.current.tag} holds other bytes now: {lost[self.current.tag]}"] if self.current.tag in lost else []
        said += [f"{_listed(self.anchors)} hold{'s' * (len(self.anchors) == 1)} the bytes that run already"] if self.anchors else []
        if self.unordered or self.rank.current.scheme == CUSTOM:
            said.append(f"not everything in the repository can be ordered against {self.current.tag}")
        which = "of the channel that the policy takes" if self.newer else "in the repository"
        return said or [f"nothing {which} follows {self.current.tag}"]


def _listed(tags: Sequence[str]) -> str:
    return ", ".join(tags[:_NAMED]) + (" and others" if len(tags) > _NAMED else "")
