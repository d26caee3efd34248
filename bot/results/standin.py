"""Rows made of single requests beside rows that a tool made of the same requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.errors import BadInput
from bot.model.result import Row

_SAME = ("ttft", "itl", "e2el", "intvty", "profiled_requests")
"""What both make in one way. Rates are not among them: a summary divides by a time that no request tells."""
_ROUNDED = 1e-6


def stand_in(
    requests: Mapping[str, Sequence[Row]], raw: Mapping[str, Sequence[Row]], other: Iterable[Row]
) -> list[tuple[Row, str]]:
    """The rows of request exports (by file) at those concurrencies at which nothing else tells of a measurement.

    `raw` are the rows of the load generator's summaries by file. Where one lies in the folder of an export the two must
    agree: BadInput says which value does not, for then one of them is of another run, or was cut short.
    """
    for name, rows in requests.items():
        for summary, theirs in raw.items():
            if summary.rpartition("/")[0] == name.rpartition("/")[0]:
                _agree(rows, name, theirs, summary)
    known = {row.point.concurrency for rows in (*raw.values(), list(other)) for row in rows if row.metric != "eval"}
    return [(row, name) for name, rows in requests.items() for row in rows if row.point.concurrency not in known]


def _agree(rows: Sequence[Row], name: str, theirs: Sequence[Row], summary: str) -> None:
    told = {(row.metric, row.stat): row.value for row in theirs if row.metric in _SAME}
    for row in rows:
        value = told.get((row.metric, row.stat), row.value)
        if abs(value - row.value) > _ROUNDED * abs(row.value):
            what = " ".join(filter(None, (row.metric, row.stat)))
            raise BadInput(f"{what} of its requests is {row.value:g}, but {summary} says {value:g}",
                           "one of them is of another run or was cut; give the files of one attempt", file=name)
