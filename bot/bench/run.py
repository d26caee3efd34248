"""What is known of a measurement on its way, and what every step of it is given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from bot.bench import masked
from bot.bench.effective import Known as Limits
from bot.bench.host import Host, Place, Server
from bot.model.bench import Gate, Hardware, Machine, Order, Report
from bot.model.result import Reported
from bot.results import Metrics


@dataclass(frozen=True)
class Known:
    """Packaged knowledge, read by who calls: metrics, where each engine tells its settings, and what its reports prove of the
    image that was ordered."""

    metrics: Metrics
    effective: Limits
    proof: Callable[[Order, tuple[Reported, ...]], Gate] | None = None


@dataclass
class Run:
    """A measurement on its way; `report` is what is known so far."""

    order: Order
    machine: Machine
    host: Host
    place: Place
    known: Known
    report: Report
    stack: ExitStack = field(default_factory=ExitStack)
    server: Server | None = None
    facts: Hardware = field(default_factory=Hardware)
    suite: Any = None
    secrets: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.secrets = masked.secrets(self.host.env, self.machine.env)

    @property
    def shown(self) -> Report:
        """The report as it may be kept and read: without secrets."""
        return masked.report(self.report, self.secrets)

    def tell(self, **told: Any) -> None:
        """More is known. Gates, settings and tools add to those before."""
        for name in ("gates", "settings"):
            if name in told:
                told[name] = (*getattr(self.report, name), *told[name])
        self.report = replace(self.report, **told)

    def spent(self, name: str, seconds: float) -> None:
        """Seconds more of one span."""
        self.tell(seconds={**self.report.seconds, name: round(self.report.seconds.get(name, 0.0) + seconds, 3)})

    @property
    def running(self) -> Server:
        """The server, which a stage before has launched."""
        if self.server is None:
            raise ValueError("no server was launched")
        return self.server

    def took(self, loaded: Any) -> None:
        """What a load or an eval gave, also one that did not come to its end."""
        self.tell(counts=loaded.counts, gates=loaded.gates, settings=loaded.settings, tools={**self.report.tools, **loaded.tools})
        self.spent("evals" if self.order.eval else "load", loaded.seconds)

    def salvage(self, error: BaseException) -> None:
        """What a load or an eval that failed knows all the same (`loaded` of its error)."""
        told = getattr(error, "loaded", None)
        if told is not None:
            self.took(told)
