"""The known repairs as data (`knowledge/repairs.yaml`): for which signature, guarded by what, doing what, with examples."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from msgspec import Struct, field

from bot import strict
from bot.errors import BadInput
from bot.model.text import Text

Scalar = str | int | float | bool
Where = Literal["linked", "own"]
Cost = Literal["smoke", "smoke+sweep"]


class Guard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must stand in the file: at `path` (`*` for any key) the value `equals`, a number `above`, or anything."""

    path: str
    equals: Scalar | None = None
    above: float | None = None

    def holds(self, text: str) -> bool:
        if self.above is not None:
            number = _number(text)
            return number is not None and number > self.above
        return self.equals is None or same(text, self.equals)


class Edit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to do in a file of one role where all guards hold; `*` in a path is what it was in the first guard.

    `bump` sets all its paths to one upstream fact, together or not at all.
    """

    where: Where
    guard: Guard
    also: tuple[Guard, ...] = ()
    drop: tuple[str, ...] = ()
    set: dict[str, Scalar] = {}
    bump: dict[str, tuple[str, ...]] = {}


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the value of an upstream fact comes from: the first commit after the pin at `pinned` that is this pull request's."""

    repository: str
    pull: int
    pinned: str
    branch: str = "main"


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    before: str
    after: str
    facts: dict[str, str] = {}


class Repair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One known repair. `refusal` says why one that is out of scope is not made, and who may decide otherwise."""

    id: str
    for_: tuple[str, ...] = field(name="for")
    why: Text
    serving_path_changed: bool = False
    scope: Literal["in", "out"] = "in"
    cost: Cost = "smoke"
    requires: tuple[str, ...] = ()
    upstream: dict[str, Source] = {}
    edits: tuple[Edit, ...] = ()
    examples: tuple[Example, ...] = ()
    refusal: Text | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    repairs: tuple[Repair, ...]


def load(text: str, file: str, signatures: Set[str]) -> tuple[Repair, ...]:
    """The repairs of a YAML text, in order of preference; `signatures` are the ids they may be for."""
    repairs = strict.load(_File, text, file=file).repairs
    seen: set[str] = set()
    for index, repair in enumerate(repairs):
        problem = _problem(repair, seen, signatures)
        if problem:
            line = strict.parse(text, file=file)[1].get(("repairs", index))
            raise BadInput(problem, "mend the entry", file=file, line=line, key=f"repairs.{repair.id}")
        seen.add(repair.id)
    return repairs


def _problem(repair: Repair, seen: set[str], signatures: Set[str]) -> str:
    unknown = [name for name in repair.for_ if name not in signatures]
    checks = (
        (repair.id in seen, "this id stands twice"),
        (bool(unknown), f"no such signature: {', '.join(unknown)}"),
        (not repair.for_, "it is for no signature"),
        (
            (repair.scope == "out") != (repair.refusal is not None),
            "a repair out of scope needs a refusal, one in scope has none",
        ),
        ((repair.scope == "in") != bool(repair.edits), "a repair in scope has edits, one out of scope has none"),
        (repair.scope == "in" and not repair.examples, "it carries no example"),
    )
    return next((reason for wrong, reason in checks if wrong), "")


def same(text: str, wanted: Scalar) -> bool:
    """Whether a scalar's text says a value: numbers by value (0.9 is 0.90), truth by word, text by text."""
    if isinstance(wanted, bool):
        return text.lower() == str(wanted).lower()
    if isinstance(wanted, (int, float)):
        return _number(text) == wanted
    return text == wanted


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
