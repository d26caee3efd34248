"""Nouns for measurements and what they mean."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Judgement = Literal["improved", "neutral", "regressed", "inconclusive"]


class Cell(Struct, frozen=True, kw_only=True):
    """The identity of a measured point, enough to match a result with its baseline."""

    recipe: str
    concurrency: int
    workload: str | None = None
    topology: str | None = None
    fingerprint: str | None = None


class Row(Struct, frozen=True, kw_only=True):
    """One measured value (CONTRACTS `row`). For an eval, metric is "eval", value a share 0..1, n the questions asked.

    `repeat` counts (from 1) the repetitions that a load generator made of one point in one run; None where it made one.
    """

    point: Cell
    metric: str
    value: float
    unit: str
    stat: str | None = None
    n: int | None = None
    run: int | None = None
    attempt: int | None = None
    head: str | None = None
    image: str | None = None
    flags: tuple[str, ...] = ()
    task: str | None = None
    correct: int | None = None
    repeat: int | None = None


class Accounting(Struct, frozen=True, kw_only=True):
    """Requests of one point: invalid ones told apart by phase, because a warm-up error is no error rate.

    `total` is every request sent, warm-up included; `profiled` the measured ones that count; `kinds` the profiling
    errors by type. Conversations are those of the profiling phase: failures cluster in one, so they are the unit of a test.
    """

    concurrency: int
    total: int
    profiled: int
    warmup_invalid: int
    profiling_invalid: int
    conversations: int | None = None
    conversations_invalid: int | None = None
    kinds: dict[str, int] = {}
    recipe: str = ""

    @property
    def invalid(self) -> int:
        return self.warmup_invalid + self.profiling_invalid


class Samples(Struct, frozen=True, kw_only=True):
    """The answers of one eval, counted: `cut` have no final answer line, `wrong` have one and it is not right.

    `marks` holds one letter a question in the order of the suite: r right, w wrong, c cut, - not asked; `prints` four
    hexadecimal digits of each question's own hash in the same order (`----` where it was not asked), so that answers are
    paired only where both sides were asked the same. Both are empty where the file does not tell the questions apart.
    """

    concurrency: int
    task: str
    n: int
    correct: int
    cut: int
    wrong: int
    median_length: float
    recipe: str = ""
    marks: str = ""
    prints: str = ""


class Reported(Struct, frozen=True, kw_only=True):
    """What a server said of itself, or its launcher of it: the version, commit, digest or image that really ran, and the file
    (and line) that says so.

    A concurrency of 0 speaks for every point of its job. `engine` is whose version it is where the wording tells, `role` the
    kind of job (throughput, eval), `node` the host whose log it is. An image that ends with `.sqsh` is a squash file's name.
    """

    kind: Literal["version", "commit", "digest", "image"]
    value: str
    file: str
    line: int | None = None
    concurrency: int = 0
    recipe: str = ""
    engine: str = ""
    role: str = ""
    node: str = ""


class Proof(Struct, frozen=True, kw_only=True):
    """Whether what served a point was the candidate's image.

    `proven` by the server's own word; `claimed`: nothing can tell more than that the harness asked for it, and that must do;
    `stale`: something else ran, `ran` says what, `old` whether it is the image before, `cache` the squash file it came from;
    `conflicting`: some of its `nodes` (of `of`) ran something else; `unproven`: nobody said anything that tells, `why` is a
    word of the glossary, and `other` what the results name where they and the server `disagree`. `wanted` is what the candidate
    would have said.
    """

    state: Literal["proven", "claimed", "stale", "conflicting", "unproven"]
    wanted: str = ""
    ran: str = ""
    why: str = ""
    other: str = ""
    old: bool = False
    cache: str = ""
    nodes: tuple[str, ...] = ()
    of: int = 0
    role: str = ""
    concurrency: int = 0
    recipe: str = ""

    @property
    def holds(self) -> bool:
        """Whether numbers measured here are the candidate's."""
        return self.state in ("proven", "claimed")

    @property
    def contradicted(self) -> bool:
        """Whether something else is known to have run."""
        return self.state in ("stale", "conflicting")


