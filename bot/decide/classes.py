"""What each class of failure calls for: one table, so that a new class is one row and never a branch."""

from __future__ import annotations

from typing import Literal

from bot.model.outcome import Outcome

Response = Literal["retry", "repair", "stop"]

# class -> (what it calls for, the outcome when nothing is left to do)
CLASSES: dict[str, tuple[Response, Outcome]] = {
    "engine-regression": ("repair", Outcome.INCOMPATIBLE),
    "moved-module": ("repair", Outcome.INCOMPATIBLE),
    "flag-removed": ("repair", Outcome.FAILED),
    "feature-missing": ("repair", Outcome.INCOMPATIBLE),
    "arch-unsupported": ("repair", Outcome.INCOMPATIBLE),
    "oom": ("repair", Outcome.FAILED),
    "tool-parser": ("repair", Outcome.FAILED),
    "eval-gate": ("repair", Outcome.FAILED),
    "request-errors": ("repair", Outcome.FAILED),
    "hang": ("retry", Outcome.FAILED),
    "node-unhealthy": ("retry", Outcome.UNCERTAIN),
    "package-fetch": ("retry", Outcome.UNCERTAIN),
    "cancelled-by-concurrency": ("retry", Outcome.UNCERTAIN),
    "image-missing": ("stop", Outcome.READINESS_BLOCKED),
    "model-not-staged": ("stop", Outcome.READINESS_BLOCKED),
    "disk-full": ("stop", Outcome.READINESS_BLOCKED),
    "runner-retired": ("stop", Outcome.READINESS_BLOCKED),
    "credential": ("stop", Outcome.READINESS_BLOCKED),
    "capacity": ("stop", Outcome.CAPACITY_DEFERRED),
    "baseline-gap": ("stop", Outcome.UNCERTAIN),
    "changelog-conflict": ("stop", Outcome.UNCERTAIN),
    "shared-ci-bug": ("stop", Outcome.UNCERTAIN),
}
UNKNOWN: tuple[Response, Outcome] = ("repair", Outcome.FAILED)
INFRASTRUCTURE = frozenset(name for name, (response, _) in CLASSES.items() if response == "retry")
# How often a job may fail this way before it is the engine's fault: the watchdog's hang gets one more try, on another node.
PATIENCE = {"hang": 1}


# How a bump ends that planning stopped before anything ran. What is not here is for a maintainer to settle.
_PREVENTED: dict[str, Outcome] = {
    **dict.fromkeys(("moved-module", "flag-removed", "feature-missing", "arch-unsupported", "engine-regression"),
                    Outcome.INCOMPATIBLE),
    **dict.fromkeys(("model-not-staged", "credential", "runner-retired", "disk-full", "shared-ci-bug", "image-missing"),
                    Outcome.READINESS_BLOCKED),
    "capacity": Outcome.CAPACITY_DEFERRED,
}


def prevented(class_: str | None) -> Outcome:
    """How a bump ends that files alone have stopped, by the class of what was found."""
    return _PREVENTED.get(class_ or "", Outcome.UNCERTAIN)


def response(class_: str | None) -> tuple[Response, Outcome]:
    """What a class calls for; an unknown error is taken for the image's fault, never for the weather."""
    return CLASSES.get(class_ or "", UNKNOWN)


def weather(class_: str | None, attempt: int) -> bool:
    """Whether a job that failed this way at its `attempt` says nothing about the image, and is run again."""
    return class_ in INFRASTRUCTURE and attempt <= PATIENCE.get(class_ or "", attempt)
