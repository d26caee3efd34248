"""Jobs and runs of a story: what scenario.yaml says of them, and the artifacts that they upload, each in its job's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from tests.rehearse.own_scenarios import numbers, results, world
from tests.rehearse.own_scenarios.world import CURVES, NEW

TASK = results.TASK
# benchmark.yml makes the matrix first, and looks at what was uploaded last; a node of eight GPUs runs two jobs at a time.
PLANNED, AGAIN, COLLECTED, SLOTS = 1.1, 0.2, 0.6, 2
Upload = Callable[[Path, int, int, datetime], None]
"""Writes one artifact's folder, for a run's id, an attempt and the moment at which the job began."""


@dataclass(frozen=True)
class Job:
    """One measuring job of one attempt. `uploads` maps the stem of an artifact's name to what writes it."""

    key: str
    conc: int
    minutes: float
    uploads: dict[str, Upload]
    task: str | None = None
    conclusion: str = "success"
    log: str = ""

    def text(self, caller: str, after: float, attempt: int) -> str:
        """As scenario.yaml says it."""
        name = f"{caller} / {self.key} c{self.conc}{f' eval {self.task}' if self.task else ''}"
        lines = [f'- name: "{name}"', f"  minutes: {self.minutes}", "  pool: h200", "  gpus: 4", f"  after: {after}"]
        lines += [] if self.conclusion == "success" else [f"  conclusion: {self.conclusion}"]
        lines += [f'  log: "{self.log}"'] if self.log else []
        lines += ["  artifacts:", *(f"    - {stem}_attempt{attempt}" for stem in self.uploads)] if self.uploads else []
        return "\n".join(lines)


@dataclass(frozen=True)
class Run:
    """A run of smoke.yml or sweep.yml, dispatched at `at`, with its attempts; `busy` says until which of its minutes each part of
    the node is another run's."""

    id: int
    workflow: str
    at: datetime
    attempts: tuple[tuple[Job, ...], ...]
    about: str
    busy: tuple[float, ...] = (0.0,) * SLOTS

    @property
    def over(self) -> datetime:
        """When its last attempt has ended: then the bot is woken."""
        return self._begins()[-1]

    def text(self) -> str:
        """As scenario.yaml says it."""
        caller = self.workflow.removesuffix(".yml")
        lines = [f"# {self.about}", f"- id: {self.id}", f"  workflow: {self.workflow}", "  event: workflow_dispatch", "  attempts:"]
        for number, attempt in enumerate(self.attempts, 1):
            after = _ready(number)
            lines.append("    - jobs:")
            lines += [f'        - {{name: "{caller} / plan", minutes: {PLANNED - 0.2:.1f}}}'] if number == 1 else []
            lines += [f"        {line}" for job in attempt for line in job.text(caller, after, number).split("\n")]
            failed = ", conclusion: failure" if any(job.conclusion != "success" for job in attempt) else ""
            ended = max(_ends(attempt, after, self.busy)) + 0.2
            lines.append(f'        - {{name: "{caller} / collect", minutes: {COLLECTED}, after: {ended:.1f}{failed}}}')
        return "\n".join(lines)

    def write(self, folder: Path) -> None:
        """artifacts/<run>/<attempt>/ of everything it uploads."""
        for number, (attempt, began) in enumerate(zip(self.attempts, self._begins(), strict=False), 1):
            for job, ended in zip(attempt, _ends(attempt, _ready(number), self.busy), strict=True):
                start = began + timedelta(minutes=ended - job.minutes)
                for stem, upload in job.uploads.items():
                    upload(folder / str(self.id) / str(number) / f"{stem}_attempt{number}", self.id, number, start)

    def _begins(self) -> list[datetime]:
        """When each attempt begins, and when the last is over."""
        begins = [self.at]
        for number, attempt in enumerate(self.attempts, 1):
            begins.append(begins[-1] + timedelta(minutes=round(max(_ends(attempt, _ready(number), self.busy)) + 0.2, 1) + COLLECTED))
        return begins


def point(key: str, conc: int, minutes: float, *, ttft: float = 1.0, itl: float = 1.0, tag: str = NEW) -> Job:
    """A throughput job of an image that goes well, its latencies times these factors of the baseline's."""

    def rows(folder: Path, run: int, attempt: int, began: datetime) -> None:
        measured = numbers.measure(CURVES[key], conc, f"run {run} {key}", ttft=ttft, itl=itl)
        told = {"run": run, "attempt": attempt, "head": None, "image": world.reference(tag)}
        results.write_rows(folder, results.rows(measured, world.cell(key, conc, tag), told))

    served = _server_log(key, conc, minutes, tag, tag=tag)
    return Job(key, conc, minutes, {f"bench_{key}_conc{conc}": rows, f"logs_{key}_conc{conc}": served})


def unfetched(key: str, conc: int, minutes: float) -> Job:
    """A throughput job whose node could not fetch a package."""

    def log(folder: Path, run: int, attempt: int, began: datetime) -> None:
        results.write_failed_fetch(folder, image=world.reference(NEW), key=key, began=began)

    return Job(key, conc, minutes, {f"logs_{key}_conc{conc}": log}, conclusion="failure",
               log="the load generator could not be installed; nothing was measured")


def gate(key: str, minutes: float, *, asked: int, correct: tuple[int, int], ran: str = NEW, cache: str = "") -> Job:
    """An eval's job at the highest concurrency; `ran` is the tag of the image that its server really had, from this squash file."""
    conc = numbers.LEVELS[-1]

    def scores(folder: Path, run: int, attempt: int, began: datetime) -> None:
        ended = began + timedelta(minutes=minutes) - timedelta(seconds=21)
        results.write_eval(folder, conc=conc, image=world.reference(NEW), ended=ended, asked=asked, correct=correct)

    tail = f"{key}_conc{conc}_{TASK}"
    return Job(key, conc, minutes, {f"eval_{tail}": scores, f"eval_logs_{tail}": _server_log(key, conc, minutes, ran, cache)}, task=TASK,
               log=f"PASS: {TASK} exact_match,strict-match = {correct[0] / asked:.4f} (>= 0.9)")


def lost(job: Job) -> Job:
    """The same job in a run that is cancelled before it uploads anything."""
    return replace(job, uploads={})


def told(runs: Sequence[Run], indent: str) -> str:
    """`runs:` of a variant."""
    return "\n".join(f"{indent}{line}" for run in runs for line in run.text().split("\n"))


def _ready(attempt: int) -> float:
    """Minutes into an attempt at which its measuring jobs may begin: a rerun does not plan again."""
    return PLANNED if attempt == 1 else AGAIN


def busy_until(run: Run) -> tuple[float, ...]:
    """Until which minute of a run's only attempt it holds each part of the node."""
    free = [_ready(1)] * SLOTS
    for job in run.attempts[0]:
        free[free.index(min(free))] += job.minutes
    return tuple(free)


def _ends(attempt: Sequence[Job], ready: float, busy: Sequence[float]) -> list[float]:
    """Minutes into the attempt at which each job ends, on a node that runs so many at a time, in their order."""
    free, ends = [max(ready, until) for until in busy], []
    for job in attempt:
        slot = free.index(min(free))
        free[slot] += job.minutes
        ends.append(free[slot])
    return ends


def _server_log(key: str, conc: int, minutes: float, ran: str = NEW, cache: str = "", *, tag: str = NEW) -> Upload:
    def log(folder: Path, run: int, attempt: int, began: datetime) -> None:
        results.write_server_log(folder, image=world.reference(tag), key=key, began=began, minutes=minutes, conc=conc,
                                 ran=ran.removeprefix("v"), cache=cache)

    return log
