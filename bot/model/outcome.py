"""How a bump ends, why a recipe gets none, and who moves next: closed sets with their consequences as a table."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from msgspec import Struct

Mover = Literal["bot", "maintainer", "upstream", "operator"]


class Outcome(Enum):
    VALIDATED = "validated"
    REGRESSED = "regressed"
    FAILED = "failed"
    BUDGET_EXHAUSTED = "budget-exhausted"
    INCOMPATIBLE = "incompatible"
    READINESS_BLOCKED = "readiness-blocked"
    CAPACITY_DEFERRED = "capacity-deferred"
    UNCERTAIN = "uncertain"
    SUPERSEDED = "superseded"
    HANDED_OFF = "handed-off"
    STOPPED = "stopped"
    CLOSED = "closed-by-maintainer"
    MERGED = "merged"
    REVERTED = "reverted"
    CRASHED = "crashed"


class Cause(Enum):
    """Why an outcome: the word beside `failed`, and the fact behind the others."""

    GATE = "gate"
    REPAIRS_EXHAUSTED = "repairs-exhausted"
    UNREPAIRABLE = "unrepairable"
    BUDGET = "budget"
    RETRIES_EXHAUSTED = "infrastructure-retries-exhausted"
    PERSON = "person"
    VERDICT = "verdict"
    NONE = "none"


class Disposition(Enum):
    """Why a recipe gets no bump."""

    ALREADY_CURRENT = "already-current"
    DUPLICATE = "duplicate"
    RETIRED = "retired"
    PINNED = "pinned"
    OBSERVED_ONLY = "observed-only"
    CAPPED = "capped"


class Ending(Struct, frozen=True, kw_only=True):
    """What happens to the branch, who moves next, and what makes the candidate worth another try (CONTRACTS 3)."""

    branch: Literal["kept", "released", "theirs"]
    next: Mover
    pull: Literal["close", "ready", "leave"]
    retry: str | None = None


_THEIRS = Ending(branch="theirs", next="maintainer", pull="leave")
ENDINGS: dict[Outcome, Ending] = {
    Outcome.VALIDATED: Ending(branch="kept", next="maintainer", pull="ready"),
    Outcome.REGRESSED: Ending(branch="kept", next="maintainer", pull="close", retry="accepted or newer image"),
    Outcome.FAILED: Ending(branch="kept", next="maintainer", pull="close", retry="newer image; budget raised"),
    Outcome.BUDGET_EXHAUSTED: Ending(branch="kept", next="maintainer", pull="close", retry="budget"),
    Outcome.INCOMPATIBLE: Ending(branch="kept", next="upstream", pull="close", retry="the named fix is contained"),
    Outcome.READINESS_BLOCKED: Ending(branch="released", next="operator", pull="close", retry="the named fact changed"),
    Outcome.CAPACITY_DEFERRED: Ending(branch="released", next="bot", pull="close", retry="capacity"),
    Outcome.UNCERTAIN: Ending(branch="kept", next="maintainer", pull="close", retry="newer image, or the named fact changed"),
    Outcome.SUPERSEDED: Ending(branch="released", next="bot", pull="close"),
    Outcome.HANDED_OFF: _THEIRS,
    Outcome.STOPPED: _THEIRS,
    Outcome.CLOSED: _THEIRS,
    Outcome.MERGED: _THEIRS,
    Outcome.REVERTED: _THEIRS,
    Outcome.CRASHED: Ending(branch="kept", next="operator", pull="leave", retry="mended"),
}
