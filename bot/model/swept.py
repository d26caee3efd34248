"""Nouns of a run of benchmark.yml as it is collected: what was planned, what came of each job, what may be published."""

from __future__ import annotations

from msgspec import Struct

from bot.model.bench import Order
from bot.model.result import Accounting, Proof, Row, Samples


class Planned(Struct, frozen=True, kw_only=True):
    """One job of the plan (`matrix --jobs`). `results` and `logs` are what its artifacts are called, without the attempt; `whole`:
    the plan holds every point and eval of this recipe, each with all that it asks for."""

    name: str
    results: str
    logs: str
    labels: tuple[str, ...] = ()
    point: Order
    whole: bool = False


class Told(Struct, frozen=True, kw_only=True):
    """The run that is collected: its number, its newest attempt, the commit whose recipes it measured, the day it began (UTC)."""

    run: int
    attempt: int
    head: str
    date: str


class Fault(Struct, frozen=True, kw_only=True):
    """Why a job's results, or an artifact, do not count: `why` is a word of the glossary (`refused-`), `said` a line for the
    terminal, where untrusted words may stand; `job` is empty for an artifact that is no job's."""

    job: str = ""
    why: str
    said: str

    @property
    def line(self) -> str:
        return f"{self.job}: {self.said}" if self.job else self.said


class Gathered(Struct, frozen=True, kw_only=True):
    """What one job measured. `attempt` None: nothing was uploaded; `digest` is what its image was launched from (None: nobody
    says). What could be read is here also where there is a fault, so that people see it; it counts only without one."""

    planned: Planned
    attempt: int | None = None
    digest: str | None = None
    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    proof: Proof | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it was measured whole, every gate holds, and it was the image that was asked for."""
        return not self.faults