class Reliability(Struct, frozen=True, kw_only=True):
    """How many of a cluster's jobs ended well, over all attempts of one run; skipped ones are not counted."""

    cluster: str
    succeeded: int
    total: int


class Score(Struct, frozen=True, kw_only=True):
    """One eval at one point against its gate. `baseline` None carries its reason in `missing`; `interval` is the score's own
    (Wilson, 95 %), None without a number of questions.

    The gate and the baseline are two questions: a gate of 0.90 lets a true .90 pass every other time, and cannot see .9727
    fall to .92.
    """

    concurrency: int
    task: str
    metric: str
    value: float
    n: int
    threshold: float | None = None
    passed: bool | None = None
    baseline: float | None = None
    missing: str | None = None
    samples: Samples | None = None
    recipe: str = ""
    interval: tuple[float, float] | None = None

    @property
    def straddles(self) -> bool:
        """Whether the threshold lies within the score's own interval, so that passing or failing is partly luck."""
        return self.interval is not None and self.threshold is not None and self.interval[0] < self.threshold <= self.interval[1]


class Finding(Struct, frozen=True, kw_only=True):
    """A judged metric. `delta` is a raw fraction (new/old - 1); for evals a difference. Without a point it is a recipe's pool.

    `how` says how an eval was compared: `paired` question by question, `unpaired` as two shares, `pooled` over its points. Of
    a curve that is regressed by its points' clause alone it is `points:c64` (several with commas): it is those that fell, and
    `delta` may even be a gain.
    """

    metric: str
    point: Cell | None
    baseline: float | None
    new: float | None
    delta: float | None
    unit: str
    finding: Judgement
    interval: tuple[float, float] | None = None
    n: int | None = None
    void: bool = False
    reasons: tuple[str, ...] = ()
    recipe: str = ""
    how: str | None = None
    stat: str | None = None
    task: str | None = None

    @property
    def by_points(self) -> bool:
        """Whether a curve is regressed through single points, which are told themselves, and not as a whole."""
        return self.point is None and (self.how or "").startswith("points:")


class Rerun(Struct, frozen=True, kw_only=True):
    """A point worth measuring again. `runs` is how many more runs of it would decide (None: not known, or none would);
    `gpu_hours` what one of them costs. Where the baseline's own few runs leave the interval wide, `why` names `history:...`:
    `runs` decide then only with `history` runs behind the baseline, and alone are not worth their GPU-hours."""

    point: Cell
    why: str
    gpu_hours: float | None
    runs: int | None = None
    history: int | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """The join of all findings, worst first across kinds: regressed > inconclusive > neutral > improved."""

    verdict: Judgement
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    rerun: tuple[Rerun, ...] = ()


class Filed(Struct, frozen=True, kw_only=True):
    """A file of a producing run as it is archived: its bytes lie elsewhere."""

    name: str
    size: int
    sha256: str


class Absent(Struct, frozen=True, kw_only=True):
    """A point of the recipe that has no baseline, and why, as a word of the glossary (`absent-`), a value behind the colon."""

    point: Cell
    why: str


class Baseline(Struct, frozen=True, kw_only=True):
    """The published points of the current image, frozen once per bump. `notes` say what could not be verified.

    `rows` are those of the newest run at each point, then older runs of exactly the same; date, run, attempt, head and pull
    are those of the newest run of all. `absent` are the points that nothing was found for; `thresholds` what each eval had
    to reach then, and `identity` what a set without a fingerprint is matched by, where the source tells. `files` are those of
    the producing run, as they were when the bump began.
    """

    date: str
    image: str
    run: int | None
    attempt: int | None
    head: str | None
    pull: int | None
    fingerprint: str | None
    rows: tuple[Row, ...]
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    absent: tuple[Absent, ...] = ()
    thresholds: dict[str, float] = {}
    identity: str = ""
    files: tuple[Filed, ...] = ()
