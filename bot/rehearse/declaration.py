"""What scenario.yaml may say, as records: who exists, what their world holds, what happens when.

Times are moments of the virtual clock, aware; minutes are minutes of it. `scenario.load` reads and checks a folder.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bot.rehearse.happenings import Event, Login, Neighbour
from bot.rehearse.policy import Count, Policy, Text
from bot.rehearse.registry import Moment
from bot.rehearse.told.fleet import Fleet

Minutes = Annotated[float, Meta(ge=0)]
NAME = r"^[a-z0-9][a-z0-9.-]{0,63}$"
Name = Annotated[str, Meta(pattern=NAME)]
Permission = Literal["admin", "maintain", "write", "triage", "read", "none"]
OWN, PAST = "own", "as-it-happened"


class Clock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    start: Moment


class Repository(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The guest repository; its files are the folder `repo/`. `first_number` is the number of its next pull request."""

    owner: Login
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
    branch: Text = "main"
    first_number: Annotated[int, Meta(ge=1)] = 1


class Person(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    login: Login
    name: Text
    email: Annotated[str, Meta(pattern=r"^[^@\s<>]+@[^@\s<>]+$")]
    permission: Permission = "write"


class Accounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`bot` acts with its own token; `default` is the workflow token's account, whose events start no workflow. `permission` is
    what the bot may do in the repository, `grants` the rights of its App by GitHub's names. Left out: what a bump needs, as far as
    `permission` goes, and with `fleet.runners` told `administration: read` and `organization_self_hosted_runners: read`: the
    repository's runners and the organisation's are listed, so that what is told is all there is."""

    bot: Login
    permission: Permission = "write"
    grants: dict[Text, Literal["read", "write"]] | None = None
    people: Annotated[tuple[Person, ...], Meta(min_length=1)]
    default: Login = "github-actions[bot]"


class Trigger(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The filters below one event of a workflow's `on:`; `inputs` are the names workflow_dispatch takes."""

    types: tuple[Text, ...] = ()
    paths: tuple[Text, ...] = ()
    branches: tuple[Text, ...] = ()
    inputs: tuple[Text, ...] = ()


class Workflow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workflow file. On a pull request its jobs run only under one of `labels`; a change of a label in `labels` or
    `modifiers` enters the concurrency group. Words in braces are those of the loopback GitHub (`github/declare.py`)."""

    file: Text
    name: Text
    triggers: dict[str, Trigger]
    labels: tuple[Text, ...] = ()
    modifiers: tuple[Text, ...] = ()
    drafts: bool = True
    group: Text | None = None
    cancel_in_progress: bool = False
    run_name: str = ""


class Pool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Runners that share a label; `capacity` jobs run at a time, the rest wait in the order in which they were
    ready."""

    label: Text
    capacity: Annotated[int, Meta(ge=1)]


class Schedule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The wake workflow's cron: one delivery every `minutes`, the first at `first`."""

    first: Moment
    minutes: Annotated[int, Meta(ge=1)]


class Job(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one job does: becomes ready `after` minutes into the attempt, waits for its pool, holds `gpus` for
    `minutes`.

    `artifacts` names folders of artifacts/<run>/<attempt>/ that it uploads when it ends. `always`: it has no `if:` and
    runs whether or not a pull request carries one of the workflow's labels.
    """

    name: Text
    minutes: Minutes
    conclusion: Literal["success", "failure", "timed_out", "skipped", "neutral"] = "success"
    pool: Text = "hosted"
    gpus: Count = 0
    runner: Text | None = None
    after: Minutes = 0.0
    artifacts: tuple[Text, ...] = ()
    log: str = ""
    always: bool = False


class Attempt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    jobs: Annotated[tuple[Job, ...], Meta(min_length=1)]


class Run(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the next run of this workflow for this event (and action, where one is named) plays, under this id.

    `measure: true` in place of `attempts`: nothing is told, the run is measured here. Its inputs (recipe, commit, points,
    eval-limit, as the layout `own` gives them) say which points of which files; each becomes a job that `bumpbot bench` measures,
    with the conclusion it has, the minutes it takes, and what it leaves as artifacts. Such a scenario is played with
    `bumpbot rehearse --measure`.
    """

    id: Annotated[int, Meta(ge=1)]
    workflow: Text
    event: Text
    attempts: tuple[Attempt, ...] = ()
    action: Text | None = None
    measure: bool = False


class Expect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the rehearsal must end; words of CONTRACTS section 3. `before`: how the story's earlier bumps ended, the first first."""

    outcome: Text
    cause: Text | None = None
    repairs_used: Count = 0
    before: tuple[Text, ...] = ()


class Variant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One telling of the story: the policy, what people and machines do, and how it ends. `until` ends it in any
    case. `baseline` is the id of a run before the story: every point of the default branch's recipe is measured here (as runs with
    `measure` are), and published into the ledger, where the bump finds its baseline."""

    policy: Policy
    until: Moment
    expect: Expect
    events: tuple[Event, ...] = ()
    runs: tuple[Run, ...] = ()
    baseline: Annotated[int, Meta(ge=1)] | None = None

    @property
    def measures(self) -> bool:
        """Whether anything of it is measured here."""
        return self.baseline is not None or any(run.measure for run in self.runs)


class Variants(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The tellings of one story: `own` with the bot's own policy, `as-it-happened` with the one of the time."""

    own: Variant | None = None
    as_it_happened: Variant | None = None

    def told(self) -> dict[str, Variant]:
        """Those that the scenario has, by name."""
        return {name: variant for name, variant in ((OWN, self.own), (PAST, self.as_it_happened)) if variant is not None}


class Registries(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`declared_digests`: registry.yaml may state digests of real images, which made-up bytes cannot have."""

    declared_digests: bool = False


class Declaration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """scenario.yaml. `layout` names the layout of the guest repository, `recipe` the family that is bumped.

    `fleet` are the machines over time; `neighbours` what other people have open when the story begins.
    `shares` names the folder beside this one from which repo/, registry.yaml, baseline.json and upstream/ are taken where
    this one lacks them, so that two stories of one world hold it once.
    """

    version: Literal[1]
    name: Name
    about: Text
    attribution: str
    clock: Clock
    repository: Repository
    layout: Text
    recipe: Text
    accounts: Accounts
    workflows: tuple[Workflow, ...]
    variants: Variants
    pools: tuple[Pool, ...] = ()
    fleet: Fleet = Fleet()
    neighbours: tuple[Neighbour, ...] = ()
    schedule: Schedule | None = None
    registry: Registries = Registries()
    shares: Name | None = None
