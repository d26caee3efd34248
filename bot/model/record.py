"""What people read, as data: one typed record renders both languages. Numbers are unrounded; rounding is rendering."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.model.bump import Evidence, Lacking, Update
from bot.model.checklines import CarriedLine, CheckLine, CompareLine, HintLine, SiblingLine
from bot.model.image import Resolved, Sight
from bot.model.lines import (
    AgainLine,
    AttemptLine,
    BaselineBlock,
    CommandLine,
    ControlLine,
    Failure,
    FolderLine,
    Follow,
    LackLine,
    ProofLine,
    RefusedLine,
    Regression,
    RunLine,
    StageLine,
    State,
    SummaryLine,
    Table,
    Unpaid,
)
from bot.model.outcome import Cause, Mover, Outcome
from bot.model.result import Accounting, Score
from bot.model.sweptlines import Curve, FaultLine, GateLine, PointLine, RecipeLine
from bot.model.text import Text


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    pass


class Proposal(_Record, frozen=True, kw_only=True, tag="proposal"):
    """The pull request's body. `beside` are the other recipes of the family; `control` is what a run of the old image beside
    the sweep is forecast to cost in GPU-hours, None where no policy asks for one.

    `checks` are those made from files, `unshown` how many of their notes are left out; `stops`, `questions` and `repairs` are
    those of their lines that forbid the bump, wait for a person's word (each with what it `holds`), or are mended by the
    bot before the first smoke.
    """

    recipe: str
    beside: tuple[str, ...]
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
    rows_by: Literal["generator", "bumpbot"]
    repushed: datetime | None
    was: Sight | None
    comparisons: tuple[CompareLine, ...]
    baseline: BaselineBlock | None
    missing_baseline: str | None
    state: State
    attempts: tuple[AttemptLine, ...]
    notes: tuple[Text, ...] = ()
    control: float | None = None
    checks: tuple[CheckLine, ...] = ()
    unshown: int = 0
    stops: tuple[CheckLine, ...] = ()
    questions: tuple[CheckLine, ...] = ()
    repairs: tuple[CheckLine, ...] = ()
    hints: tuple[HintLine, ...] = ()
    siblings: tuple[SiblingLine, ...] = ()
    siblings_more: int = 0
    carried: tuple[CarriedLine, ...] = ()
    pins: dict[str, str] = {}


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
    stages: tuple[StageLine, ...]
    runs: tuple[RunLine, ...]
    comparisons: tuple[CompareLine, ...]
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
    proofs: tuple[ProofLine, ...] = ()
    refused: tuple[RefusedLine, ...] = ()


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
    repeat: Table | None
    accounting: tuple[Accounting, ...]
    scores: tuple[Score, ...]
    failures: tuple[Failure, ...]
    baseline_cut: int | None
    baseline_n: int | None
    verdict: str | None
    void: bool
    reasons: tuple[str, ...]
    passed: bool | None
    regressions: tuple[Regression, ...] = ()
    proofs: tuple[ProofLine, ...] = ()
    refused: tuple[RefusedLine, ...] = ()
    again: tuple[AgainLine, ...] = ()
    control: ControlLine | None = None
    lacking: tuple[LackLine, ...] = ()
    compared: bool = True


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
    successor: str | None = None
    void: bool = False
    unpaid: Unpaid | None = None
    regressions: tuple[Regression, ...] = ()
    reasons: tuple[str, ...] = ()
    again: tuple[AgainLine, ...] = ()
    lacking: tuple[LackLine, ...] = ()
    refused: tuple[RefusedLine, ...] = ()


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
    successor: str | None = None
    lacking: tuple[LackLine, ...] = ()
    unpaid: Unpaid | None = None
    evidence: Evidence | None = None


class Contents(_Record, frozen=True, kw_only=True, tag="evidence"):
    """The page inside the evidence of a bump: what lies in it, and what does not and why. `n` and `sha256` are the ledger's entry
    that it was made under."""

    bump: str
    outcome: Outcome
    old: str
    new: str
    n: int
    sha256: str
    folders: tuple[FolderLine, ...]
    lacking: tuple[Lacking, ...]


class Status(_Record, frozen=True, kw_only=True, tag="status"):
    """A short answer: what was asked, what the bot does about it, and the state it is in."""

    about: str
    by: str | None
    state: State


class Answer(_Record, frozen=True, kw_only=True, tag="answer"):
    """The answer to a slash command: what becomes of it, and where the bump stands then.

    `command` is its word, None where it names none that is known: what a stranger wrote is not repeated, nor is their name.
    `result` is a word of the glossary, and so is `now`, what the bot does or waits for; `outcome` is that of a bump that is
    over; `forecast` are the GPU-hours that cannot be paid and `left` those there are; `commands` is what can be asked.
    """

    comment: int
    by: str | None
    command: str | None
    result: str
    state: State
    outcome: Outcome | None = None
    forecast: float | None = None
    left: float | None = None
    now: str | None = None
    commands: tuple[CommandLine, ...] = ()


class Summary(_Record, frozen=True, kw_only=True, tag="summary"):
    """What a wake did, for the page of its workflow run; `refusal` is why a person's request was turned down."""

    mode: str
    lines: tuple[SummaryLine, ...]
    refusal: str | None = None


class Swept(_Record, frozen=True, kw_only=True, tag="swept"):
    """What a run of benchmark.yml measured, for its page: table, curve, what became of each recipe's results, what was refused."""

    run: int
    attempt: int
    head: str
    metrics: tuple[str, ...]
    points: tuple[PointLine, ...]
    evals: tuple[GateLine, ...]
    curves: tuple[Curve, ...]
    recipes: tuple[RecipeLine, ...]
    faults: tuple[FaultLine, ...] = ()


Record = Proposal | Attempt | SweepReport | Stop | Finishing | LastWords | Contents | Status | Answer | Summary | Swept

SLOTS = {Proposal: "proposal", SweepReport: "sweep", Stop: "stop", Finishing: "finishing", LastWords: "final", Contents: "evidence",
         Status: "status", Answer: "answer", Summary: "summary", Swept: "swept"}


def template(record: Record) -> str:
    """The name of the template, which is also the kind of the comment."""
    if isinstance(record, Attempt):
        return "initial" if record.number == 0 else "repair"
    return SLOTS[type(record)]
