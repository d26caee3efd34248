"""Pieces of what people read: lines, tables and states that several records hold. Numbers are unrounded."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.model.checklines import CheckLine
from bot.model.outcome import Mover, Outcome
from bot.model.result import Score
from bot.model.text import Text


class FolderLine(Struct, frozen=True, kw_only=True):
    """A folder in the evidence of a bump: `what` is a word of the glossary (`folder-`), `run` whose files it holds, `size` their
    bytes unpacked."""

    folder: str
    what: str
    run: int | None
    files: int
    size: int


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
    """One point. `recipe` is told where a family has several."""

    concurrency: int
    cells: tuple[Cell, ...]
    recipe: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """Points side by side. `runs` are the sources of the new values, `baseline_run` the newest of the old ones, of which there are
    `baseline_runs` (0: not told)."""

    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    runs: tuple[int, ...] = ()
    baseline_run: int | None = None
    baseline_runs: int = 0


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


class StageLine(Struct, frozen=True, kw_only=True):
    """One stage of a smoke: what it runs (short names of points), how it was started, what came of it. `sample` are the
    questions of a sampled eval; `result` a word of the glossary; `name` is the stage's, a word of the glossary too."""

    number: int
    name: str
    points: tuple[str, ...]
    command: str | None
    result: str
    run: int | None = None
    sample: int | None = None


class ProofLine(Struct, frozen=True, kw_only=True):
    """What ran at these points (short names), as `Proof` has it; `nodes` are told as the layout allows."""

    points: tuple[str, ...]
    state: Literal["proven", "claimed", "stale", "conflicting", "unproven"]
    wanted: str = ""
    ran: str = ""
    why: str = ""
    other: str = ""
    old: bool = False
    cache: str = ""
    nodes: tuple[str, ...] = ()


class ControlLine(Struct, frozen=True, kw_only=True):
    """The run of the old image beside a sweep. `state` is a word of the glossary; `gates` say what keeps it from being the
    baseline, `gpu_hours` what it is forecast to cost where it has not run, `published` whether there is another baseline."""

    state: str
    run: int | None = None
    gates: tuple[str, ...] = ()
    gpu_hours: float | None = None
    published: bool = True


class AgainLine(Struct, frozen=True, kw_only=True):
    """Points worth measuring again for the same reason (`why`, a word of the glossary) and these metrics: how many more runs of
    each would decide (None: none would), and what one run of all of them costs. `history`: how many runs behind the baseline
    would, where its own few are what leaves the interval wide."""

    points: tuple[str, ...]
    why: str
    metrics: tuple[str, ...] = ()
    runs: int | None = None
    gpu_hours: float | None = None
    history: int | None = None


class Regression(Struct, frozen=True, kw_only=True):
    """A metric that is worse, at one point or over a recipe's whole curve (no concurrency, and no single values then). `delta`
    and `interval` are fractions of the baseline, for an eval differences. `task` is an eval's, with its filter behind it."""

    metric: str
    delta: float
    concurrency: int | None = None
    recipe: str = ""
    old: float | None = None
    new: float | None = None
    interval: tuple[float, float] | None = None
    task: str | None = None


class SummaryLine(Struct, frozen=True, kw_only=True):
    """What one wake did for one bump: actions by their tags with how often, those done and those that the mode withheld. `found` is
    what files said of one that ended before anything was opened."""

    bump: str
    steps: int
    done: dict[str, int]
    withheld: dict[str, int]
    trouble: str | None = None
    ended: Outcome | None = None
    found: tuple[CheckLine, ...] = ()


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


class RefusedLine(Struct, frozen=True, kw_only=True):
    """Results of a point (its short name) that were refused, and why, in words that are not all ours."""

    point: str
    why: str


class AbsentLine(Struct, frozen=True, kw_only=True):
    """Points without a baseline for the same reason, a word of the glossary (`absent-`); the recipe empty where it is alone."""

    recipe: str
    topology: str
    concurrencies: tuple[int, ...]
    why: str


class LackLine(Struct, frozen=True, kw_only=True):
    """That there is no baseline, and why (`absent-`), and what would mend it (`mend-`), as words of the glossary; of one recipe,
    or of all where it is empty."""

    recipe: str
    why: str
    mend: str


class BaselineBlock(Struct, frozen=True, kw_only=True):
    """The frozen baseline as the body shows it: values are medians over the runs that count."""

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
    absent: tuple[AbsentLine, ...] = ()


class Follow(Struct, frozen=True, kw_only=True):
    """What would have been next and what it would cost in GPU-hours, against what is left."""

    repair: str
    why: Text
    changes: tuple[str, ...]
    files: tuple[str, ...]
    forecast: float | None
    left: float | None
    obstacle: Text | None = None


class Unpaid(Struct, frozen=True, kw_only=True):
    """A step that could not be paid (a word of the glossary, `step-`), in GPU-hours: what it needs, what is left below the cap of
    the bump, and what a day may hold where that is what it exceeds."""

    step: str
    forecast: float
    left: float | None = None
    cap: float | None = None
    day: float | None = None

    @property
    def lacking(self) -> float:
        """How much the cap would have to be raised."""
        return max(0.0, self.forecast - self.left) if self.left is not None else 0.0


class CommandLine(Struct, frozen=True, kw_only=True):
    """One slash command in the list of those there are."""

    word: str
    help: Text
