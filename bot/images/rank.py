"""Tags of one repository, each read once, ordered against the one that runs now and among themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bot.images.schemes import CUSTOM, LABELS
from bot.images.tags import Ancestry, Scheme, TagFields, Verdict, fields, order, unlike

_LABELS = frozenset(LABELS)
# Tags that are kept read: the recipes of one repository ask about the same thousands, one after the other.
_KEPT = 32_768
# Tags that stand foremost side by side and are told apart; with more of them nothing is chosen all the same.
_HEADS = 16


@lru_cache(maxsize=_KEPT)
def _fields(tag: str, schemes: tuple[Scheme, ...]) -> TagFields:
    return fields(tag, schemes)


class Rank:
    """`against` tells how each tag stands to the current one; `free` names labels that may differ from it."""

    def __init__(self, current: str, tags: Iterable[str], schemes: Iterable[Scheme], ancestry: Ancestry | None,
                 free: frozenset[str]) -> None:
        self._schemes, self._ancestry, self._free = tuple(schemes), ancestry, free
        self.current = _fields(current, self._schemes)
        self.told: Mapping[str, TagFields] = {tag: _fields(tag, self._schemes) for tag in sorted(set(tags))}
        self.against: Mapping[str, Verdict] = {tag: order(told, self.current, ancestry, free=free)
                                               for tag, told in self.told.items()}

    def among(self, one: str, other: str) -> Verdict:
        """How two tags stand to each other whose labels were held to the current tag's: `cu13` may be followed by `cu13.0`
        and by `cu13.1`, and then the later build of the two is the later one."""
        return order(self._read(one), self._read(other), self._ancestry, free=_LABELS)

    def newer(self) -> tuple[str, ...]:
        """The tags newer than the current one, sorted."""
        return tuple(tag for tag, (found, _) in self.against.items() if found == "newer")

    def unordered(self) -> tuple[str, ...]:
        """The tags with the current one's labels that still have no order against it, sorted."""
        return tuple(tag for tag, (found, _) in self.against.items() if found == "incomparable" and self._one_line(tag))

    def like_current(self, tag: str) -> bool:
        """Whether every label is the current tag's own."""
        return _labels(self.told[tag]).fields == _labels(self.current).fields

    def heads(self, tags: Sequence[str]) -> tuple[str, ...]:
        """The tags that no other one is newer than; one alone is newer than every other. Of many without an order among
        themselves the first few: a repository with thousands of builds of one day has no winner either way."""
        rest, found = list(tags), list[str]()
        while rest and len(found) < _HEADS:
            best = rest[0]
            for tag in rest[1:]:
                best = tag if self.among(tag, best)[0] == "newer" else best
            found.append(best)
            rest = [tag for tag in rest if tag != best and self.among(tag, best)[0] != "older"]
        foremost = [tag for tag in found if all(self.among(tag, other)[0] != "older" for other in found)]
        return tuple(sorted(foremost or found))  # a history that runs in a circle has no foremost, and so no winner

    def _one_line(self, tag: str) -> bool:
        told = self.told[tag]
        if CUSTOM in (told.scheme, self.current.scheme):
            return False
        return unlike(told, self.current, self._free) is None

    def _read(self, tag: str) -> TagFields:
        return self.told.get(tag) or _fields(tag, self._schemes)


def _labels(told: TagFields) -> TagFields:
    return TagFields(tag=told.tag, scheme=told.scheme, fields={n: v for n, v in told.fields.items() if n in _LABELS})
