"""What is published and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import BinaryIO, Protocol

from bot.model.baseline import Offer, Question
from bot.model.result import Filed


class Published(Protocol):
    def offer(self, question: Question) -> Offer:
        """What is published of a recipe with its present image, run by run, and what is published in its place. Nothing is
        chosen here. `BadInput` for a file of ours that does not hold."""
        ...


class Archive(Protocol):
    """Files kept for a bump where the ledger is, by name. The ledger itself holds their names, sizes and hashes."""

    def put(self, bump: str, filed: Filed, data: BinaryIO) -> None:
        """Keeps a file; nothing happens when it is there with the same bytes. `Conflict` when others are there under its name,
        `BadInput` when `data` is not what `filed` says."""
        ...

    def make(self, bump: str, name: str, fill: Callable[[BinaryIO], None]) -> Filed:
        """Keeps a file that `fill` writes into a stream of its own, which may be sought, and tells what was kept; the same again
        when it is there with the same bytes. `Conflict` when others are there under its name, `BadInput` when it is too large."""
        ...

    def held(self, bump: str) -> Mapping[str, Filed]:
        """What is kept of a bump, by name."""
        ...

    def read(self, bump: str, name: str, into: BinaryIO, limit: int) -> int:
        """Writes a kept file into another; bytes written. More than `limit` is a BadInput."""
        ...
