"""The layout's words for what is read before a GPU is asked for: coupled pins, scripts, staging, capacity, certifying rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from bot.layout.base import Record, Text


class Coupled(Record, kw_only=True):
    """A part that is pinned beside the engine and imports it. Paths are looked for in a recipe and in the files it links; the first
    that says something counts. `folder` is where its modules lie in a source tree."""

    name: Text
    package: Text
    module: Text
    source: str = ""
    folder: str = ""
    version: tuple[Text, ...] = ()
    commit: tuple[Text, ...] = ()
    wheel: tuple[Text, ...] = ()
    ref: tuple[Text, ...] = ()
    images: Annotated[tuple[Text, ...], Meta(description=(
        "globs of `framework` facts of the recipes that run with it; none: wherever a pin is found"))] = ()


class Elsewhere(Record, kw_only=True):
    """Recipe files of a third repository, which a launcher clones: `source` is its address, `launchers` globs of the scripts that
    say at which revision, with <runner> for the recipe's runner label; `prefix` begins the names of such files in a recipe,
    `folder` is where they lie there."""

    source: Text
    launchers: Annotated[tuple[Text, ...], Meta(min_length=1)]
    prefix: str = ""
    folder: str = ""


class Launchers(Record, kw_only=True):
    """Scripts that start a job on a fleet, and what they tell of what must lie there. They are read and never run: a fetch that
    stands under conditions which this recipe does not meet is not made for it."""

    files: Annotated[str, Meta(description=(
        "where a fleet's launcher lies, with {fleet} for the runner's name without its number: runners/launch_{fleet}.sh"))] = ""
    facts: Annotated[dict[Text, Text], Meta(description=(
        "variables that its conditions ask for, each with the path of its value in a recipe: {MODEL_PREFIX: .model-prefix}"))] = {}
    fetches: Annotated[tuple[Text, ...], Meta(description="words of a command that fetches the image")] = (
        "enroot import", "docker pull", "docker run")
    models: Annotated[str, Meta(description="the array that lists the checkpoints that lie ready")] = ""
    downloads: Annotated[bool, Meta(description="whether each job fetches a checkpoint that is not listed, without a lock")] = False


class Staging(Record, kw_only=True):
    """Where it is written what lies ready on the fleets: a file of this repository, a URL that answers with the same JSON or YAML,
    and the launchers. The file holds `staged: [{runner, images, models, imports, downloads, locked, source, at}]`: `images` as
    references (one without a digest stands for its tag), file names or paths; `imports` and `downloads` globs of a model, its
    prefix or, of imports, an image."""

    file: Annotated[str, Meta(description="a YAML or JSON file of the default branch")] = ""
    url: Annotated[str, Meta(description="asked without any login, never redirected; https, or http on loopback")] = ""
    launchers: Launchers = Launchers()


class Capacity(Record, kw_only=True):
    """Whether a fleet has room: a bump begins where less than `limit` of its nodes are in use and `idle` are free."""

    source: Annotated[Literal["none", "runners", "http"], Meta(description=(
        "who says so: nobody, the forge's own list of self-hosted runners (busy or not), or `url`"))] = "none"
    url: Annotated[str, Meta(description=(
        "answers with JSON, `loads: [{cluster, nodes, idle, queued}]`; asked without any login, never redirected"))] = ""
    limit: Annotated[float, Meta(gt=0, le=1, description="the share of nodes in use below which a bump begins, 0..1")] = 0.8
    idle: Annotated[int, Meta(ge=0, description="how many nodes must be free")] = 1


class Certify(Record, kw_only=True):
    """Which evals a sweep must bring, by the default branch's own rules."""

    file: Annotated[str, Meta(description=(
        "a YAML or JSON file of the default branch: `certified: [{recipe, task, framework, points}]`; `recipe` a glob"))] = ""


class Preflight(Record, kw_only=True):
    """What the checks before a bump read. `identity` is the login whose token must act; `scripts` are globs of the shell scripts
    that start a recipe's server, with <prefix>, <precision>, <hardware>, <framework>, <model> standing for its facts, <key> for
    its name, <workload> for what it measures and <speculation> for `_mtp` where it drafts; the first that finds a file counts.
    `elsewhere` are recipe files that launchers fetch; `patches` globs of source patches that recipes put on an image; `skip` are
    checks that are not made, each with its reason."""

    identity: Annotated[str, Meta(description="the login whose token must act; an App's ends with [bot]. Left out: anybody's")] = ""
    scripts: tuple[Text, ...] = ()
    patches: tuple[Text, ...] = ()
    coupled: tuple[Coupled, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    staging: Staging = Staging()
    capacity: Capacity = Capacity()
    certify: Certify = Certify()
    artifact_name: Annotated[str, Meta(description=(
        "how an artifact is called, from {recipe} {runner} {concurrency} {topology} {task} {attempt}; its length and its characters"
        " are checked"))] = ""
    # Written `skip`: YAML reads `off` as a boolean.
    off: Annotated[dict[Text, Text], Meta(description="checks that are not made, each with the reason")] = field(
        default_factory=dict, name="skip")
