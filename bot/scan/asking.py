"""What may take the place of each recipe's image: a listing of each repository, and one look at each tag that would win.

A look is taken only at what matters: at the tag that tags alone would choose, else at the recipe's own, which may have been
pushed again. So an image costs two requests, and a scan of two hundred fits below an anonymous limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import BadInput, BumpbotError
from bot.images import reference
from bot.images.choose import Choice, Current, Offer, choose
from bot.images.policy import NOTHING, Policy
from bot.images.schemes import Scheme
from bot.images.tags import Ancestry
from bot.model.image import Held, Reference
from bot.model.ledger import Seen
from bot.model.outcome import Disposition
from bot.model.scan import Scanned
from bot.ports import Registry

# A winner that a look rules out makes room for the next; a registry whose every tag is ruled out is not followed for ever.
LOOKS = 8
# What a policy settles before any registry is asked.
SHUT = (Disposition.PINNED, Disposition.OBSERVED_ONLY)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a scan asks; without a registry files alone answer. `policy` is told a recipe's key; `seen` are our own sights of a
    repository's tags, `ancestry` the history of its images, where somebody knows it."""

    registry: Registry | None
    schemes: tuple[Scheme, ...]
    now: datetime
    policy: Callable[[str], Policy]
    seen: Callable[[Reference], Seen] = lambda reference: Seen()
    ancestry: Callable[[Reference], Ancestry | None] = lambda reference: None


class Look(Struct, frozen=True, kw_only=True):
    """A tag that was looked at, and the digest it held: what the first-seen ledger is told."""

    reference: Reference
    digest: str


class Scan(Struct, frozen=True, kw_only=True):
    """The lines of a scan, what was looked at, and whether the world answered at all where it was asked."""

    lines: tuple[Scanned, ...]
    looks: tuple[Look, ...]
    answered: bool = True


class _Question:
    """One image under one policy, which several recipes may share: its offers so far, and what became of them."""

    def __init__(self, current: Reference, policy: Policy, sources: Sources) -> None:
        self.reference, self.policy, self.sources = current, policy, sources
        self.seen = sources.seen(current)
        own = self.seen.tags.get(current.tag or "latest", ())
        self.current = Current(reference=current, digest=own[-1].digest if own else None)
        self.offers: dict[str, Offer] = {}
        self.trouble: str | None = None
        self.choice = self._choose(policy)

    def listed(self, tags: Sequence[str] | BumpbotError) -> None:
        """Takes the repository's tags, or the reason why there are none."""
        if isinstance(tags, BumpbotError):
            self.trouble = f"which tags there are: {tags}"
            return
        self.offers = {tag: Offer(tag=tag, sights=self.seen.tags.get(tag, ())) for tag in tags}
        self.choice = self._choose(self.policy)

    def wanted(self) -> Reference | None:
        """The tag to look at next: the winner, or the one that only has to wait, else the recipe's own; None when the answer
        stands."""
        if self.trouble is not None:
            return None
        waits = replace(self.policy, minimum_age=NOTHING, quiet=NOTHING)
        winners = [self.choice.winner, self._choose(waits).winner if waits != self.policy else None]
        named = [tag for tag in winners if tag is not None]
        tag = next((tag for tag in named if self.offers[tag].digest is None), None)
        own = self.current.tag
        if tag is None and not named and own in self.offers and self.offers[own].digest is None:
            tag = own
        return _tagged(self.reference, tag) if tag else None

    def looked(self, tag: str, held: Held | BumpbotError) -> None:
        """Takes what a tag holds. A tag that cannot be looked at is not replaced by an older one: nothing is proposed."""
        if isinstance(held, BumpbotError):
            self.trouble = f"what {tag} holds: {held}"
            return
        self.offers[tag] = replace(self.offers[tag], digest=held.digest, platforms=held.platforms)
        self.choice = self._choose(self.policy)

    def told(self, one: Scanned) -> Scanned:
        """The recipe's line with the answer."""
        if self.trouble is not None:
            return replace(one, unknown=(*one.unknown, self.trouble))
        found = self.choice
        return replace(one, candidate=self._text(), disposition=found.disposition, reasons=(*one.reasons, *found.reasons),
                       unknown=(*one.unknown, *found.unknown))

    def _text(self) -> str | None:
        """The candidate as the file would name it: pinned where the fleet's launcher takes a digest."""
        if self.choice.winner is None:
            return None
        bare = _tagged(self.reference, self.choice.winner)
        return reference.with_digest(bare, self.offers[self.choice.winner].digest if self.policy.pin else None).text

    def _choose(self, policy: Policy) -> Choice:
        return choose(self.current, tuple(self.offers.values()), policy, self.sources.schemes,
                      self.sources.ancestry(self.reference), now=self.sources.now)


def candidates(found: Iterable[Scanned], sources: Sources) -> Scan:
    """The lines with candidate, disposition and reasons, and what was looked at. A registry that fails leaves its own recipes
    without an answer, and says why; the others' stand."""
    lines, asked, shared = tuple(found), dict[str, _Question](), dict[tuple[str, Policy], _Question]()
    for one in lines:
        current = _parsed(one.image)
        if current is not None and current.tag is not None:
            policy = sources.policy(one.recipe)
            key = (current.text, policy)
            asked[one.recipe] = shared[key] = shared.get(key) or _Question(current, policy, sources)
    open_ = [question for question in shared.values() if question.choice.disposition not in SHUT]
    looks = _ask(open_, sources.registry)
    told = tuple(asked[one.recipe].told(one) if one.recipe in asked else one for one in lines)
    silent = sources.registry is not None and bool(open_) and all(question.trouble for question in open_)
    return Scan(lines=told, looks=looks, answered=not silent)


def _ask(questions: Sequence[_Question], registry: Registry | None) -> tuple[Look, ...]:
    if registry is None:
        for question in questions:
            question.trouble = "which tags there are: no registry was asked (--offline)"
        return ()
    listings = registry.listings([question.reference for question in questions])
    for question in questions:
        question.listed(listings[question.reference.name])
    return _look(questions, registry)


def _look(questions: Sequence[_Question], registry: Registry) -> tuple[Look, ...]:
    looks: dict[str, Look] = {}
    for _ in range(LOOKS):
        wanted = [(question, tag) for question in questions if (tag := question.wanted()) is not None]
        if not wanted:
            break
        held = registry.held([tag for _, tag in wanted])
        for question, tag in wanted:
            answer = held[tag.text]
            question.looked(tag.tag or "latest", answer)
            if isinstance(answer, Held):
                looks[reference.canonical(tag)] = Look(reference=tag, digest=answer.digest)
    return tuple(looks.values())


def _tagged(current: Reference, tag: str) -> Reference:
    """Another tag of the same repository, spelt as the current image is."""
    return reference.with_style(reference.parse(f"{current.name}:{tag}"), current)


def _parsed(text: str | None) -> Reference | None:
    try:
        return reference.parse(text or "")
    except BadInput:
        return None
