"""Other people's open work in memory, and how a head would merge."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bot.errors import Missing
from bot.model.preflight import Merge, Work


class NeighboursHere:
    """Satisfies Neighbours. `merge` None: git cannot tell."""

    def __init__(self, work: Sequence[Work] = (), merge: Merge | None = None) -> None:
        self._work, self._merge = tuple(work), merge

    def work(self) -> Sequence[Work]:
        return self._work

    def merge(self, head: str, base: str) -> Merge:
        if self._merge is None:
            raise Missing("git here cannot merge trees", "use git 2.38 or newer")
        return replace(self._merge, head=head, base=base)
