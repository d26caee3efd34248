"""The baseline as one value a point: what a table shows is what the verdict compares with."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from msgspec import structs

from bot.model.result import Row


def medians(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Each point's newest row with the median of its runs in place of its value (STATS.md section 4); evals as they are,
    since older runs' scores are not kept. A value of zero is none: it was not measured."""
    groups: dict[object, list[Row]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(number if row.metric == "eval" else (row.point, row.metric, row.stat), []).append(row)
    return tuple(
        one if one.metric == "eval" or not values else structs.replace(one, value=median(values))
        for one, values in ((group[0], [row.value for row in group if row.value > 0]) for group in groups.values())
    )
