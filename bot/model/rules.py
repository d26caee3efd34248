"""What the target repository demands of a bump, and what a bump may spend: its layout, as facts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Smoke(Struct, frozen=True, kw_only=True):
    """How a smoke starts: a dispatch of a workflow of the default branch for each of its stages, one after the other.

    Inputs are templates of {key} (the first recipe), {keys} (the family), {file}, {arguments}, {points}, {eval-limit},
    {fail-fast}, {head} and {nonce}; `arguments` are those of a stage, by its name, and of a `repeat`, with {concurrencies}.
    `label` asks for the smoke again, where the layout has one.
    """

    workflow: str
    ref: str
    inputs: dict[str, str] = {}
    stages: tuple[str, ...] = ("trim",)
    arguments: dict[str, tuple[str, ...]] = {}
    label: str = ""


class Sweep(Struct, frozen=True, kw_only=True):
    """How the full sweep starts: by a label on the pull request (a guest's rule), or by our own dispatch. Of its labels those
    in `fail_fast` ask for one that stops at the first job that fails."""

    workflow: str
    start: Literal["label", "dispatch"] = "label"
    label: str = "full-sweep-enabled"
    drafts: bool = True
    labels: tuple[str, ...] = ()
    fail_fast: tuple[str, ...] = ()
    ref: str = "main"
    inputs: dict[str, str] = {}


class Rules(Struct, frozen=True, kw_only=True):
    """What the target repository demands, read from its layout on the default branch."""

    smoke: Smoke
    sweep: Sweep
    branch: str
    base: str
    changelog: bool
    style: Literal["full", "folded"] = "full"
    handoff: str = "bumpbot-handoff"
    hosts: Literal["full", "alias", "none"] = "alias"
    repository: str = ""


class Limits(Struct, frozen=True, kw_only=True):
    """What may be spent. GPU-hours are GPUs x hours over all attempts; None is no cap. Minutes price a forecast.

    `gpu_hours` is this bump's cap, `gpu_hours_per_day` what all bumps together may promise on its cluster in a day (UTC).
    """

    repairs: int = 5
    infrastructure_retries: int = 2
    repeats: int = 2
    gpu_hours: float | None = None
    gpu_hours_per_day: float | None = None
    approve_above: float | None = None
    update_minutes: int = 30
    claim_minutes: int = 15
    point_minutes: float = 100.0
    eval_minutes: float = 30.0
