"""Nouns for recipes: where an image stands, what is measured, what an edit did."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Site(Struct, frozen=True, kw_only=True):
    """One place where a recipe's image (or a value that must agree with it) stands. Lines count from 1."""

    file: str
    line: int
    path: str
    value: str


class EvalSpec(Struct, frozen=True, kw_only=True):
    """A gating eval; `limit` None is the whole task; the score must reach `threshold` (0..1).

    `shuffled`: the questions up to the limit are drawn at random with a fixed seed, since a suite's first hundred may all
    be of one kind. Else they are the suite's first. `framework` is the harness that asks them, where the generator says.
    """

    task: str
    threshold: float
    limit: int | None = None
    shuffled: bool = False
    framework: str = ""


class Point(Struct, frozen=True, kw_only=True):
    """One measured cell of a recipe: topology x workload x concurrency (CONTRACTS `matrix`).

    `speculation` and `offload` (of the KV cache) are in the generator's words, empty where it has none.
    """

    id: str
    recipe: str
    kind: Literal["throughput", "eval"]
    image: str
    hardware: str
    gpus: int
    topology: str
    workload: str
    concurrency: int
    runner: str
    fingerprint: str
    stage: Literal[1, 2, 3] | None = None
    eval: EvalSpec | None = None
    speculation: str = ""
    offload: str = ""


class Recipe(Struct, frozen=True, kw_only=True):
    """One benchmarked configuration as its repository states it at one revision.

    `settings` are the facts people read about it (nodes, speculation, offload, pins), by name; `prefix` is the short name
    under which its model is published; `failed_requests` the share of failed requests that a point may have, where it says.
    """

    key: str
    file: str
    image: str
    sites: tuple[Site, ...]
    model: str
    hardware: str
    framework: str
    precision: str
    prefix: str = ""
    points: tuple[Point, ...] = ()
    linked: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    failed_requests: float | None = None
    notes: tuple[str, ...] = ()


class Scope(Struct, frozen=True, kw_only=True):
    """The matrix before and after an edit: rows changed in the family, rows changed elsewhere, image alone or not, and whose
    rows say so: those of the guest's own generator, or ours."""

    changed_rows: int
    other_rows_changed: int
    only_image: bool
    by: Literal["generator", "bumpbot"] = "bumpbot"


class Edit(Struct, frozen=True, kw_only=True):
    """New bytes for some files, and how a person reads the change. `files` maps a path to its whole new text."""

    files: dict[str, bytes]
    sites: tuple[Site, ...]
    diff: str
    scope: Scope | None = None
    findings: tuple[str, ...] = ()


class KeyChange(Struct, frozen=True, kw_only=True):
    """One key of one file: `new` None drops it, `old` None adds it. Made only while the key `guard` still says `guarded`."""

    file: str
    path: tuple[str | int, ...]
    old: str | None
    new: str | int | float | bool | None
    guard: tuple[str | int, ...]
    guarded: str

    @property
    def words(self) -> str:
        """The change in one line, as reports list it."""
        name = ".".join(map(str, self.path))
        if self.new is None:
            return f"{name}: dropped (was {self.old})"
        return f"{name}: {self.old if self.old is not None else '-'} -> {self.new}"
