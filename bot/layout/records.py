"""The layout file as records. Keys are written with hyphens; every field has a default, so that a file may name a preset."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from bot.layout.base import Count, Record, Text
from bot.layout.upstream import Preflight
from bot.model.policy import Wanted

Globs = Annotated[tuple[Text, ...], Meta(min_length=1)]
StageName = Literal["evals", "lowest", "highest", "trim"]
Fact = Literal["model", "prefix", "hardware", "framework", "precision"]


class Root(Record, kw_only=True):
    """A linked file written as `prefix` + rest lies at `folder` + rest. The empty prefix is for bare names."""

    prefix: str
    folder: str


class Linked(Record, kw_only=True):
    """How a recipe names other files whose image must agree with its own.

    `within` are paths (from the recipe) to texts like `CONFIG_FILE=recipes/x.yaml:variant`; `settings` the names that
    link. In a linked file: `image` paths hold the image or an alias of it, `provenance` its normalised form, `engine`
    the engine's version by name. `beside` settings hold a second image: it moves only when it is the same image.
    """

    files: Annotated[tuple[Text, ...], Meta(description=(
        "globs of files that belong to every recipe of the entry, like a Dockerfile or a values.yaml beside manifests: the "
        "recipe's image moves there too, at the paths of `image`, or without them wherever it stands; another tag of its "
        "repository is reported; images of other repositories stay"))] = ()
    within: tuple[Text, ...] = ()
    settings: tuple[Text, ...] = ()
    roots: tuple[Root, ...] = ()
    image: tuple[Text, ...] = ()
    provenance: tuple[Text, ...] = ()
    engine: tuple[Text, ...] = ()
    beside: tuple[Text, ...] = ()
    never: tuple[Text, ...] = ()


class RecipeFiles(Record, kw_only=True):
    """Files that hold recipes, YAML documents or Dockerfiles. The paths of `image` and `facts` start at the recipe."""

    files: Annotated[Text | Globs, Meta(description=(
        "a glob of files, or several: `*` stays within a folder, `**` crosses folders, `{a,b}` is either"))]
    key: Annotated[Text, Meta(description=(
        "what a recipe is called: a path to its name (.metadata.name); a path that ends with * (.services.*, or * alone at the "
        "top), where every mapping is a recipe called by its key; or, without a dot in front, the name itself. A Dockerfile "
        "that states none is called by its path: docker/serving/Dockerfile is docker-serving-Dockerfile"))] = ".name"
    image: Annotated[tuple[Text, ...], Meta(description=(
        "paths of the image. A mapping {registry, repository, tag, digest}, or {name, newName, newTag, digest}, is one image in "
        "parts. In a Dockerfile: .FROM (also .FROM.1, .FROM.stage), .ARG.NAME, .COPY, .RUN; left out, all of them. Where a path "
        "finds several images, that of a repository on the layout's `allow` list is the recipe's"))] = (".image",)
    facts: Annotated[dict[Fact, Text], Meta(description="paths of what people know a recipe by")] = {}
    linked: Annotated[Linked | None, Meta(description="other files whose image must agree with the recipe's")] = None

    @property
    def globs(self) -> tuple[str, ...]:
        return (self.files,) if isinstance(self.files, str) else self.files


class Fixed(Record, kw_only=True):
    """Recipes (by globs of their facts) that run an image of the launcher's own, whatever their files say, and why that is so."""

    where: Annotated[dict[Fact, Text], Meta(min_length=1)]
    why: Text


class Families(Record, kw_only=True):
    """Which recipes move together: a key with and without one of the suffixes, and the groups named key by key."""

    suffixes: tuple[Text, ...] = ()
    groups: tuple[tuple[Text, ...], ...] = ()


