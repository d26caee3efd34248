"""Requests of several measurements of one point, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import structs

from bot.model.result import Accounting


def add(one: Accounting | None, other: Accounting) -> Accounting:
    """Both together. Conversations stay known only where both sides counted them."""
    if one is None:
        return other
    known = one.conversations is not None and other.conversations is not None
    return structs.replace(
        one,
        total=one.total + other.total,
        profiled=one.profiled + other.profiled,
        warmup_invalid=one.warmup_invalid + other.warmup_invalid,
        profiling_invalid=one.profiling_invalid + other.profiling_invalid,
        conversations=(one.conversations or 0) + (other.conversations or 0) if known else None,
        conversations_invalid=(one.conversations_invalid or 0) + (other.conversations_invalid or 0) if known else None,
        kinds=dict(sorted((Counter(one.kinds) + Counter(other.kinds)).items())),
    )


def total(accounts: Iterable[Accounting]) -> tuple[Accounting, ...]:
    """One count a recipe and concurrency: several measurements of one point are one answer to how often it fails."""
    known: dict[tuple[str, int], Accounting] = {}
    for one in accounts:
        known[one.recipe, one.concurrency] = add(known.get((one.recipe, one.concurrency)), one)
    return tuple(known[key] for key in sorted(known))
