"""What the preflight checks may know, one noun a question. None, everywhere: it was not asked, or nobody answered: unknown.

Every noun is plain data, gathered through ports by `plan` and told by a rehearsal's scenario in the same words.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from bot.model.image import Candidate
from bot.model.memory import Lesson
from bot.model.recipe import Point, Recipe
from bot.model.result import Baseline
from bot.model.settings import Runner
from bot.model.upstream import ArchRefused, CarriedHeld, Comparison, Contained, ImportsChecked, OptionsChecked, Sibling
from bot.model.uses import Uses


class Identity(Struct, frozen=True, kw_only=True):
    """Whose token acts, whose it must be (the layout's `identity`, or whoever opened the bump), and the rights that it lacks."""

    login: str
    wanted: str | None = None
    lacking: tuple[str, ...] = ()


class Staged(Struct, frozen=True, kw_only=True):
    """What lies ready on one fleet, by what a launcher or an operator says: names of images and models as the launcher looks for
    them. `images` or `models` None: not told. `imports`: globs (of a model's prefix, a model or an image) for which the
    launcher fetches the image by itself; `downloads` the same for models, and `locked` whether two jobs that fetch one model wait.
    `by_hand`: what its launcher does not fetch must be put there by people. `source` is where it says so, `at` when it was true."""

    runner: str
    images: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    imports: tuple[str, ...] = ()
    downloads: tuple[str, ...] = ()
    locked: bool = False
    by_hand: bool = False
    source: str = ""
    at: datetime | None = None


class Load(Struct, frozen=True, kw_only=True):
    """How busy one fleet is: `nodes` in all, `idle` of them; `queued` jobs wait. `source` is who says so."""

    cluster: str
    nodes: int
    idle: int
    queued: int = 0
    source: str = ""

    @property
    def used(self) -> float:
        """The share of nodes in use, 0..1; 1 where there is none: no check asks it of no node."""
        return 1.0 - self.idle / self.nodes if self.nodes else 1.0


class Work(Struct, frozen=True, kw_only=True):
    """Somebody's open work: a pull request, a branch, or a claim of this ledger, with the recipes that it changes. `image` is what
    it brings the recipe to, where it can be told; `files` are those that hold recipes, whichever of them it changes."""

    kind: str  # pull, branch, claim
    name: str  # #123, a branch's name, a bump's id
    by: str
    recipes: tuple[str, ...]
    image: str | None = None
    ours: bool = False
    draft: bool = False
    url: str = ""
    files: tuple[str, ...] = ()


class Merge(Struct, frozen=True, kw_only=True):
    """What `git merge-tree` says of a head and the default branch: the files that conflict. `appends`: every one of them is the
    changelog, where both sides only append, so that a sync mends it."""

    head: str
    base: str
    conflicts: tuple[str, ...] = ()
    appends: bool = False


class Certified(Struct, frozen=True, kw_only=True):
    """What the default branch's certifying rules expect of a sweep: by recipe the evals that must be there (`task`, and the harness
    `framework` where it is told), at how many points. `at` is the file that says so."""

    recipe: str
    task: str
    framework: str = ""
    points: int | None = None
    at: str = ""


class Job(Struct, frozen=True, kw_only=True):
    """A job of the generated matrix as the checks see it: the runner label it asks for, the eval it will run, and the artifact
    names it will upload."""

    recipe: str
    runner: str
    task: str = ""
    framework: str = ""
    artifacts: tuple[str, ...] = ()


class Facts(Struct, frozen=True, kw_only=True):
    """Everything for one family and candidate. `now` is the wake's moment."""

    now: datetime
    family: tuple[Recipe, ...]
    candidate: Candidate
    uses: Uses
    smoke: tuple[Point, ...] = ()
    baseline: Baseline | None = None
    missing_baseline: str | None = None
    # upstream
    comparisons: tuple[Comparison, ...] = ()
    imports: tuple[ImportsChecked, ...] | None = None
    options: OptionsChecked | None = None
    arch: tuple[ArchRefused, ...] | None = None
    contained: tuple[Contained, ...] | None = None
    carried: tuple[CarriedHeld, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    # forge and fleet
    identity: Identity | None = None
    runners: tuple[Runner, ...] | None = None
    declared_labels: dict[str, tuple[str, ...]] | None = None  # the runners file: label -> names of runners
    staged: tuple[Staged, ...] | None = None
    loads: tuple[Load, ...] | None = None
    capacity_limit: float = 0.8
    idle_needed: int = 1
    work: tuple[Work, ...] | None = None
    merge: Merge | None = None
    certified: tuple[Certified, ...] | None = None
    jobs: tuple[Job, ...] = ()
    # memory
    lessons: tuple[Lesson, ...] = ()
    unknown: dict[str, str] = {}  # check -> why its facts could not be had
