"""Measurements that are not of what they claim to be: a server still compiling, another workload, answers cut short.

Each doubt becomes a flag on the rows of its point (`cold-run`, `workload-mismatch`), so that one doubtful measurement is
left out where there is a sound one, and stands as the reason where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from bot.model.result import Cell, Finding, Row
from bot.results.metrics import Metrics
from bot.verdict.pairs import Index, counterpart, identity, index
from bot.verdict.statistics import fraction, log_ratio
from bot.verdict.words import BLOCKING, word

COLD_TAIL = 2.0
"""TTFT's tail over its median at one user: at most 1.1 in warm runs, above 2 in five of five cold ones."""
TAILS = ("p99", "p95", "p90")
LENGTHS = ("input_tokens", "output_tokens")
COUNTED = (*LENGTHS, "profiled_requests")
SAME = math.log(1.01)
"""Tokens a request, and requests, within one percent are the same work."""
SAMPLED = math.log(1.05)
"""An agentic session's output is sampled, not ordered: its mean moves by itself, but not by a twentieth."""
SHORTENED = 0.25
"""Requests counted over rate is the time measured: a quarter off (log units) is another kind of run, such as a fast one."""


def doubted(rows: Sequence[Row], baseline: Sequence[Row]) -> tuple[Row, ...]:
    """The rows, with the flags that comparing them with the baseline gives. What a parser found wrong with one row of a
    point (its first requests were slow) is wrong with all rows of that point and run. Runs are looked at one by one."""
    if not any(row.flags or row.metric in COUNTED or row.stat in TAILS for row in rows):
        return tuple(rows)
    runs: dict[tuple[int | None, int | None], list[Row]] = {}
    for row in rows:
        runs.setdefault((row.run, row.attempt), []).append(row)
    old = index(baseline)
    flags = {(point, run): words for run, part in runs.items() for point, words in _flags(part, old).items()}
    if not flags:
        return tuple(rows)
    return tuple(
        structs.replace(row, flags=tuple(dict.fromkeys((*row.flags, *flags[key]))))
        if row.metric != "eval" and (key := (identity(row.point), (row.run, row.attempt))) in flags else row
        for row in rows
    )  # fmt: skip


def chilled(baseline: Sequence[Row], rows: Sequence[Row]) -> tuple[Row, ...]:
    """The baseline, its runs flagged whose single-user point met a server that was not warm: the candidate looks fast then.
    By the last percent alone, which a published row seldom has: of agentic sessions the tail is their longest prompts."""
    if not any(row.stat == TAILS[0] for row in baseline):
        return tuple(baseline)
    runs: dict[tuple[int | None, int | None], list[Row]] = {}
    for row in baseline:
        runs.setdefault((row.run, row.attempt), []).append(row)
    new = index(rows)
    cold = {(point, run) for run, part in runs.items() for point in cold_starts(index(part), new, TAILS[:1])}
    return tuple(structs.replace(row, flags=(*row.flags, "cold-run"))
                 if row.metric != "eval" and (identity(row.point), (row.run, row.attempt)) in cold else row for row in baseline)


def _flags(rows: Sequence[Row], old: Index) -> dict[Cell, list[str]]:
    new = index(rows)
    flags: dict[Cell, list[str]] = {}
    for told, points in (("cold-run", cold_starts(new, old)), ("workload-mismatch", mismatched(new, old))):
        for point in points:
            flags.setdefault(point, []).append(told)
    for row in rows:
        if row.flags and row.metric != "eval":
            flags.setdefault(identity(row.point), []).extend(flag for flag in row.flags if word(flag) in BLOCKING)
    return {point: words for point, words in flags.items() if words}


def cold_starts(new: Index, old: Index, tails: Sequence[str] = TAILS) -> frozenset[Cell]:
    """Single-user points with a TTFT tail the baseline does not have: the first requests met a server still compiling."""
    for stat in tails:
        mine, theirs = _tails(new, stat), _tails(old, stat)
        if mine and theirs:
            return frozenset(
                point
                for point, tail in mine.items()
                if point.concurrency == 1
                and tail > COLD_TAIL
                and (found := counterpart(point, theirs)) is not None
                and theirs[found] <= COLD_TAIL
            )
    return frozenset()


def _tails(rows: Index, stat: str) -> dict[Cell, float]:
    """The newest tail of each point; several runs without a number of their own give the worst."""
    tail, middle = ({point: found[-1].value for point, found in rows.get(("ttft", one), {}).items()} for one in (stat, "p50"))
    return {point: tail[point] / middle[point] for point in tail if middle.get(point, 0.0) > 0}


def mismatched(new: Index, old: Index) -> frozenset[Cell]:
    """Points at which the two sides did not do the same work: tokens a request, or what the counts say of the time."""
    found = {point for point, metric, ratio in lengths(new, old) if abs(ratio) > _allowed(metric, point)}
    requests = _ratios(new, old, "profiled_requests", (None,))
    time = _ratios(new, old, "duration", (None,))
    rate = {}
    for metric in ("output_tput", "output_tput_per_gpu", "tput_per_gpu", "request_tput"):
        rate.update(_ratios(new, old, metric, (None,)))
    for point, ratio in requests.items():
        spent = time.get(point, ratio - rate[point] if point in rate else 0.0)
        if abs(ratio) > SAME and abs(spent) > SHORTENED:
            found.add(point)
    return frozenset(found)


def lengths(new: Index, old: Index) -> list[tuple[Cell, str, float]]:
    """(point, metric, log ratio) of the tokens a request read and wrote, wherever both sides tell them."""
    return [
        (point, metric, ratio)
        for metric in LENGTHS
        for point, ratio in _ratios(new, old, metric, ("mean", "p50")).items()
    ]


def findings(rows: Sequence[Row], baseline: Sequence[Row], metrics: Metrics) -> tuple[Finding, ...]:
    """What changed in the work itself, point by point. A server that writes less is faster and may be wrong: it is told
    and never judged good or bad."""
    new, old = (index(row for row in side if row.metric in LENGTHS) for side in (rows, baseline))
    made = []
    for point, metric, ratio in lengths(new, old):
        if abs(ratio) <= SAME or metric not in metrics:
            continue
        mine, theirs = _value(new, metric, point), _value(old, metric, point)
        made.append(
            Finding(metric=metric, point=point, baseline=theirs, new=mine, delta=fraction(ratio), unit=metrics[metric].unit,
                    finding="inconclusive" if abs(ratio) > _allowed(metric, point) else "neutral", recipe=point.recipe,
                    reasons=("workload-mismatch",) if abs(ratio) > _allowed(metric, point) else ())
        )  # fmt: skip
    return tuple(made)


def _allowed(metric: str, point: Cell) -> float:
    return SAMPLED if metric == "output_tokens" and (point.workload or "agentic").startswith("agentic") else SAME


def _value(rows: Index, metric: str, point: Cell) -> float | None:
    for stat in ("mean", "p50"):
        held = rows.get((metric, stat), {})
        if (found := counterpart(point, held)) is not None:
            return held[found][-1].value
    return None


def _ratios(new: Index, old: Index, metric: str, stats: Iterable[str | None]) -> Mapping[Cell, float]:
    made: dict[Cell, float] = {}
    for stat in stats:
        mine, theirs = new.get((metric, stat), {}), old.get((metric, stat), {})
        for point, rows in mine.items():
            found = counterpart(point, theirs) if theirs else None
            if found is not None and point not in made and (one := rows[-1].value) > 0 and (other := theirs[found][-1].value) > 0:
                made[point] = log_ratio(one, other, 1)
    return made
