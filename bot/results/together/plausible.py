"""What the numbers of one point must have to do with each other, whoever wrote them.

Only what holds for every honest tool is asked, so that rounding and clipped samples never refuse a file: a thousandfold
slip (milliseconds written as seconds) and statistics in the wrong place are what is caught.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.errors import BadInput
from bot.model.result import Row
from bot.results.read import LARGEST

_UNITS = ("s", "tok/s", "tok/s/user", "req/s")
"""Rows that people write may have other units, and only equal ones can be laid beside each other."""
TIMES = ("ttft", "itl", "tpot", "e2el")
_APART = 30.0
"""Far above any real spread between two views of one quantity, far below the factor of 1000 between ms and s."""
_BURSTS = 300.0
"""The same for a median gap and a median speed. Of few requests each median lies between two that may be bursts and not: a point of
four on a busy machine had 0.43 ms and 71,861 tok/s/user, and was called a slip of the unit. One of a thousand still shows."""
_ROUNDED = 1.1e-5
"""Twice half a unit of the fifth decimal, to which published seconds are rounded."""


def check(rows: Iterable[Row], name: str, key: str = "") -> None:
    """The rows of one file that are in canonical units; BadInput for the first point whose values contradict each other."""
    points: dict[tuple[object, ...], dict[tuple[str, str | None], float]] = {}
    for row in rows:
        if row.value > LARGEST:
            raise BadInput(f"{row.metric} {row.value:g} at concurrency {row.point.concurrency} is more than {LARGEST:g}",
                           "no benchmark measures that; look at the file's writer", file=name, key=key)
        if row.unit in _UNITS:
            points.setdefault((row.point, row.run, row.attempt, row.repeat), {})[row.metric, row.stat] = row.value
    for identity, told in points.items():
        concurrency = getattr(identity[0], "concurrency", 0)
        wrong = _unit(told, concurrency) or _disorder(told)
        if wrong:
            where = f" at concurrency {concurrency}" if concurrency else ""
            raise BadInput(f"{wrong[0]}{where}", wrong[1], file=name, key=key)


def _disorder(told: dict[tuple[str, str | None], float]) -> tuple[str, str] | None:
    for metric in TIMES:
        ordered = sorted((float(stat[1:]), value) for (known, stat), value in told.items()
                         if known == metric and stat and stat[:1] == "p" and stat[1:].replace(".", "", 1).isdigit())
        for (low, less), (high, more) in zip(ordered, ordered[1:], strict=False):
            if less > more * (1 + 1e-9) + _ROUNDED:
                return f"{metric} p{low:g} is {less:g}, above its p{high:g} {more:g}", "the statistics are mixed up"
    return None


def _unit(told: dict[tuple[str, str | None], float], concurrency: int) -> tuple[str, str] | None:
    hint = "milliseconds were written as seconds, or the other way round; correct the unit"
    speed = told.get(("intvty", "p50"))
    for metric in ("itl", "tpot"):
        gap = told.get((metric, "p50"))
        if gap and speed and not 1 / _BURSTS < gap * speed < _BURSTS:
            return f"{metric} p50 {gap:g} s does not fit {speed:g} tok/s/user", hint
    for stat in ("p50", "mean"):
        first, whole = told.get(("ttft", stat)), told.get(("e2el", stat))
        if first and whole and first > 2 * whole:
            return f"ttft {stat} {first:g} s is longer than the whole request, {whole:g} s", hint
    latency, rate = told.get(("e2el", "mean")), told.get(("request_tput", None))
    if concurrency and latency and rate and latency * rate > _APART * concurrency:
        return f"{rate:g} req/s of {latency:g} s each are {latency * rate:g} requests at once, not {concurrency}", hint
    whole, part = told.get(("total_tput", None)), told.get(("output_tput", None))
    if whole is not None and part is not None and whole < 0.9 * part:
        return f"{whole:g} tok/s in all are less than the {part:g} tok/s of output", "the rates are mixed up"
    return None
