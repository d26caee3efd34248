"""The layout's words for what is read before a GPU is asked for: coupled pins, scripts, staging, capacity, certifying rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from bot.layout.base import Count, Record, Text


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


class Staging(Record, kw_only=True):
    """Where it is written what lies ready on the fleets: a file of this repository, or a URL that answers with the same JSON or
    YAML (CONTRIBUTING tells the shape)."""

    file: str = ""
    url: str = ""


class Capacity(Record, kw_only=True):
    """Whether a fleet has room: `limit` is the share of its nodes that may be in use, `idle` how many must be free. `source`: the
    forge's own list of self-hosted runners, or a URL that answers with JSON."""

    source: Literal["none", "runners", "http"] = "none"
    url: str = ""
    limit: Annotated[float, Meta(gt=0, le=1)] = 0.8
    idle: Count = 1


class Certify(Record, kw_only=True):
    """The file of the default branch that says which evals a sweep must bring (CONTRIBUTING tells the shape)."""

    file: str = ""


class Preflight(Record, kw_only=True):
    """What the checks before a bump read. `identity` is the login whose token must act; `scripts` are globs of the shell scripts
    that start a recipe's server, with <prefix>, <precision>, <hardware>, <framework>, <model> standing for its facts, <key> for
    its name, <workload> for what it measures and <speculation> for `_mtp` where it drafts; the first that finds a file counts.
    `elsewhere` are recipe files that launchers fetch; `patches` globs of source patches that recipes put on an image; `off` are checks that are not made, each with its reason."""

    identity: str = ""
    scripts: tuple[Text, ...] = ()
    patches: tuple[Text, ...] = ()
    coupled: tuple[Coupled, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    staging: Staging = Staging()
    capacity: Capacity = Capacity()
    certify: Certify = Certify()
    artifact_name: Annotated[str, Meta(description=(
        "how an artifact is called, from {recipe} {runner} {concurrency} {topology} {task} {attempt}; its length is checked"))] = ""
    off: dict[Text, Text] = {}
