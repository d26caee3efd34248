"""The reasons a finding may carry, and how judgements join. A closed set: outside programs switch on these words."""

from __future__ import annotations

from collections.abc import Iterable

from bot.model.result import Judgement

REASONS = (
    "image-not-proven",
    "cold-run",
    "workload-mismatch",
    "wide-interval",
    "not-confirmed",
    "too-few-points",
    "noise-unknown",
    "clustered",
    "eval-not-comparable",
    "partial-sweep",
    "saturated",
    "baseline-unverifiable",
    "baseline-single",
    "serving-path-changed",
    "stand-in",
    "budget-spent",
)
"""A reason is one of these words; a value may follow a colon. In the order in which they matter to a reader."""
CLEARED = "not-confirmed:cleared"
"""A suspicion was looked at again and not seen again; `not-confirmed` alone is one that nobody has looked at again."""
BLOCKING = frozenset({"image-not-proven", "cold-run", "workload-mismatch"})
"""With one of these the numbers are not of what they claim to be: every finding is inconclusive."""
ORDER: tuple[Judgement, ...] = ("improved", "neutral", "inconclusive", "regressed")


def worst(judgements: Iterable[Judgement]) -> Judgement | None:
    """regressed > inconclusive > neutral > improved; None when nothing was judged."""
    return max(judgements, key=ORDER.index, default=None)


def word(reason: str) -> str:
    """A reason without the value after its colon."""
    return reason.partition(":")[0]


def known(reasons: Iterable[str]) -> tuple[str, ...]:
    """Those that are reasons, once each, in the order of REASONS."""
    return tuple(
        sorted(
            {reason for reason in reasons if word(reason) in REASONS},
            key=lambda reason: (REASONS.index(word(reason)), len(reason), reason),
        )
    )
