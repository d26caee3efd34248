"""Curves of an invented 72B model on four H200, and how one measurement differs from the next.

Latencies are stated, throughput follows from them: a user waits for the first token, then for each of the others, and so
many users at a time share the GPUs. Every measurement is off by a little that its name decides, so that the same scenario
has the same bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

GPUS, INPUT, OUTPUT = 4, 1024, 256
REQUESTS, REPEATS = {1: 8, 16: 64, 64: 256, 128: 512}, 3
LEVELS = tuple(REQUESTS)
# concurrency -> (time to first token, time between tokens), seconds
PLAIN = {1: (0.092, 0.00962), 16: (0.148, 0.01310), 64: (0.291, 0.02148), 128: (0.421, 0.03302)}
MTP = {1: (0.097, 0.00571), 16: (0.156, 0.00868), 64: (0.305, 0.01702), 128: (0.438, 0.02951)}
QUESTIONS, SAMPLE = 1319, 100
# Share of a latency by which one run differs from another; the floors of metrics.yaml are wider.
WOBBLE_TTFT, WOBBLE_ITL = 0.012, 0.004


@dataclass(frozen=True)
class Measured:
    """One point as one run measured it; all else is derived from these two."""

    conc: int
    ttft: float
    itl: float

    @property
    def e2el(self) -> float:
        return self.ttft + (OUTPUT - 1) * self.itl

    @property
    def output(self) -> float:
        """Output tokens a second, of all GPUs together."""
        return self.conc * OUTPUT / self.e2el

    @property
    def total_per_gpu(self) -> float:
        return self.output * (INPUT + OUTPUT) / OUTPUT / GPUS


def measure(curve: dict[int, tuple[float, float]], conc: int, name: str, *, ttft: float = 1.0, itl: float = 1.0) -> Measured:
    """A point of a curve, its latencies times these factors, off by what `name` (of the run) decides."""
    first, between = curve[conc]
    return Measured(conc, first * ttft * (1 + WOBBLE_TTFT * _wobble(f"{name} c{conc} ttft")),
                    between * itl * (1 + WOBBLE_ITL * _wobble(f"{name} c{conc} itl")))


def _wobble(name: str) -> float:
    """Between -1 and 1."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") / (2**31 - 0.5) - 1