class Smoke(Record, kw_only=True):
    """How a smoke is dispatched, stage by stage, and what it runs.

    `inputs` are templates of {key} {keys} {file} {arguments} {points} {eval-limit} {fail-fast} {head} {nonce}, and left out
    where they come out empty; `title` is how the run's name shows on the forge, by which it is found again; `stages` are what
    is run, cheapest information first (`trim` is the lowest point and its eval in one run, where the guest trims itself);
    `arguments` end the generator command of a stage, or of a `repeat`, and may hold {concurrencies}; `label` asks for the
    smoke again. `command` names the input that holds the generator's command line, and `otherwise` the stages that take the
    place of one whose `arguments` the guest's generator does not know. `eval-sample` is how many questions of each eval are
    asked first (100 find a score of 0.81 in place of 0.97 with probability 0.999), `eval-shuffled` whether the workflow can
    draw them at random from the suite.
    """

    workflow: str = ""
    ref: str = "main"
    title: str = ""
    inputs: dict[str, str] = {}
    arguments: dict[StageName | Literal["repeat"], tuple[Text, ...]] = {}
    stages: Annotated[tuple[StageName, ...], Meta(min_length=1, max_length=3)] = ("evals", "lowest", "highest")
    command: str = ""
    otherwise: dict[StageName, tuple[StageName, ...]] = {}
    label: str = ""
    eval_sample: Annotated[int, Meta(ge=1)] = 100
    eval_shuffled: bool = False


class Sweep(Record, kw_only=True):
    """How the full sweep starts, and which labels of the guest mean what.

    `primary` labels start one (exactly one may be present), `modifiers` change it; `fail-fast` are those of the primary ones
    whose sweep stops at the first job that fails; `drafts` whether a draft sweeps;
    `needs` is a file whose change a pull request must hold for any sweep to start.
    """

    workflow: str = ""
    start: Literal["label", "dispatch"] = "dispatch"
    label: str = ""
    primary: tuple[Text, ...] = ()
    modifiers: tuple[Text, ...] = ()
    fail_fast: tuple[Text, ...] = ()
    drafts: bool = True
    needs: str = ""
    ref: str = "main"
    title: str = ""
    inputs: dict[str, str] = {}


class Changelog(Record, kw_only=True):
    """The append-only file: names of an entry's fields, its indents, and how a pull request is linked ({number}).

    `scenarios` is the field that names kinds of workload, `scenario_names` what may stand there ("" and none: anything).
    `flags` hold true or false, `counts` a whole number from 1 or nothing; where the first field of one of `apart` is set (true,
    or a number), none of the others is.
    """

    file: str = ""
    keys: Text = "recipes"
    description: Text = "description"
    link: Text = "pr-link"
    scenarios: str = ""
    scenario_names: tuple[Text, ...] = ()
    flags: tuple[Text, ...] = ()
    counts: tuple[Text, ...] = ()
    apart: tuple[tuple[Text, ...], ...] = ()
    item_indent: Count = 4
    pull: str = ""
    placeholders: tuple[Text, ...] = ()


class Baselines(Record, kw_only=True):
    """Where published points are read, all that are named together: the ledger's own results, a folder or file of this
    repository, a base URL. The newest run of exactly the same leads, the others stand behind it for the median; of one run that
    two of them have the first counts, in this order."""

    ledger: bool = True
    folder: str = ""
    url: str = ""


class Evals(Record, kw_only=True):
    """The gating evals: the task where a recipe names none, the file of thresholds, what an unlisted task needs."""

    task: str = "gsm8k"
    thresholds: str = ""
    otherwise: Annotated[float, Meta(ge=0, le=1)] = 0.85
    at_least: Count = 16


class Hardware(Record, kw_only=True):
    """What runs under a runner label. `digests`: whether its launcher is known to take `tag@digest`."""

    platform: Annotated[str, Meta(pattern=r"^[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?$")] = "linux/amd64"
    gpus_per_node: Annotated[int, Meta(ge=1)] | None = None
    digests: Literal["proven", "unproven", "refused"] = "unproven"


