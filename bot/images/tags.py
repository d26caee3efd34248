"""Image tags as typed fields, and their order: field by field, by history where a tag is a commit, or not at all.

Three incidents shape it. One popular bot proposes rc14 -> rc9, because it orders text. Another takes a hash that begins
with digits for a version. A third widens `-cu129` to `-cu130`, because a suffix was a string to it: so fields that name
a platform, a channel or a variant must match as a set, and what cannot be ordered is `incomparable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct
from packaging.version import Version

from bot.images.schemes import CUSTOM, LABELS, Scheme, likely, read

__all__ = ["Ancestry", "Order", "Scheme", "TagFields", "claims", "compare", "explain", "fields", "order", "read", "unlike"]

Order = Literal["older", "newer", "same", "incomparable"]
# (commit a, commit b) -> how a stands to b in one repository's history; None when that repository does not know them.
Ancestry = Callable[[str, str], Order | None]
Values = Mapping[str, str | int]
Verdict = tuple[Order, str]

_LABELS = frozenset(LABELS)
_EARLY = (("alpha", "a"), ("beta", "b"), ("rc", "rc"))
_TURNED: dict[Order, Order] = {"older": "newer", "newer": "older"}


class TagFields(Struct, frozen=True, kw_only=True):
    """A tag read. `fields` holds canonical values: dates ISO (`--08-20` has no year), CUDA `13.0`, ROCm `7.2.0`."""

    tag: str
    scheme: str
    fields: dict[str, str | int]


def claims(tag: str, schemes: Iterable[Scheme]) -> dict[str, dict[str, str | int]]:
    """Every scheme that claims a tag, with the fields it reads; the knowledge's test asks for at most one."""
    return {scheme.id: found for scheme in likely(tag, tuple(schemes)) if (found := scheme.read(tag)) is not None}


def fields(tag: str, schemes: Iterable[Scheme]) -> TagFields:
    """The tag's scheme and typed fields; `custom` without fields when no scheme, or more than one, claims it."""
    found = claims(tag, schemes)
    if len(found) != 1:
        return TagFields(tag=tag, scheme=CUSTOM, fields={})
    ((scheme, values),) = found.items()
    return TagFields(tag=tag, scheme=scheme, fields=values)


def compare(a: str, b: str, schemes: Iterable[Scheme], ancestry: Ancestry | None = None, *,
            free: frozenset[str] = frozenset()) -> Order:
    """How tag a stands to tag b. `free` names label fields that the recipe allows to move (normally none)."""
    return explain(a, b, schemes, ancestry, free=free)[0]


def explain(a: str, b: str, schemes: Iterable[Scheme], ancestry: Ancestry | None = None, *,
            free: frozenset[str] = frozenset()) -> Verdict:
    """The order and what settled it, as words for a person."""
    schemes = tuple(schemes)
    return order(fields(a, schemes), fields(b, schemes), ancestry, free=free)


def order(one: TagFields, other: TagFields, ancestry: Ancestry | None = None, *,
          free: frozenset[str] = frozenset()) -> Verdict:
    """`explain` for tags already read: a listing of thousands is read once and compared often."""
    if one.tag == other.tag:
        return "same", "the same tag"
    for side in (one, other):
        if side.scheme == CUSTOM:
            return "incomparable", f"no scheme reads {side.tag}"
    if (name := unlike(one, other, free)) is not None:
        return "incomparable", f"{name} differs: {one.fields.get(name, 'none')}, {other.fields.get(name, 'none')}"
    return _heed_history(_by_fields(one.fields, other.fields, ancestry), one.fields, other.fields, ancestry)


def unlike(one: TagFields, other: TagFields, free: frozenset[str] = frozenset()) -> str | None:
    """The first label on which two tags differ; None when they name one platform, channel and variant."""
    return next((name for name in LABELS if name not in free and not _agree(name, one.fields, other.fields)), None)


