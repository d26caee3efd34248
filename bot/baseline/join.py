"""The baselines of a family's recipes as one: what each measured stays its own, told apart by the recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import structs

from bot.model.result import Absent, Accounting, Baseline, Samples

T = TypeVar("T", Accounting, Samples)


def join(found: Mapping[str, Baseline], absent: Sequence[Absent] = ()) -> Baseline | None:
    """One baseline for recipes that move together, by recipe, the leading one first: its date, run and head speak for all,
    since the recipes of a family are measured in one sweep. None when there is none at all.

    A recipe that is absent has no rows here, so nothing of it can be judged; `absent` are the points of those.
    """
    if not found:
        return None
    lead, *_ = found.values()
    return structs.replace(
        lead,
        rows=tuple(row for one in found.values() for row in one.rows),
        accounting=_named([(key, one.accounting) for key, one in found.items()]),
        samples=_named([(key, one.samples) for key, one in found.items()]),
        notes=tuple(dict.fromkeys(note for one in found.values() for note in one.notes)),
        absent=(*(point for one in found.values() for point in one.absent), *absent),
        thresholds={task: value for one in reversed(found.values()) for task, value in one.thresholds.items()},
    )


def _named(parts: Sequence[tuple[str, Sequence[T]]]) -> tuple[T, ...]:
    return tuple(structs.replace(part, recipe=key) for key, held in parts for part in held)
