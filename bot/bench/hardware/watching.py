"""What the GPUs do while they are loaded: a thread that asks the vendor's tool every few seconds, and never disturbs anything."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType

from bot.bench.hardware import amd, nvidia
from bot.bench.hardware.told import number, whole
from bot.bench.host import Host
from bot.model.bench import Hardware, Strain

EVERY_S, LIMIT_S, JOIN_S = 5.0, 4.0, 0.5
MISSED = 3
"""A tool that failed so often one after another is not asked again: each call of one that hangs costs its limit."""
Sample = tuple[int, int | None, float | None, float | None, list[str] | None]


@dataclass
class _Seen:
    samples: int = 0
    clocks: list[int] = field(default_factory=list)
    hottest: float | None = None
    power: float | None = None
    throttled: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Watch:
    """Samples clocks, temperature, power and throttling between `with` and its end; `strain` is what they come to. Where the
    facts name no GPU nothing is asked; `only` are the numbers of those that count (None: all). It never raises, and its end waits
    for no tool."""

    def __init__(self, host: Host, facts: Hardware, *, only: Collection[int] | None = None, every_s: float = EVERY_S) -> None:
        self._only = only
        self._host, self._every_s, self._over = host, every_s, threading.Event()
        self._lock, self._seen = threading.Lock(), defaultdict[int, _Seen](_Seen)
        self._ask = _source(host) if facts.gpus else None
        self._thread = threading.Thread(target=self._run, name="hardware", daemon=True)

    def __enter__(self) -> Watch:
        if self._ask is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(JOIN_S)

    @property
    def strain(self) -> tuple[Strain, ...]:
        """So far, a GPU that was sampled each."""
        with self._lock:
            return tuple(Strain(
                index=index, samples=seen.samples, clock_low=min(seen.clocks, default=None),
                clock_high=max(seen.clocks, default=None), hottest=seen.hottest, power=seen.power, throttled=dict(seen.throttled))
                for index, seen in sorted(self._seen.items()))

    def _run(self) -> None:
        missed = 0
        while missed < MISSED and not self._over.is_set():
            try:
                found = self._ask() if self._ask else None
            except Exception:  # a measurement is not lost because its thermometer broke
                found = None
            missed = 0 if found is not None else missed + 1
            for sample in found or ():
                self._add(sample)
            self._over.wait(self._every_s)

    def _add(self, sample: Sample) -> None:
        index, clock, heat, power, reasons = sample
        if self._only is not None and index not in self._only:
            return
        with self._lock:
            seen = self._seen[index]
            seen.samples += 1
            if clock is not None:
                seen.clocks = [min([clock, *seen.clocks]), max([clock, *seen.clocks])]
            seen.hottest, seen.power = _higher(seen.hottest, heat), _higher(seen.power, power)
            for reason in reasons or ():
                seen.throttled[reason] += 1


def _higher(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _source(host: Host) -> Callable[[], list[Sample] | None] | None:
    if host.programs.found(nvidia.TOOL):
        return lambda: _of_nvidia(host)
    if host.programs.found(amd.NEW) or host.programs.found(amd.OLD):
        return lambda: amd.sampled(host, LIMIT_S)
    return None


def _of_nvidia(host: Host) -> list[Sample] | None:
    """Tried with either name of the throttling's field, then without: what a driver does not know ends the whole query."""
    for field_ in (*nvidia.REASONS, None):
        rows, why = nvidia.query(host, (*nvidia.SAMPLED, *((field_,) if field_ else ())), LIMIT_S)
        if rows is not None:
            return [(whole(row["index"]) or 0, whole(row["clocks.sm"]), number(row["temperature.gpu"]), number(row["power.draw"]),
                     nvidia.reasons(row[field_]) if field_ else None) for row in rows]
        if "valid field" not in why:
            return None
    return None
