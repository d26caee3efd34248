"""The facts of one bump, frozen and grouped: all that `decide` may know, and all that a replay needs.

Facts that can be read again (pull request, runs) are read at every wake; `memory` holds only what cannot.
"""

from __future__ import annotations

from datetime import datetime
from math import fsum
from typing import Literal

from msgspec import Struct

from bot.model.finding import Checked, PlanFinding
from bot.model.forge import Labelling, Pull
from bot.model.image import Candidate
from bot.model.order import Order
from bot.model.outcome import Cause, Outcome
from bot.model.recipe import KeyChange, Point, Recipe, Scope, Site
from bot.model.result import Accounting, Baseline, Filed, Proof, Reported, Row, Samples, Score, Verdict
from bot.model.rules import Limits, Rules
from bot.model.run import Run, Triage
from bot.model.text import Text
from bot.model.upstream import CarriedHeld, Comparison, Sibling

HeadWhy = Literal["proposal", "repair", "changelog", "sync"]
ChangelogState = Literal["absent", "present", "behind", "blocked", "broken", "none"]


class Plan(Struct, frozen=True, kw_only=True):
    """What planning found, frozen at the proposal. `smoke` are the points of the smoke, each with its stage; `control` whether
    the policy asks for a run of the old image beside the sweep; `checks` are those of the preflight as they were made; `pins` the
    coupled parts with their version or commit, `asked` a sum of what the family asks of all of it."""

    title: Text
    sites: tuple[Site, ...]
    scope: Scope
    diff: str
    smoke: tuple[Point, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    baseline: Baseline | None = None
    missing_baseline: str | None = None
    thresholds: dict[str, float] = {}
    notes: tuple[Text, ...] = ()
    control: bool = False
    checks: tuple[Checked, ...] = ()
    carried: tuple[CarriedHeld, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    pins: dict[str, str] = {}
    asked: str = ""


class Subject(Struct, frozen=True, kw_only=True):
    """What the bump is about."""

    family: tuple[Recipe, ...]
    candidate: Candidate
    plan: Plan
    rules: Rules
    limits: Limits


class Head(Struct, frozen=True, kw_only=True):
    """A commit of ours on the branch. `contains_base` is the tip of the default branch it was built on."""

    sha: str
    why: HeadWhy
    at: datetime
    repair: str | None = None
    contains_base: str | None = None


class JobFailure(Struct, frozen=True, kw_only=True):
    job: str
    attempt: int
    role: str
    concurrency: int | None
    minutes: float
    triage: Triage
    nodes: tuple[str, ...] = ()
    recipe: str = ""


class Refused(Struct, frozen=True, kw_only=True):
    """Results that a job uploaded and that gave nothing: `why` names artifact or file, line or key, and what is wrong, in words
    of which some may be the file's own."""

    why: str
    role: str
    recipe: str = ""
    concurrency: int | None = None


class Judged(Struct, frozen=True, kw_only=True):
    """What the artifacts of one run say so far: `seen` are the completed jobs (id) this rests on, `beside` those of the
    repeats (and of the control arm) that its verdict was made with, `control` the run of the old image that was its baseline.

    `gates` are those that do not hold beside evals (`coverage:c16`, `failed-requests:c8`), a value behind the colon.
    """

    run: int
    head: str
    seen: tuple[int, ...]
    beside: tuple[int, ...] = ()
    failures: tuple[JobFailure, ...] = ()
    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    reported: tuple[Reported, ...] = ()
    proofs: tuple[Proof, ...] = ()
    scores: tuple[Score, ...] = ()
    warnings: dict[str, int] = {}
    verdict: Verdict | None = None
    control: int | None = None
    gates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()


class Wanted(Struct, frozen=True, kw_only=True):
    """The repair that a failure asks for, or before any run (`run` 0) a finding of the plan. `available` False: it stands outside
    what recipes may change, or has no value yet."""

    id: str
    run: int
    why: Text
    available: bool
    edits: tuple[KeyChange, ...] = ()
    kept: tuple[str, ...] = ()
    serving_path_changed: bool = False
    siblings: tuple[str, ...] = ()
    obstacle: Text | None = None

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes in words, one a key."""
        return tuple(edit.words for edit in self.edits)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edit.file for edit in self.edits))


class Update(Struct, frozen=True, kw_only=True):
    """One line of progress as it was told: how many jobs passed, run, wait, failed at that moment."""

    at: datetime
    passed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    queued: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Told(Struct, frozen=True, kw_only=True):
    """A comment of ours: where it stands, what it said (digest of its record), when it was last changed."""

    slot: str
    comment: int
    digest: str
    at: datetime
    updates: tuple[Update, ...] = ()


class Approval(Struct, frozen=True, kw_only=True, tag="approval", tag_field="fact"):
    """A person with write access asked for the sweep (by label or command), which we keep until it can start; `fail_fast`:
    one that stops at the first job that fails."""

    by: str
    at: datetime
    fail_fast: bool = False
    comment: int | None = None


class Asked(Struct, frozen=True, kw_only=True, tag="asked", tag_field="fact"):
    """A person with write access asked for the smoke again, or for what failed to run once more; `comment` is the command's,
    None where a label asked."""

    what: Literal["smoke", "retry"]
    by: str
    at: datetime
    comment: int | None = None


class Ended(Struct, frozen=True, kw_only=True, tag="ended", tag_field="fact"):
    """The outcome as it was decided; cleaning up comes after. `wanted` names the repair that would have been next,
    `successor` the reference that is the next candidate, `by` the person who ended it. `step` is what `forecast` would have
    paid for, a word of the glossary; `found` are the findings from files that ended it before anything failed."""

    outcome: Outcome
    cause: Cause
    at: datetime
    why: Text | None = None
    run: int | None = None
    wanted: Wanted | None = None
    forecast: float | None = None
    successor: str | None = None
    by: str | None = None
    step: str | None = None
    found: tuple[PlanFinding, ...] = ()


class Lacking(Struct, frozen=True, kw_only=True):
    """Something that the evidence of a bump should hold and does not: `why` is a word of the glossary (`lacking-`), a value may
    follow a colon."""

    what: str
    why: str


class Evidence(Struct, frozen=True, kw_only=True):
    """What was kept of a bump at its end: the archive's name, size and SHA-256 (None: there is none, and `why`, a word of the
    glossary, `unkept-`), how many files it holds, and what it should hold and does not."""

    filed: Filed | None = None
    files: int = 0
    lacking: tuple[Lacking, ...] = ()
    why: str = ""


class Memory(Struct, frozen=True, kw_only=True):
    """What the ledger alone knows; `refused` is the head on which the repository would not have our changelog commit."""

    heads: tuple[Head, ...] = ()
    owned: tuple[int, ...] = ()
    judged: tuple[Judged, ...] = ()
    applied: tuple[Wanted, ...] = ()
    told: tuple[Told, ...] = ()
    approvals: tuple[Approval, ...] = ()
    asked: tuple[Asked, ...] = ()
    ended: Ended | None = None
    closed: bool = False
    refused: str | None = None
    evidence: Evidence | None = None

    @property
    def repairs_used(self) -> int:
        """Heads that changed the recipe after the proposal: the only thing that spends the repair budget."""
        return sum(head.why == "repair" for head in self.heads)


class World(Struct, frozen=True, kw_only=True):
    """What the forge and the branch hold now; `promised_today` are GPU-hours that all bumps promised on the cluster, `orders`
    the slash commands found in comments, oldest first, answered or not, `tag_digest` what the registry holds under the
    candidate's tag, None where it was not asked or has none, `checks` those of the preflight that were made again because what
    they look at changes."""

    pull: Pull | None = None
    foreign_head: str | None = None
    base_tip: str | None = None
    runs: tuple[Run, ...] = ()
    changelog: ChangelogState = "absent"
    labellings: tuple[Labelling, ...] = ()
    orders: tuple[Order, ...] = ()
    me: str = ""
    wanted: Wanted | None = None
    promised_today: float = 0.0
    tag_digest: str | None = None
    obstacle: Literal["held", "capped"] | None = None  # what keeps a bump that is over from being opened again
    checks: tuple[Checked, ...] = ()


class Bump(Struct, frozen=True, kw_only=True):
    """One candidate for one family on its way."""

    id: str
    now: datetime
    subject: Subject
    memory: Memory = Memory()
    world: World = World()

    @property
    def head(self) -> str | None:
        return self.memory.heads[-1].sha if self.memory.heads else None

    @property
    def tested_head(self) -> str | None:
        """The last head that changed what runs: changelog and sync commits leave a smoke valid."""
        return next((head.sha for head in reversed(self.memory.heads) if head.why in ("proposal", "repair")), None)

    @property
    def gpu_hours(self) -> float:
        return fsum(run.gpu_hours(self.now) for run in self.world.runs)

    def judged(self, run: int) -> Judged | None:
        return next((judged for judged in reversed(self.memory.judged) if judged.run == run), None)

    def told(self, slot: str) -> Told | None:
        return next((told for told in self.memory.told if told.slot == slot), None)
