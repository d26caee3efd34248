"""What every parser takes and gives. A parser is a module with `FORMAT`, `sniff` and `parse`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Literal, Protocol, TypeVar

from msgspec import Struct

from bot.model.result import Accounting, Cell, Reliability, Reported, Row, Samples
from bot.results.lines import Line

T = TypeVar("T")
UNKNOWN = 0
"""The concurrency of a point whose file does not tell it; `collect` finds it beside the file or says it cannot."""

GUEST, GENERATOR, REQUESTS, SUMMED = 0, 1, 2, 3
"""Who made a row: the guest's own script, the load generator, we of its single requests, or the generator's summary over its
own runs.

At one point only the first of these that is there counts: the same measurement must not weigh twice.
"""


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

    def whose(self, line: Line | None) -> str:
        """The recipe's name, or where nobody gave one that of its line."""
        return self.recipe or (line.name if line else "")

    def cell(self, concurrency: int | None, workload: str | None = None, *, line: Line | None = None, **told: str | None) -> Cell:
        """The point of this recipe (or line) at a concurrency; None is not known."""
        return Cell(recipe=self.whose(line), concurrency=concurrency or UNKNOWN, workload=workload, **told)

    def row(self, point: Cell, metric: str, value: float, unit: str, **told: Any) -> Row:
        """A row with what this context knows."""
        return Row(point=point, metric=metric, value=value, unit=unit, run=self.run, attempt=self.attempt, head=self.head, **told)


class Tally(Struct, frozen=True, kw_only=True):
    """What the answers of a file say of one score: `share` is their mean under the filter that a row calls `stat`; `row` the
    score itself, for where no other file tells it."""

    task: str
    stat: str
    n: int
    share: float
    row: Row


class Parsed(Struct, frozen=True, kw_only=True):
    """What one file says. `concurrency` is a fact about the files beside it (an export knows its own load).

    `measurement` is the name that the load generator gave its own run: two files with one name tell of one measurement,
    two names are two measurements, also at one point. `client` is the concurrency of the tool that wrote the file, believed
    where nothing beside it says another. `nothing` is why the file, though read, gave nothing; `report` how the run of `bench`
    ended that filled the folder which the file lies in.
    """

    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    tallies: tuple[Tally, ...] = ()
    reported: tuple[Reported, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    lines: tuple[Line, ...] = ()
    concurrency: int | None = None
    client: int | None = None
    rank: int = GUEST
    measurement: str = ""
    nothing: Literal["", "not-a-result", "nothing-measured", "says-nothing", "partial-run"] = ""
    report: Literal["", "running", "complete", "partial", "refused"] = ""


class Parser(Protocol):
    FORMAT: str

    def sniff(self, head: bytes, name: str) -> bool: ...

    def parse(self, stream: BinaryIO, name: str, context: Context) -> Parsed: ...


def has(head: bytes, *keys: str) -> bool:
    """Whether each of these JSON keys stands in the head of a file."""
    return all(f'"{key}"'.encode() in head for key in keys)


def any_of(head: bytes, *keys: str) -> bool:
    """Whether one of these JSON keys stands in the head of a file."""
    return any(has(head, key) for key in keys)


def elements(value: Any) -> list[tuple[str, Any]]:
    """One row or a list of them, each with the key that names its place."""
    return [(f"[{index}]", item) for index, item in enumerate(value)] if isinstance(value, list) else [("", value)]


def at(key: str, inner: str) -> str:
    """The path of a key inside an element."""
    return f"{key}.{inner}".strip(".")
