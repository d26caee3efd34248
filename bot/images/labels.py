"""What images say of themselves: whether a version label fits its tag, and what differs between two digests of one tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.images.schemes import Scheme
from bot.images.tags import fields
from bot.model.image import Resolved

VERSION = "org.opencontainers.image.version"
_NUMBERS = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)(?![0-9])")
# What of a stranger's label may be shown.
_SHOWN = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}")
_NAMED = 5


def mislabelled(current: Resolved, proposed: Resolved, schemes: Iterable[Scheme]) -> str | None:
    """How the proposed image's version label contradicts its tag, None where it does not: once a release was published under
    another one's tag by mistake, and everybody who followed the tag was upgraded.

    A base image leaves its own label on what is built upon it ("24.04"), so the label is heard only where the current image's
    says what its tag says.
    """
    schemes = tuple(schemes)
    if _fits(current, schemes) is not True or _fits(proposed, schemes) is not False:
        return None
    tagged = fields(proposed.reference.tag or "", schemes).fields["version"]
    return f"the tag says {tagged}, the label says {_shown(proposed.labels[VERSION])}"


def differences(old: Resolved, new: Resolved) -> str | None:
    """What the builder says that differs between two digests of one tag, in one sentence; None for two tags, which differ by
    what they are called."""
    one, other = old.reference, new.reference
    if (one.name, one.tag or "latest") != (other.name, other.tag or "latest") or old.digest == new.digest:
        return None
    told = [*_times(old, new), *_facts(old, new)]
    changed = sorted(key for key in old.labels.keys() | new.labels.keys() if old.labels.get(key) != new.labels.get(key))
    told += [f"label {_shown(key)} {_shown(old.labels.get(key))}, now {_shown(new.labels.get(key))}" for key in changed[:_NAMED]]
    told += [f"and {len(changed) - _NAMED} other labels"] if len(changed) > _NAMED else []
    return f"the same tag over other bytes: {'; '.join(told) or 'labels and times are the same, what differs lies in the layers'}"


def _fits(image: Resolved, schemes: tuple[Scheme, ...]) -> bool | None:
    """Whether label and tag name one version, as far as both are spelt out; None where one of them names none."""
    tagged = str(fields(image.reference.tag, schemes).fields.get("version", "")) if image.reference.tag else ""
    mine, label = _NUMBERS.match(tagged), _NUMBERS.match(image.labels.get(VERSION, ""))
    if mine is None or label is None:
        return None
    return all(left == right for left, right in zip(_numbers(mine), _numbers(label), strict=False))


def _numbers(found: re.Match[str]) -> list[str]:
    return [part.lstrip("0") or "0" for part in found[1].split(".")]


def _times(old: Resolved, new: Resolved) -> Iterator[str]:
    if old.created != new.created:
        yield f"created {_when(old)}, now {_when(new)}"


def _facts(old: Resolved, new: Resolved) -> Iterator[str]:
    for name in ("cuda", "rocm", "arch_list", "commit"):
        # An architecture list is written with spaces, which no text of a stranger may bring.
        before, after = (told and told.replace(" ", "+") for told in (getattr(old.facts, name), getattr(new.facts, name)))
        if before != after:
            yield f"{name} {_shown(before)}, now {_shown(after)}"


def _when(image: Resolved) -> str:
    return image.created.isoformat() if image.created else "unknown"


def _shown(text: str | None) -> str:
    if text is None:
        return "none"
    return text if _SHOWN.fullmatch(text) else "(not shown)"
