"""Whether one image may take another's place, with the reasons.

Nothing older is ever proposed, and nothing whose order is unknown unless the registry's own times say that it is
younger. What loses, loses with a reason that a person can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from msgspec import Struct

from bot.errors import Refusal
from bot.images import hints
from bot.images.labels import differences, mislabelled
from bot.images.offers import commits_of
from bot.images.policy import Policy
from bot.images.provenance import contradiction, repushed
from bot.images.reference import with_digest, with_style
from bot.images.tags import Ancestry, Order, Scheme, explain
from bot.model.image import Candidate, Resolved
from bot.model.outcome import Disposition
from bot.model.policy import Answered


class Declined(Struct, frozen=True, kw_only=True):
    """No candidate: by a disposition (nothing is wrong), or by a rule (`disposition` None) that a person is told."""

    reason: str
    hint: str = ""
    disposition: Disposition | None = None

    def refuse(self) -> NoReturn:
        raise Refusal(self.reason, self.hint)


def judge(current: Resolved, proposed: Resolved, policy: Policy, schemes: Iterable[Scheme],
          ancestry: Ancestry | None = None, *, measured: str | None = None,
          contains: Mapping[str, bool | None] = {}) -> Candidate | Declined:
    """The candidate that `proposed` makes in place of `current`, or why it makes none. Channel, age and cadence choose among
    tags, and who names an image has chosen; what the image must hold stays in force.

    `contains` says for each commit of the policy whether `proposed` holds it; `measured` is the baseline's ISO date: a push
    of the current tag after it is told on the candidate (`repushed`).
    """
    schemes = tuple(schemes)
    declined = (_not_allowed(proposed, policy) or _no_change(current, proposed, policy) or _no_platform(proposed, policy)
                or _no_commit(contains, policy) or _no_such_version(current, proposed, schemes))
    if declined:
        return declined
    found, why = _order(current, proposed, policy, schemes, ancestry)
    if found != "newer":
        return _not_newer(found, why, proposed)
    notes = [f"newer ({why})", *_notes(current, proposed, policy, schemes)]
    moved = repushed(current, measured) if measured else None
    if moved:
        notes.append(f"the current tag was pushed again on {moved.date().isoformat()}: "
                     "the baseline's bytes cannot be verified")
    target = with_style(proposed.reference, current.reference)
    text = with_digest(target, proposed.digest if policy.pin else target.digest).text
    return Candidate(old=current, new=proposed, text=text, reasons=tuple(notes), repushed=moved,
                     hints=_answered(proposed, policy, schemes, ancestry, contains))


def _answered(proposed: Resolved, policy: Policy, schemes: tuple[Scheme, ...], ancestry: Ancestry | None,
              contains: Mapping[str, bool | None]) -> tuple[Answered, ...]:
    tag = proposed.reference.tag or "latest"
    order = {hint.use: explain(tag, hint.use, schemes, ancestry, free=policy.free) for hint in policy.hints if hint.use}
    return hints.of_named(policy.hints, tag, order, contains)


def _not_allowed(proposed: Resolved, policy: Policy) -> Declined | None:
    if policy.keep:
        return Declined(reason=f"pinned: {policy.keep}", disposition=Disposition.PINNED)
    if proposed.reference.name not in policy.allow:
        return Declined(reason=f"{proposed.reference.name} is not on the layout's list of repositories",
                        hint="a maintainer adds it under `allow`")
    return None


def _no_change(current: Resolved, proposed: Resolved, policy: Policy) -> Declined | None:
    if current.digest == proposed.digest:
        return Declined(reason=f"{proposed.reference.text} is {current.digest}, which the recipe already runs",
                        disposition=Disposition.ALREADY_CURRENT)
    old, new = _child(current, policy.platform), _child(proposed, policy.platform)
    if old is not None and old == new:
        return Declined(reason=f"only other platforms changed; {policy.platform} is {old} in both",
                        disposition=Disposition.ALREADY_CURRENT)
    return None


def _no_platform(proposed: Resolved, policy: Policy) -> Declined | None:
    if policy.platform is None or _child(proposed, policy.platform) is not None:
        return None
    there = ", ".join(f"{p.os}/{p.architecture}" for p in proposed.platforms) or "none"
    return Declined(reason=f"{proposed.reference.text} has no {policy.platform} (it has {there})",
                    hint="the hardware needs that platform; choose an image that holds it")


def _no_commit(contains: Mapping[str, bool | None], policy: Policy) -> Declined | None:
    found = commits_of(contains, policy)
    return Declined(reason=found.reason, hint="name an image that does, or change the policy's commits") if found else None


def _order(current: Resolved, proposed: Resolved, policy: Policy, schemes: tuple[Scheme, ...],
           ancestry: Ancestry | None) -> tuple[Order, str]:
    """By tags within one repository, else by the history of the commits that both were built from, else by the registry's
    times; a person reads which it was."""
    found: Order = "incomparable"
    why = f"{proposed.reference.name} is another repository than {current.reference.name}"
    if current.reference.name == proposed.reference.name:
        old, new = current.reference.tag or "latest", proposed.reference.tag or "latest"
        found, why = explain(new, old, schemes, ancestry, free=policy.free)
    if found in ("older", "newer"):
        return found, why
    left, right = proposed.facts.commit, current.facts.commit
    told = ancestry(left, right) if ancestry and left and right else None
    if told in ("older", "newer"):
        return told, f"{why}; history: {left}, {right}"
    old_time, new_time = current.created, proposed.created
    if old_time is None or new_time is None:
        return "incomparable", f"{why}; a time of creation is not known"
    if new_time == old_time:
        return "incomparable", f"{why}; created at the same time"
    found = "newer" if new_time > old_time else "older"
    return found, f"{why}; created {new_time.date().isoformat()}, the current one {old_time.date().isoformat()}"


def _not_newer(found: Order, why: str, proposed: Resolved) -> Declined:
    if found == "older":
        return Declined(reason=f"{proposed.reference.text} is older than the current image ({why})",
                        hint="an older image is never proposed; edit the recipe by hand to go back")
    return Declined(reason=f"{proposed.reference.text} cannot be ordered against the current image ({why})",
                    hint="name an image whose tag, history or time of creation says that it is newer")


def _no_such_version(current: Resolved, proposed: Resolved, schemes: tuple[Scheme, ...]) -> Declined | None:
    why = mislabelled(current, proposed, schemes)
    return Declined(reason=f"{proposed.reference.text} holds another version than its tag names ({why})",
                    hint="ask its publisher which of the two is wrong; until then it is not proposed") if why else None


def _notes(current: Resolved, proposed: Resolved, policy: Policy, schemes: tuple[Scheme, ...]) -> list[str]:
    notes = [said] if (said := differences(current, proposed)) else []
    if policy.platform and current.kind == "manifest" and current.platforms and _child(current, policy.platform) is None:
        alone = current.platforms[0]
        notes.append(f"the recipe runs {policy.platform} and names an image of {alone.os}/{alone.architecture} alone; "
                     "the digest of an index serves every platform it lists")
    if current.created and proposed.created and proposed.created < current.created:
        notes.append(f"but created {proposed.created.date().isoformat()}, before the current image "
                     f"({current.created.date().isoformat()})")
    found = contradiction(proposed, schemes)
    return notes + ([found] if found else [])


def _child(image: Resolved, platform: str | None) -> str | None:
    return next((p.digest for p in image.platforms if f"{p.os}/{p.architecture}" == platform), None)