def _by_fields(one: Values, other: Values, ancestry: Ancestry | None) -> Verdict:
    for step in (_by_version, _by_date, _by_build):
        if found := step(one, other):
            return found
    if one.keys() | other.keys() <= _LABELS:
        return "incomparable", "neither tag says which build it holds"
    return _by_commit(one.get("commit"), other.get("commit"), ancestry)


def _by_version(one: Values, other: Values) -> Verdict | None:
    left, right = _version(one), _version(other)
    if left is not None and right is not None and _calendar(left) != _calendar(right):
        return "incomparable", f"one counts by the calendar: {left}, {right}"
    return _by_value("version", left, right)


def _by_build(one: Values, other: Values) -> Verdict | None:
    return _by_value("build", one.get("build"), other.get("build"))


def _by_date(one: Values, other: Values) -> Verdict | None:
    left, right = one.get("date"), other.get("date")
    if left is None or right is None:
        return _by_value("date", left, right)
    if left != right and (str(left).startswith("--") or str(right).startswith("--")):
        return "incomparable", f"a date without a year: {left}, {right}"
    return _by_value("date", left, right) or _by_value("time", one.get("time"), other.get("time"))


def _by_value(name: str, left: Any, right: Any) -> Verdict | None:
    """None when this field does not settle it: absent on both sides, or equal."""
    if left is None and right is None:
        return None
    if left is None or right is None:
        return "incomparable", f"only one tag has a {name}"
    if left == right:
        return None
    return ("older" if left < right else "newer"), f"{name}: {left}, {right}"


def _by_commit(left: Any, right: Any, ancestry: Ancestry | None) -> Verdict:
    if left is None and right is None:
        return "same", "every field is the same"
    if left is None or right is None:
        return "incomparable", "only one tag has a commit"
    if left.startswith(right) or right.startswith(left):
        return "same", f"commit: {left}"
    if ancestry is None:
        return "incomparable", f"commits {left} and {right} are ordered only by a repository's history"
    found = ancestry(left, right)
    if found is None:
        return "incomparable", f"the repository does not know both {left} and {right}"
    return found, f"history: {left}, {right}"


def _heed_history(verdict: Verdict, one: Values, other: Values, ancestry: Ancestry | None) -> Verdict:
    """A day written in a tag is somebody's word; where the commits are known and say otherwise nothing is ordered."""
    left, right = one.get("commit"), other.get("commit")
    if ancestry is None or verdict[0] not in _TURNED or left is None or right is None:
        return verdict
    if ancestry(str(left), str(right)) == _TURNED[verdict[0]]:
        return "incomparable", f"{verdict[1]}, but the history says the opposite"
    return verdict


def _calendar(version: Version) -> int:
    """How a version counts: 0 by releases, 4 by years (`2025.10`), 8 by days (`20251103.1`). `2.0` is not older than `2025.1`."""
    digits = str(version.major)
    return len(digits) if len(digits) in (4, 8) and digits.startswith(("19", "20")) else 0


def _version(values: Values) -> Version | None:
    """PEP 440's order: dev builds, then alphas, betas and candidates, then the release, then its repairs."""
    if "version" not in values:
        return None
    pre = "".join(f"{sign}{values[name]}" for name, sign in _EARLY if name in values)
    post = f".post{values['post']}" if "post" in values else ""
    dev = f".dev{values['dev']}" if "dev" in values else ""
    return _pep440(f"{values['version']}{pre}{post}{dev}")


@lru_cache(maxsize=8192)
def _pep440(text: str) -> Version:
    """Read once: a tag is compared with many."""
    return Version(text)


def _agree(name: str, one: Values, other: Values) -> bool:
    left, right = one.get(name), other.get(name)
    if left is None or right is None or left == right:
        return left == right
    if name not in ("cuda", "rocm"):
        return False
    # `cu13` is `cu13.0.1` said less exactly; 12.9 and 13.0, or 7.2.2 and 7.2.4, are two platforms.
    shorter, longer = sorted((str(left).split("."), str(right).split(".")), key=len)
    return longer[: len(shorter)] == shorter
