"""What is known of a recipe's present image and of each tag that may follow it, and which policy's rule a tag breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Literal

from msgspec import Struct

from bot.images.policy import NOTHING, Policy
from bot.images.sights import first_seen, moved, noted
from bot.model.image import Platform, Reference, Sight
from bot.upstream import changes


class Current(Struct, frozen=True, kw_only=True):
    """What a recipe runs now. `digest` and `platforms`: what stands there, where the reference itself pins none; `moved`:
    when the recipe last changed its image; `measured`: the day of its published baseline. None is not known."""

    reference: Reference
    digest: str | None = None
    platforms: tuple[Platform, ...] | None = None
    moved: datetime | None = None
    measured: date | None = None

    @property
    def tag(self) -> str:
        """The tag, `latest` where the reference names none."""
        return self.reference.tag or "latest"

    @property
    def runs(self) -> str | None:
        """The digest that the recipe runs: as it is pinned, else as somebody looked it up."""
        return self.reference.digest or self.digest


class Offer(Struct, frozen=True, kw_only=True):
    """One tag of the current image's repository. None: nobody asked. `sights` are our own looks at the tag; `contains` says
    for a commit of the policy whether the image holds it; `created` is the image's own word."""

    tag: str
    digest: str | None = None
    platforms: tuple[Platform, ...] | None = None
    sights: tuple[Sight, ...] = ()
    contains: dict[str, bool | None] = {}
    created: datetime | None = None


class Fault(Struct, frozen=True, kw_only=True):
    """Why a policy does not take an offer. `bytes`: those run already; `line`: it is no step forward on the recipe's own line;
    `rule`: it would be one. `unknown` says what is not known."""

    reason: str
    kind: Literal["bytes", "line", "rule"] = "rule"
    unknown: str | None = None


Rule = Callable[[Offer, Current, Policy, datetime], Fault | None]


def fault(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    """The first rule that an offer breaks, whatever its order; None when every rule holds."""
    return next((found for rule in _RULES if (found := rule(offer, current, policy, now))), None)


def looks(offer: Offer, now: datetime) -> tuple[Sight, ...]:
    """Our sights of the tag, with the digest it holds now."""
    return noted(offer.sights, offer.digest, now) if offer.digest else offer.sights


def child(platforms: tuple[Platform, ...] | None, wanted: str | None) -> str | None:
    """The digest of one platform's image."""
    return next((one.digest for one in platforms or () if f"{one.os}/{one.architecture}" == wanted), None)


def spoken(at: datetime) -> str:
    """A moment as reasons write it: `2026-08-20 09:00 UTC`."""
    return at.strftime("%Y-%m-%d %H:%M UTC")


def _same_bytes(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    if offer.digest is None or current.runs is None:
        return None
    if offer.digest == current.runs:
        return Fault(reason=f"is {offer.digest}, which the recipe already runs", kind="bytes")
    if policy.platform is None and any(one.digest == current.runs for one in offer.platforms or ()):
        return Fault(reason=f"is an index around {current.runs}, which the recipe already runs", kind="bytes")
    there = child(offer.platforms, policy.platform)
    if there is not None and there in (current.runs, child(current.platforms, policy.platform)):
        return Fault(reason=f"only other platforms changed; {policy.platform} is {there} in both", kind="bytes")
    return None


def _platform(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    if policy.platform is None or offer.platforms is None or child(offer.platforms, policy.platform):
        return None
    there = ", ".join(f"{one.os}/{one.architecture}" for one in offer.platforms) or "none"
    return Fault(reason=f"has no {policy.platform} (it has {there})")


def commits_of(contains: Mapping[str, bool | None], policy: Policy) -> Fault | None:
    """The first commit of a policy that an image lacks, or holds and must not; also where that is not known."""
    return _commits(contains, policy.must_have, wanted=True) or _commits(contains, policy.must_not_have, wanted=False)


def _must_hold(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    return commits_of(offer.contains, policy)


def fits(offer: Offer, policy: Policy) -> bool:
    """Whether an offer is known to hold the commits it must, and none it must not."""
    wanted, unwanted = policy.must_have, policy.must_not_have
    return not (_commits(offer.contains, wanted, wanted=True) or _commits(offer.contains, unwanted, wanted=False))


def _commits(contains: Mapping[str, bool | None], commits: tuple[str, ...], *, wanted: bool) -> Fault | None:
    """What is not known is neither contained nor not contained: somebody must find out before a GPU does."""
    for commit in commits:
        found = contains.get(commit)
        if found is None:
            say = f"whether it contains {changes.said(commit)}, which it must{'' if wanted else ' not'}, is not known"
            return Fault(reason=say, unknown=say)
        if found is not wanted:
            return Fault(reason=f"does not contain {changes.said(commit)}, which it must" if wanted
                         else f"contains {changes.said(commit)}, which it must not")
    return None


def _age(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    if policy.minimum_age == NOTHING:
        return None
    sights = looks(offer, now)
    if not offer.sights:
        return Fault(reason=f"we see it for the first time; it waits {days(policy.minimum_age)} from now",
                     unknown="when it appeared: we had not seen it before")
    first = first_seen(sights, offer.digest or sights[-1].digest) or now
    return _wait(first, policy.minimum_age, now, f"first seen by us {spoken(first)}")


def _quiet(offer: Offer, current: Current, policy: Policy, now: datetime) -> Fault | None:
    last = moved(looks(offer, now))
    return _wait(last, policy.quiet, now, f"pushed again {spoken(last)}") if last else None


def _wait(since: datetime, wanted: timedelta, now: datetime, what: str) -> Fault | None:
    due = since + wanted
    return None if due <= now else Fault(reason=f"{what}; it waits {days(wanted)}, until {spoken(due)}")


def days(wanted: timedelta) -> str:
    """`1 day`, `2 days`, `0.5 days`."""
    number = wanted / timedelta(days=1)
    return f"{number:g} day{'' if number == 1 else 's'}"


_RULES: tuple[Rule, ...] = (_same_bytes, _platform, _must_hold, _age, _quiet)
