"""AIPerf's request export (`profile_export.jsonl`): one line a request, with its phase, its numbers and its error.

It is the only file that tells warm-up errors from profiling ones. A real run lost 10 of 11 warm-up requests and 1 of
233 measured ones; counted together that reads as an error rate of 4.5 % and would be wrong by a factor of ten.

The numbers are AIPerf's own (0.13) over the measured requests that went well, but for one thing: its summary divides by the
time of its profiling phase, which no line tells; here it is its `benchmark_duration`, from the first start to the last
answer, up to three per cent shorter in runs of a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import fsum
from statistics import median
from typing import BinaryIO

from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Row
from bot.results.aiperf.blocks import joined, read
from bot.results.aiperf.exported import Lines
from bot.results.aiperf.order import between, quantiles
from bot.results.parsed import REQUESTS, UNKNOWN, Context, Parsed, has

FORMAT = "aiperf-records"
COLD_TIMES, COLD_MS = 2.0, 250.0
"""How much slower than the rest a first wave must be, and by how much at least: in repeats of one configuration cold starts
cost 11 to 22 s before a first token of 0.15 s; opening the first connection alone costs 20 ms and doubles that of a small
model."""
_STATS, _SHARES = ("p50", "p75", "p90", "p95", "p99"), (0.5, 0.75, 0.9, 0.95, 0.99)


def sniff(head: bytes, name: str) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    # `profile_export_raw.jsonl` has the same requests with what was sent and answered: read as well, each would count twice.
    return first[:1] == b"{" and has(first, "metadata", "benchmark_phase") and not has(first, "start_perf_ns")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Requests by phase and end, and the numbers of the measured ones. `total` is every line; one that the client itself
    cancelled is neither kept nor invalid."""
    work = partial(read, name=name)
    told = joined((context.spread and context.spread(stream, work)) or (work(stream),))
    _once(told.said.ids, name)
    if told.fault:
        reason, hint, line, key = told.fault
        raise BadInput(reason, hint, file=name, line=line, key=key)
    if not told.said.total:
        raise BadInput("no requests", "the load generator wrote nothing", file=name)
    return Parsed(rank=REQUESTS, accounting=(_accounting(told.said),), rows=tuple(_rows(told.said, context)))


def _once(runs: Sequence[tuple[int, str]], name: str) -> None:
    """Refuses a request that stands twice, by the ids themselves: hashes that are equal by chance would refuse a good file."""
    seen, count = set[str](), 0
    for _, run in runs:
        ids = run.split("\n")
        count += len(ids)
        seen.update(ids)
        if len(seen) < count:
            raise _repeated(runs, name)


def _repeated(runs: Sequence[tuple[int, str]], name: str) -> BadInput:
    """The first line whose id an earlier line has."""
    seen = set[str]()
    places = ((first + offset, one) for first, run in runs for offset, one in enumerate(run.split("\n")))
    line = next(line for line, one in places if one in seen or seen.add(one))
    return BadInput("this request stands twice", "two exports were joined", file=name, line=line + 1, key="metadata.x_request_id")


def _accounting(whole: Lines) -> Accounting:
    return Accounting(
        concurrency=UNKNOWN,
        total=whole.total,
        profiled=whole.kept,
        warmup_invalid=whole.invalid["warmup"],
        profiling_invalid=whole.invalid["profiling"],
        conversations=len(whole.conversations),
        conversations_invalid=len(whole.broken),
        kinds=dict(sorted(whole.kinds.items())),
    )


def _rows(whole: Lines, context: Context) -> Iterator[Row]:
    """The numbers under the names and in the units of knowledge/metrics.yaml; TPOT is no measure of AIPerf's."""
    flags = ("cold-run",) if cold(whole) else ()
    for metric, stat, value, unit in (*_rates(whole), *_spreads(whole)):
        yield Row(point=Cell(recipe=context.recipe, concurrency=UNKNOWN), metric=metric, stat=stat, value=value, unit=unit,
                  n=whole.kept, run=context.run, attempt=context.attempt, head=context.head, flags=flags)


def _rates(whole: Lines) -> Iterator[tuple[str, None, float, str]]:
    if whole.kept:
        yield "profiled_requests", None, float(whole.kept), "requests"
    if whole.begun is None or whole.last is None or whole.last <= whole.begun:
        return
    seconds = (whole.last - whole.begun) / 1e9
    yield "request_tput", None, whole.kept / seconds, "req/s"
    if whole.osl is not None:
        yield "output_tput", None, whole.osl / seconds, "tok/s"
    if whole.isl is not None:
        yield "input_tput", None, whole.isl / seconds, "tok/s"
    if whole.osl is not None and whole.isl is not None:
        yield "total_tput", None, (whole.osl + whole.isl) / seconds, "tok/s"


def _spreads(whole: Lines) -> Iterator[tuple[str, str, float, str]]:
    """Interactivity is AIPerf's tokens per second and user: a second over each request's own gap between tokens."""
    for metric, values in (("ttft", whole.ttft), ("e2el", whole.latency)):
        if values:
            yield from _stats(metric, "s", 0.001, fsum(values) / len(values), quantiles(values, _SHARES))
    gaps = sorted(whole.itl)
    if gaps:
        yield from _stats("itl", "s", 0.001, fsum(gaps) / len(gaps), between(gaps.__getitem__, len(gaps), _SHARES))
    speeds = [1000 / gap for gap in reversed(gaps) if gap]
    if speeds:
        at = between(speeds.__getitem__, len(speeds), _SHARES)
        yield from _stats("intvty", "tok/s/user", 1.0, fsum(speeds) / len(speeds), at)


def _stats(metric: str, unit: str, scale: float, mean: float, at: Sequence[float]) -> Iterator[tuple[str, str, float, str]]:
    yield metric, "mean", mean * scale, unit
    for stat, value in zip(_STATS, at, strict=True):
        yield metric, stat, value * scale, unit


def cold(whole: Lines) -> bool:
    """Whether the run met a server that was not warm (STATS 2.4: the first wave against the rest, by start time).

    The first wave is what had started before the first measured request ended: as many requests as the load had users.
    Even the quickest of them must be slower than the median of the rest, by both limits, for the wave arrives at once: on a
    warm server most of a large one waits for the others' prompts too, and its median is no sign of anything.
    """
    wave = [first for start, first in whole.early if whole.first_end is not None and start < whole.first_end]
    if not wave or min(wave) - min(whole.ttft) <= COLD_MS:  # no rest can be that much quicker
        return False
    rest = list((Counter(whole.ttft) - Counter(wave)).elements())
    usual = median(rest) if rest else min(wave)
    return min(wave) > COLD_TIMES * usual and min(wave) - usual > COLD_MS
