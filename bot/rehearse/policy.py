"""What the bot may do in one variant of a scenario, as records of scenario.yaml: checks, smoke, repairs, caps."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
Hours = Annotated[float, Meta(gt=0)]
Stage = Literal["evals", "lowest", "highest", "trim"]
Text = Annotated[str, Meta(min_length=1)]


class Checks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Preflight checks, by the names of CONTRACTS section 2; false switches one off."""

    identity: bool = True
    roster: bool = True
    runners: bool = True
    staging: bool = True
    mergeable: bool = True
    history: bool = True
    imports: bool = True
    options: bool = True
    arch: bool = True
    contains: bool = True
    certify: bool = True
    names: bool = True
    parity: bool = True
    capacity: bool = True
    overlap: bool = True

    @property
    def off(self) -> frozenset[str]:
        return frozenset(name for name in self.__struct_fields__ if not getattr(self, name))


class Smoke(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the sweep the smoke runs, and in which steps; None leaves it to the layout.

    `stages` are dispatched one after the other, `arguments` end the guest's generator command in place of the layout's own.
    Evals are those the guest generates with them, and warnings of a green smoke are noted in its comment.
    """

    stages: Annotated[tuple[Stage, ...], Meta(min_length=1, max_length=3)] | None = None
    arguments: tuple[Text, ...] | None = None
    evals: Literal["as-generated"] = "as-generated"
    warnings: Literal["note"] = "note"


class Repairs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`known` None: every repair of the knowledge; a list: only these ids."""

    max: Count = 5
    known: tuple[Text, ...] | None = None


class Caps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bump, and all bumps of a day, may cost; above `approve_above` a maintainer is asked before it is spent. None
    leaves it to the layout."""

    gpu_hours: Hours
    gpu_hours_per_day: Hours | None = None
    approve_above: Hours | None = None


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the bot may do in this variant."""

    caps: Caps
    checks: Checks = Checks()
    smoke: Smoke = Smoke()
    repairs: Repairs = Repairs()
    infra_retries: Count = 2
    style: Literal["full", "folded"] = "full"
