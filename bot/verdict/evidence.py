"""The comparison as people read it: old, new and difference of every metric at every point.

Values stay unrounded in the record; the percentage is computed from them and rounded once, at the end. From the rounded
917.3 and 971.0 the seed's +5.8% would read +5.9%.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal

from msgspec import Struct

from bot.model.lines import Cell, Line, Table
from bot.model.result import Row
from bot.results.metrics import Metric, Metrics
from bot.verdict.pairs import canonical

COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty")
NOT_AVAILABLE = "N/A"
NO_BASELINE, NOT_MEASURED = "no-baseline", "not-measured"
_MEAN = "mean"


class Shown(Struct, frozen=True, kw_only=True):
    """One cell as text. `mark` says whether the change is good; it has nothing to do with whether it is significant."""

    old: str
    new: str
    delta: str
    mark: Literal["better", "worse", "same", "none"]
    missing: str | None = None


def table(
    new: Sequence[Row],
    baseline: Sequence[Row],
    concurrencies: Sequence[int],
    *,
    metrics: Metrics,
    columns: Sequence[str] = COLUMNS,
) -> Table:
    """A line for every concurrency asked for, measured or not, and a cell for every column either side has.

    A column is a metric, or `metric:mean` where only means exist on both sides; the header then says so. Several
    baseline runs are shown by their median, several runs of the new image by the newest.
    """
    mine, theirs = canonical(new, metrics), canonical(baseline, metrics)
    headings = [heading for column in columns if (heading := _heading(metrics[column], mine, theirs)) is not None]
    lines = tuple(
        Line(concurrency=conc, cells=tuple(_cell(heading, conc, mine, theirs, metrics) for heading in headings))
        for conc in concurrencies
    )
    runs = tuple(sorted({row.run for row in mine if row.run is not None}))
    old_runs = sorted({row.run for row in theirs if row.run is not None and row.metric != "eval"})
    return Table(metrics=tuple(headings), lines=lines, runs=runs, baseline_run=old_runs[-1] if old_runs else None)


def shown(cell: Cell, metrics: Metrics, *, brief: bool = False) -> Shown:
    """A cell's texts. A side that is absent reads N/A, and so does the difference; `missing` has the reason."""
    metric = metrics[cell.metric.partition(":")[0]]
    old, new = (NOT_AVAILABLE if value is None else amount(value, metric, brief=brief) for value in (cell.old, cell.new))
    if cell.old is None or cell.new is None:
        return Shown(old=old, new=new, delta=NOT_AVAILABLE, mark="none", missing=cell.missing)
    return Shown(old=old, new=new, delta=difference(cell.old, cell.new, metric), mark=mark(cell.old, cell.new, metric))


def amount(value: float, metric: Metric, *, brief: bool = False) -> str:
    """The value with the decimals people read it in; `brief` for the narrow table."""
    decimals = metric.brief if brief and metric.brief is not None else metric.decimals
    return f"{value:.{decimals}f}"


def difference(old: float, new: float, metric: Metric) -> str:
    """`+4.2%`, for counts `+2`, for shares `-16.1 pp`; N/A where nothing can be divided by."""
    if metric.delta == "difference":
        return signed(new - old, metric.decimals)
    if metric.delta == "points":
        return f"{signed(100 * (new - old), 1)} pp"
    return percent(new / old - 1) if old else NOT_AVAILABLE


def percent(fraction: float) -> str:
    """A fraction as a signed percentage with one decimal."""
    return f"{signed(100 * fraction, 1)}%"


def signed(value: float, decimals: int) -> str:
    """With its sign, but no `-0.0`: what rounds to nothing has none."""
    text = f"{value:+.{decimals}f}"
    return text[1:] if float(text) == 0 else text


def rate(part: int, whole: int) -> str:
    """`1 / 233 (0.43%)`, `7 / 241 (2.9%)`: two decimals below one percent."""
    if not whole:
        return f"{part} / 0"
    share = 100 * part / whole
    return f"{part} / {whole} ({share:.{2 if 0 < share < 1 else 1}f}%)"


def mark(old: float, new: float, metric: Metric) -> Literal["better", "worse", "same", "none"]:
    """Which way the value moved, as the metric sees it; `none` for metrics that have no good side."""
    if metric.sign == 0:
        return "none"
    if old == new:
        return "same"
    return "better" if (new - old) * metric.sign > 0 else "worse"


def _heading(metric: Metric, new: Sequence[Row], old: Sequence[Row]) -> str | None:
    have = [{row.stat for row in rows if row.metric == metric.id} for rows in (new, old)]
    if metric.stat is None:
        return metric.id if have[0] or have[1] else None
    if metric.stat in have[0] & have[1] or _MEAN not in have[0] & have[1]:
        return metric.id if metric.stat in have[0] | have[1] else (f"{metric.id}:{_MEAN}" if _MEAN in have[0] | have[1] else None)
    return f"{metric.id}:{_MEAN}"


def _cell(heading: str, conc: int, new: Sequence[Row], old: Sequence[Row], metrics: Metrics) -> Cell:
    name, _, stat = heading.partition(":")
    key = (name, stat or metrics[name].stat, conc)
    mine = [row for row in new if (row.metric, row.stat, row.point.concurrency) == key]
    theirs = [row.value for row in old if (row.metric, row.stat, row.point.concurrency) == key]
    newest = max((row.run or 0, row.attempt or 0) for row in mine) if mine else None
    value = median(row.value for row in mine if (row.run or 0, row.attempt or 0) == newest) if mine else None
    missing = NO_BASELINE if not theirs else NOT_MEASURED if value is None else None
    return Cell(metric=heading, old=median(theirs) if theirs else None, new=value, missing=missing)
