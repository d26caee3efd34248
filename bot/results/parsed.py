"""What every parser takes and gives. A parser is a module with `FORMAT`, `sniff` and `parse`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Protocol, TypeVar

from msgspec import Struct

from bot.model.result import Accounting, Reported, Row, Samples

T = TypeVar("T")
UNKNOWN = 0
"""The concurrency of a point whose file does not tell it; `collect` finds it beside the file or says it cannot."""


class Spread(Protocol):
    """Work on a large stream by several processes: what each says of its part of whole lines, in their order. None where
    the stream cannot be cut (an archive's member) or is not worth it; then nothing was read."""

    def __call__(self, stream: BinaryIO, work: Callable[[BinaryIO], T]) -> Iterable[T] | None: ...


class Context(Struct, frozen=True, kw_only=True):
    """Where a file came from: facts that belong on every row and that the file itself may not know."""

    recipe: str
    run: int | None = None
    attempt: int | None = None
    head: str | None = None
    spread: Spread | None = None


class Parsed(Struct, frozen=True, kw_only=True):
    """What one file says. `concurrency` is a fact about the files beside it (an export knows its own load).

    `raw` rows are the load generator's own and give way to the row that a guest made from them for the same point.
    `requests` are rows that a parser made from single requests: they count where nothing else was made of these.
    """

    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    reported: tuple[Reported, ...] = ()
    concurrency: int | None = None
    raw: bool = False
    requests: tuple[Row, ...] = ()


class Parser(Protocol):
    FORMAT: str

    def sniff(self, head: bytes, name: str) -> bool: ...

    def parse(self, stream: BinaryIO, name: str, context: Context) -> Parsed: ...


def has(head: bytes, *keys: str) -> bool:
    """Whether each of these JSON keys stands in the head of a file."""
    return all(f'"{key}"'.encode() in head for key in keys)


def elements(value: Any) -> list[tuple[str, Any]]:
    """One row or a list of them, each with the key that names its place."""
    return [(f"[{index}]", item) for index, item in enumerate(value)] if isinstance(value, list) else [("", value)]