class Artifacts(Record, kw_only=True):
    """Globs of artifact names: results, server logs, and which of both belong to an eval's job.

    `proof` is whose word counts for the image that ran: the server's, or the harness's where no log holds the server's.
    """

    results: tuple[Text, ...] = ("*",)
    logs: tuple[Text, ...] = ("*logs*",)
    evals: tuple[Text, ...] = ("eval*",)
    proof: Annotated[Literal["server", "harness"], Meta(description=(
        "whose word counts for the image that ran: the server's own, as its logs say it; or the harness's, in fleets whose logs "
        "are not uploaded or do not name a version"))] = "server"


class RepairScope(Record, kw_only=True):
    """What a repair may change: file globs, and key paths (with `*`) inside them. Nothing named means nothing allowed."""

    files: tuple[Text, ...] = ()
    keys: tuple[Text, ...] = ()


class Publish(Record, kw_only=True):
    hosts: Literal["full", "alias", "none"] = "alias"


class Limits(Record, kw_only=True):
    """What may be spent per bump, day and cluster. GPU-hours; None is no cap."""

    repairs: Count = 5
    infrastructure_retries: Count = 2
    repeats: Count = 2
    gpu_hours: float | None = None
    gpu_hours_per_day: float | None = None
    approve_above: float | None = None
    open_bumps: Count | None = None
    update_minutes: Annotated[int, Meta(ge=1)] = 30


class Scans(Record, kw_only=True):
    """When a scheduled wake looks for newer images of all recipes, and how many bumps it begins by itself each time."""

    every_hours: Annotated[float, Meta(ge=1, le=8760)] = 24
    begin: Count = 0


class Layout(Record, kw_only=True):
    """One repository's layout, presets filled in. Paths use `/` and start at the repository's root.

    `jobs` reads a measuring job's name: the group `concurrency`, `eval` where the job is an eval's, `recipe` where it tells.
    """

    version: Literal[1] = 1
    preset: Text | None = None
    repository: str = ""
    base: Text = "main"
    branch: Text = "bumpbot/"
    ledger: str = ""
    title: str = ""
    style: Literal["full", "folded"] = "full"
    handoff: Text = "bumpbot-handoff"
    recipes: tuple[RecipeFiles, ...] = ()
    fixed: Annotated[tuple[Fixed, ...], Meta(description="recipes whose launcher runs an image of its own")] = ()
    mentions: Annotated[tuple[Text, ...], Meta(description="globs of files that may name images and are never edited")] = ()
    generator: Literal["none", "own", "inferencex"] = "none"
    generator_command: str = ""
    generator_files: Annotated[tuple[Text, ...], Meta(description=(
        "globs of the generator's own code; it is run with these files of the default branch and no others, and with none of "
        "them bumpbot's own rows are the matrix"))] = ()
    allow: tuple[Text, ...] = ()
    policy: Annotated[Wanted, Meta(description="how images move where nothing else is said")] = Wanted()
    policies: Annotated[dict[Text, Wanted], Meta(description=(
        "how the images of single recipes move: a recipe's name, or a glob of names; the longest that fits counts first"))] = {}
    scans: Annotated[Scans | None, Meta(description=(
        "left out: no wake looks for images by itself, and minimum-age-days never begins to count"))] = None
    families: Families = Families()
    smoke: Smoke | None = None
    sweep: Sweep | None = None
    changelog: Changelog | None = None
    baselines: Baselines = Baselines()
    evals: Evals = Evals()
    runners: str = ""
    hardware: dict[str, Hardware] = {}
    jobs: Text = r" c(?P<concurrency>[0-9]+)(?P<eval> eval)?$"
    artifacts: Artifacts = Artifacts()
    forbidden: tuple[Text, ...] = ()
    publish: Publish = Publish()
    sources: dict[str, Text] = {}
    scope: RepairScope = RepairScope()
    preflight: Preflight = Preflight()
    limits: Limits = Limits()
