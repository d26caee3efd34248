"""What people read, as data: one typed record renders both languages. Numbers are unrounded; rounding is rendering."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from bot.model.bump import Update
from bot.model.image import Resolved
from bot.model.outcome import Cause, Mover, Outcome
from bot.model.result import Accounting, Score
from bot.model.text import Text
from bot.model.upstream import Comparison


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    pass


class State(Struct, frozen=True, kw_only=True):
    """The state line. `phase` is a word of the glossary; GPU-hours are spent ones; `cap` None is none."""

    phase: str
    next: Mover
    repairs: int
    repairs_max: int
    gpu_hours: float
    cap: float | None = None


class Cell(Struct, frozen=True, kw_only=True):
    """One metric at one point: old and new, unrounded; `missing` says why one of them is absent."""

    metric: str
    old: float | None = None
    new: float | None = None
    missing: str | None = None


class Line(Struct, frozen=True, kw_only=True):
    concurrency: int
    cells: tuple[Cell, ...]


class Table(Struct, frozen=True, kw_only=True):
    """Points side by side. `runs` are the sources of the new values, `baseline_run` of the old ones."""

    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    runs: tuple[int, ...] = ()
    baseline_run: int | None = None


class RunLine(Struct, frozen=True, kw_only=True):
    """A run of ours and why it exists. `attempt` is its newest."""

    id: int
    attempt: int
    workflow: str
    reason: str
    created: datetime
    conclusion: str | None
    gpu_hours: float
    url: str


class AttemptLine(Struct, frozen=True, kw_only=True):
    """One line an attempt in the pull request's body. `number` 0 is the initial attempt, None the final full sweep."""

    number: int | None
    head: str
    run: int | None
    attempt: int | None
    result: str
    gpu_hours: float


class Failure(Struct, frozen=True, kw_only=True):
    """A failed job as people may read it: our own wording, an alias for the node, the cause in both languages."""

    job: str
    minutes: float
    class_: str | None
    excerpt: str | None
    file: str | None
    node: str | None
    cause: Text | None
    retried: bool = False


class BaselineBlock(Struct, frozen=True, kw_only=True):
    date: str
    run: int | None
    attempt: int | None
    head: str | None
    pull: int | None
    fingerprint: str | None
    table: Table
    scores: tuple[Score, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""


class Proposal(_Record, frozen=True, kw_only=True, tag="proposal"):
    """The pull request's body."""

    recipe: str
    engine: str
    old: Resolved
    new: Resolved
    text: str
    settings: dict[str, str]
    concurrencies: tuple[int, ...]
    evals: tuple[str, ...]
    lines_changed: int
    files_changed: int
    only_image: bool
    rows_changed: int
    repushed: datetime | None
    comparisons: tuple[Comparison, ...]
    baseline: BaselineBlock | None
    missing_baseline: str | None
    state: State
    attempts: tuple[AttemptLine, ...]
    notes: tuple[Text, ...] = ()


class Attempt(_Record, frozen=True, kw_only=True, tag="attempt"):
    """The initial attempt (number 0) or repair k: what changed, what ran, what came of it."""

    number: int
    of: int
    text: str
    head: str
    lines_changed: int
    files: tuple[str, ...]
    changes: tuple[str, ...]
    kept: tuple[str, ...]
    why: Text | None
    serving_path_changed: bool
    siblings: tuple[str, ...]
    command: str | None
    runs: tuple[RunLine, ...]
    comparisons: tuple[Comparison, ...]
    failures: tuple[Failure, ...]
    table: Table | None
    scores: tuple[Score, ...]
    accounting: tuple[Accounting, ...]
    baseline_accounting: tuple[Accounting, ...]
    warnings: dict[str, int]
    next: str
    passed: bool | None
    new: Resolved | None = None
    repair: str | None = None


class SweepReport(_Record, frozen=True, kw_only=True, tag="sweep"):
    """The final full sweep: how its head came about, its runs, its progress, its numbers, its end."""

    head: str
    base_tip: str | None
    synced: bool
    first_head: str | None
    start: str
    label: str | None
    runs: tuple[RunLine, ...]
    points: int
    evals: int
    concurrencies: tuple[int, ...]
    progress: tuple[Update, ...]
    table: Table | None
    accounting: tuple[Accounting, ...]
    scores: tuple[Score, ...]
    failures: tuple[Failure, ...]
    baseline_cut: int | None
    baseline_n: int | None
    verdict: str | None
    void: bool
    reasons: tuple[str, ...]
    passed: bool | None


class Follow(Struct, frozen=True, kw_only=True):
    """What would have been next and what it would cost in GPU-hours, against what is left."""

    repair: str
    why: Text
    changes: tuple[str, ...]
    files: tuple[str, ...]
    forecast: float | None
    left: float | None
    obstacle: Text | None = None


class Stop(_Record, frozen=True, kw_only=True, tag="stop"):
    """Why the bump stops here, and what a maintainer may do."""

    outcome: Outcome
    cause: Cause
    head: str
    why: Text | None
    scores: tuple[Score, ...]
    repairs: int
    repairs_max: int
    gpu_hours: float
    cap: float | None
    follow: Follow | None


class Finishing(_Record, frozen=True, kw_only=True, tag="finishing"):
    """Cleaning up has begun: these runs are being stopped and will be seen terminal."""

    outcome: Outcome
    runs: tuple[int, ...]


class LastWords(_Record, frozen=True, kw_only=True, tag="final"):
    """The last report: outcome, every run with its reason, what was spent, who moves next and when it is tried again."""

    outcome: Outcome
    cause: Cause
    proven: bool
    why: Text | None
    repairs: int
    repairs_max: int
    gpu_hours: float
    runs: tuple[RunLine, ...]
    branch: str
    branch_kept: bool
    next: Mover
    retry: str | None
    closed: bool


class Status(_Record, frozen=True, kw_only=True, tag="status"):
    """A short answer: what was asked, what the bot does about it, and the state it is in."""

    about: str
    by: str | None
    state: State


Record = Proposal | Attempt | SweepReport | Stop | Finishing | LastWords | Status

SLOTS = {Proposal: "proposal", SweepReport: "sweep", Stop: "stop", Finishing: "finishing", LastWords: "final", Status: "status"}


def template(record: Record) -> str:
    """The name of the template, which is also the kind of the comment."""
    if isinstance(record, Attempt):
        return "initial" if record.number == 0 else "repair"
    return SLOTS[type(record)]
