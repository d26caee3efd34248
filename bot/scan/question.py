"""One image under one policy, and what became of each tag that could take its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from bot.errors import BumpbotError, Unreachable
from bot.images import reference
from bot.images.choose import Choice, Current, Offer, choose
from bot.images.policy import NOTHING, Policy
from bot.images.rank import Rank
from bot.images.schemes import Scheme
from bot.images.tags import Ancestry
from bot.model.image import Held, Reference
from bot.model.ledger import Seen
from bot.model.scan import Scanned


class Question:
    """Several recipes may share one. `trouble` is why no answer can be had, `reached` whether the registry told so itself;
    `choice` is the answer by what is known so far. `own_too`: look at the recipe's own tag also where another may take its
    place."""

    def __init__(self, current: Reference, policy: Policy, schemes: Iterable[Scheme], *, seen: Seen, moved: datetime | None,
                 now: datetime) -> None:
        self.reference, self.policy, self.trouble, self.reached = current, policy, "", True
        self._schemes, self._seen, self._now, self.own_too = tuple(schemes), seen, now, False
        own = seen.tags.get(current.tag or "latest", ())
        self._current = Current(reference=current, digest=own[-1].digest if own else None, moved=moved)
        self._offers: dict[str, Offer] = {}
        self._rank = self._ranked(None)
        self._untold: tuple[str, ...] = ()
        self._silent: set[str] = set()
        self.choice = self._chosen()

    def listed(self, tags: Sequence[str] | BumpbotError) -> None:
        """Takes the repository's tags, or the reason why there are none."""
        if isinstance(tags, BumpbotError):
            self.trouble, self.reached = f"which tags there are: {tags}", not isinstance(tags, Unreachable)
            return
        self._offers = {tag: Offer(tag=tag, sights=self._seen.tags.get(tag, ())) for tag in tags}
        self._rank = self._ranked(None)
        self.choice = self._chosen()

    def ordered(self, ancestry: Ancestry | BumpbotError) -> None:
        """Takes the history of the engine's main line, or the reason why there is none."""
        if isinstance(ancestry, BumpbotError):
            self._untold += (f"the history of its commits: {ancestry}",)
            return
        self._rank = self._ranked(ancestry)
        self.choice = self._chosen()

    def wanted(self) -> Reference | None:
        """The tag to look at next: the winner, or the one that would win if what is not known of it were as the policy wants
        it; else the recipe's own. None when the answer stands."""
        if self.trouble:
            return None
        winners = [tag for tag in (self.choice.winner, self._hoped()) if tag is not None]
        own = [self._current.tag] if self.own_too or not winners else []
        tag = next((tag for tag in (*winners, *own) if tag in self._offers and self._open(tag)), None)
        return self._tagged(tag) if tag else None

    def looked(self, tag: str, held: Held | BumpbotError, contains: Mapping[str, bool | None]) -> None:
        """Takes what a tag holds, and which of the policy's commits. A tag that cannot be looked at is not replaced by an older
        one: nothing is proposed."""
        if isinstance(held, BumpbotError):
            said = f"what {tag} holds: {held}"
            self._silent.add(tag)
            if self.choice.winner and tag == self._current.tag != self.choice.winner:
                self._untold += (said,)
            else:
                self.trouble, self.reached = said, not isinstance(held, Unreachable)
            return
        self._offers[tag] = replace(self._offers[tag], digest=held.digest, platforms=held.platforms, contains=dict(contains))
        if tag == self._current.tag and self._current.runs is None:  # never seen before: what it holds is what runs
            self._current = replace(self._current, digest=held.digest, platforms=held.platforms)
        self.choice = self._chosen()

    def told(self, one: Scanned) -> Scanned:
        """The recipe's line with the answer."""
        if self.trouble:
            return replace(one, unknown=(*one.unknown, self.trouble))
        found = self.choice
        return replace(one, candidate=self._text(), disposition=found.disposition, reasons=(*one.reasons, *found.reasons),
                       unknown=(*one.unknown, *found.unknown, *self._untold), lost=found.lost,
                       hints=found.hints)

    def _open(self, tag: str) -> bool:
        return self._offers[tag].digest is None and tag not in self._silent

    def _hoped(self) -> str | None:
        """Who would win if it need not wait, and held what it must where nobody asked: a look begins its age, and is what
        tells the rest."""
        policy = self.policy
        assumed = {**dict.fromkeys(policy.must_have, True), **dict.fromkeys(policy.must_not_have, False)}
        eager = replace(policy, minimum_age=NOTHING, quiet=NOTHING)
        if eager == policy and not assumed:
            return None
        offers = [replace(offer, contains=assumed) if offer.digest is None else offer for offer in self._offers.values()]
        return self._chosen(eager, offers).winner

    def _tagged(self, tag: str) -> Reference:
        """Another tag of the same repository, spelt as the current image is."""
        return reference.with_style(reference.parse(f"{self.reference.name}:{tag}"), self.reference)

    def _text(self) -> str | None:
        """The candidate as the file would name it: pinned where the fleet's launcher takes a digest."""
        winner = self.choice.winner
        if winner is None:
            return None
        return reference.with_digest(self._tagged(winner), self._offers[winner].digest if self.policy.pin else None).text

    def _chosen(self, policy: Policy | None = None, offers: Iterable[Offer] | None = None) -> Choice:
        return choose(self._current, tuple(self._offers.values() if offers is None else offers), policy or self.policy,
                      self._schemes, now=self._now, rank=self._rank)

    def _ranked(self, ancestry: Ancestry | None) -> Rank:
        return Rank(self._current.tag, self._offers, self._schemes, ancestry, self.policy.free)
