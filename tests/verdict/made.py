"""Rows of the seed's bump and of invented curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.model.result import Cell, Row
from bot.results import load_metrics

METRICS = load_metrics((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text())
RECIPE = "kimik3-gb200"
UNITS = {
    "tput_per_gpu": "tok/s/GPU",
    "output_tput": "tok/s",
    "input_tput": "tok/s",
    "ttft": "s",
    "itl": "s",
    "intvty": "tok/s/user",
    "profiled_requests": "requests",
}
TIMED = {"ttft", "itl", "tpot", "intvty"}
NAMES = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty", "profiled_requests")

# The seed's tables: concurrency -> the six metrics above. 970.96 is what its 971.0 was rounded from.
PUBLISHED = {
    1: (917.30, 112.26, 2.158, 0.00448, 223.2, 232),
    2: (973.96, 131.38, 2.078, 0.00456, 219.3, 372),
    4: (1489.05, 164.49, 2.070, 0.00479, 208.8, 507),
    8: (2161.78, 220.23, 15.369, 0.00509, 196.5, 840),
    16: (2300.06, 236.18, 48.465, 0.00515, 194.2, None),
}
SWEPT = {
    1: (970.96, 117.4, 1.589, 0.00428, 233.6, 238),
    2: (1036.2, 142.9, 1.345, 0.00434, 230.5, 390),
    4: (1553.7, 170.4, 1.408, 0.00444, 225.3, 517),
    8: (2320.8, 244.7, 7.730, 0.00478, 209.1, 900),
}
SMOKE = {1: (955.51, 117.33, 1.587, 0.00433, 230.7, 234)}


def row(
    conc: int,
    metric: str,
    value: float,
    stat: str | None = None,
    *,
    unit: str | None = None,
    cell: Cell | None = None,
    **other: object,
) -> Row:
    stat = stat or ("p50" if metric in TIMED else None)
    return Row(
        point=cell or Cell(recipe=RECIPE, concurrency=conc),
        metric=metric,
        stat=stat,
        value=value,
        unit=unit or UNITS.get(metric, "s"),
        **other,
    )


def seed(table: Mapping[int, tuple[float | None, ...]], **other: object) -> list[Row]:
    return [
        row(conc, metric, value, **other)
        for conc, values in table.items()
        for metric, value in zip(NAMES, values, strict=True)
        if value is not None
    ]


def curve(factor: float = 1.0, concs: tuple[int, ...] = (1, 2, 4, 8, 16), **other: object) -> list[Row]:
    """A sweep that is `factor` times as good as the plain one in all three primaries."""
    return [
        row(conc, metric, value * (factor if metric == "tput_per_gpu" else 1 / factor), **other)
        for conc in concs
        for metric, value in (("tput_per_gpu", 900.0 + 50 * conc), ("ttft", 1.0 + 0.1 * conc), ("itl", 0.004))
    ]


def score(conc: int, correct: int, n: int = 1319, stat: str | None = "strict", task: str = "gsm8k", **other: object) -> Row:
    return Row(
        point=Cell(recipe=RECIPE, concurrency=conc),
        metric="eval",
        stat=stat,
        task=task,
        value=correct / n,
        n=n,
        unit="share",
        correct=correct,
        **other,
    )


SCORES = [
    score(2, 1077),
    score(4, 1054),
    score(16, 1071),
    score(2, 1199, stat="flexible"),
    score(4, 1191, stat="flexible"),
    score(16, 1196, stat="flexible"),
]
PUBLISHED_SCORES = [score(16, 1283), score(16, 1282, stat="flexible")]
