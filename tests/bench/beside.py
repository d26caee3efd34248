"""What a step of `bench` is given in these tests: a small order, and a server that runs in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from bot.adapters.clock import SystemClock
from bot.model.bench import Asked, Order

ORDER = Order(id="toy/c4", recipe="toy", kind="throughput", image="acme/engine:1", hardware="cpu", gpus=1, topology="TP1",
              workload="chat", concurrency=4, runner="", fingerprint="f" * 64, engine="vllm", model="acme/toy",
              gates=Asked(failed_requests=0.1))


def order(*, tools: bool | None = None, json: bool | None = None, **told: Any) -> Order:
    """The small order, with what a test changes."""
    return msgspec.structs.replace(ORDER, gates=Asked(failed_requests=0.1, tools=tools, json=json), **told)


@dataclass
class Served:
    """Satisfies the Server port: a server at `url`, which has ended once `died` says why."""

    url: str
    died: str = ""
    launched: Any = None
    looks: int = field(default=0)

    def over(self) -> str | None:
        """Why it no longer runs."""
        self.looks += 1
        return self.died or None


class Quick:
    """The system's clock, on which waiting is short."""

    def __init__(self) -> None:
        self._clock = SystemClock()

    def now(self) -> datetime:
        """The present moment."""
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        """At most a hundredth of a second."""
        self._clock.sleep(min(seconds, 0.01))
