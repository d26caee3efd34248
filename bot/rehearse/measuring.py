"""Runs of a story that are measured on this machine: what a runner is asked for, and what it gives back.

The world stays a witness. It knows what GitHub would know of such a run (its inputs, its jobs, how long each held a machine, what
it uploaded) and nothing of what is measured; the runner is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from bot.rehearse.github.declare import Upload

INPUTS = ("recipe", "commit", "points", "eval-limit")
"""Of a dispatch, as the layout `own` gives them to smoke.yml and sweep.yml."""
BEFORE_MINUTES = 1.0
"""What planning costs on a hosted machine, before the first job can start."""


class Ask(Struct, frozen=True, kw_only=True):
    """What one run was dispatched for. `points` empty: every point and eval; `eval_limit` None: every question."""

    run: int
    commit: str
    recipes: tuple[str, ...]
    points: tuple[str, ...] = ()
    eval_limit: int | None = None


class Planned(Struct, frozen=True, kw_only=True):
    """One job before it runs: its name below the caller's, the stems of what it uploads, the runners it may have, the GPUs that it
    holds. `order` is the runner's own."""

    name: str
    results: str
    logs: str
    labels: tuple[str, ...]
    gpus: int
    order: Any = None


class Done(Struct, frozen=True, kw_only=True):
    """One job after it ran: whether it succeeded, how long it took, what it printed, and the folders that it left."""

    good: bool
    seconds: float
    log: str = ""
    results: Path | None = None
    logs: Path | None = None

    @property
    def minutes(self) -> float:
        """Minutes of the virtual clock, begun ones whole: whoever pays for a machine pays so."""
        return float(max(1, -(-self.seconds // 60)))


class Runner(Protocol):
    """What stands for the machines of a measured run."""

    def plan(self, ask: Ask) -> Sequence[Planned]:
        """The jobs of a run, from the files of its commit. Fast: GitHub's answer to a dispatch waits for it."""
        ...

    def measure(self, ask: Ask, attempt: int, job: Planned) -> Done:
        """Runs one job to its end, however long that takes."""
        ...


def asked(run: int, inputs: Mapping[str, str]) -> Ask:
    """The inputs of a dispatch as benchmark.yml reads them: names between blanks, and nothing where nothing is said."""
    limit = inputs.get("eval-limit", "").strip()
    return Ask(run=run, commit=inputs.get("commit", ""), recipes=tuple(inputs.get("recipe", "").split()),
               points=tuple(inputs.get("points", "").split()), eval_limit=int(limit) if limit.isdigit() else None)


def uploads(job: Planned, attempt: int, done: Done) -> tuple[Upload, ...]:
    """The folders under the names that benchmark.yml uploads them by; one that is not there, or is empty, is not uploaded."""
    pairs = ((job.results, done.results), (job.logs, done.logs))
    return tuple(Upload(name=f"{name}_attempt{attempt}", folder=folder) for name, folder in pairs
                 if folder is not None and folder.is_dir() and any(folder.iterdir()))
