"""What is known of each metric (knowledge/metrics.yaml) as records, and the one spelling rows are compared in.

People and files write the same quantity in many ways (`median_ttft`, `ttft_mean_ms`, `out_tput_per_gpu`); a comparison
of seconds with milliseconds is a thousandfold regression, so every row passes `canonical` before anything is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct, structs

from bot.errors import BadInput
from bot.model.result import Row
from bot.model.text import Text
from bot.strict import load

Direction = Literal["up", "down", "none"]
STATS = {"median": "p50", "avg": "mean", "average": "mean"}
_STAT = r"(?P<stat>mean|median|avg|std|min|max|p\d{1,2}(?:\.\d+)?)"
_PREFIXED = re.compile(rf"{_STAT}_(?P<name>[a-z0-9_]+?)(?:_(?P<unit>s|ms))?")
_SUFFIXED = re.compile(rf"(?P<name>[a-z0-9_]+?)_{_STAT}(?:_(?P<unit>s|ms))?")
_BARE = re.compile(r"(?P<name>[a-z0-9_]+?)(?:_(?P<unit>s|ms))?")


class Floor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Noise that pairs of runs have shown for one statistic or kind of workload, with how many pairs and where they are from."""

    sigma: float
    tau: float
    pairs: int
    source: str
    stat: str | None = None
    workload: str | None = None


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of metrics.yaml; the file's head says what each key means."""

    id: str
    unit: str
    direction: Direction
    decimals: int
    name: Text
    brief: int | None = None
    stat: str | None = None
    delta: Literal["ratio", "difference", "points"] = "ratio"
    margin: float | None = None
    sigma: float | None = None
    tau: float | None = None
    floors: tuple[Floor, ...] = ()
    primary: str | None = None
    rank: int = 0
    judged: bool = False
    spellings: tuple[str, ...] = ()

    @property
    def sign(self) -> int:
        """+1 when more is better, -1 when less is, 0 when neither."""
        return {"up": 1, "down": -1, "none": 0}[self.direction]


class Conversion(Struct, frozen=True, kw_only=True, rename={"source": "from"}, forbid_unknown_fields=True):
    source: str
    to: str
    factor: float


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    metrics: tuple[Metric, ...]
    units: tuple[Conversion, ...] = ()


class Metrics(Mapping[str, Metric]):
    """All metrics by id, and the spellings that lead to them."""

    def __init__(self, metrics: Iterable[Metric], units: Iterable[Conversion] = ()) -> None:
        self._by_id = {metric.id: metric for metric in metrics}
        self._names = {name: metric for metric in self._by_id.values() for name in (metric.id, *metric.spellings)}
        self._factors = {(unit.source, unit.to): unit.factor for unit in units}

    def __getitem__(self, metric: str) -> Metric:
        return self._by_id[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def group(self, primary: str) -> tuple[Metric, ...]:
        """The metrics of one primary, first choice first."""
        return tuple(sorted((m for m in self.values() if m.primary == primary), key=lambda metric: metric.rank))

    @property
    def primaries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(metric.primary for metric in self.values() if metric.primary))

    def spelled(self, written: str, stat: str | None = None, unit: str | None = None) -> tuple[Metric, str | None, str] | None:
        """The metric, statistic and unit a written name stands for; None for a name nobody declared."""
        for pattern in (_BARE, _PREFIXED, _SUFFIXED):
            found = pattern.fullmatch(written)
            metric = self._names.get(found["name"]) if found else None
            if found and metric:
                named = found.groupdict()
                stat = stat or named.get("stat")
                return metric, STATS.get(stat or "", stat or metric.stat), unit or named["unit"] or metric.unit
        return None

    def factor(self, unit: str, metric: Metric) -> float | None:
        """What a value in `unit` is multiplied with to be in the metric's own; None when they do not fit."""
        return 1.0 if unit == metric.unit else self._factors.get((unit, metric.unit))

    def canonical(self, row: Row) -> Row:
        """The row in canonical metric, statistic and unit. A metric nobody declared stays as it is.

        Raises BadInput for a unit that does not belong to the metric: guessing would turn 15 ms into 15 s.
        """
        if row.metric == "eval":
            return row
        found = self.spelled(row.metric, row.stat, row.unit or None)
        if found is None:
            return row
        metric, stat, unit = found
        factor = self.factor(unit, metric)
        if factor is None:
            raise BadInput(
                f"{row.metric} in {unit} at concurrency {row.point.concurrency}",
                f"give it in {metric.unit}",
                key="unit",
            )
        return structs.replace(row, metric=metric.id, stat=stat, unit=metric.unit, value=row.value * factor)


def parse(text: str | bytes, *, file: str = "metrics.yaml") -> Metrics:
    """metrics.yaml as records. Two metrics that answer to one name are refused: a row could mean either."""
    loaded = load(_File, text, file=file)
    seen: dict[str, str] = {}
    for metric in loaded.metrics:
        for name in (metric.id, *metric.spellings):
            if name in seen:
                raise BadInput(f"{name} names both {seen[name]} and {metric.id}", "keep one", file=file, key=metric.id)
            seen[name] = metric.id
    return Metrics(loaded.metrics, loaded.units)
