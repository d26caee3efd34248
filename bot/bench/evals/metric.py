"""Which of lm-eval's scores a recipe means."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import BadInput
from bot.results.lmeval.scores import SHARES

_FILTERS = ("strict-match", "none")
"""Where a recipe names no filter: the strict one, or that of a task that has none."""


def chosen(metric: str, scores: Sequence[str], task: str) -> str:
    """The score that a recipe means: its own words (`exact_match,strict-match`), a metric alone under its strict filter, or with no
    word the chief metric. BadInput names what there is."""
    known = [key.rpartition(",") for key in scores]
    named = [part for part in known if metric in ("", part[0], ",".join((part[0], part[2])))]
    ranked = sorted((part for part in named if metric or part[0] in SHARES),
                    key=lambda part: (SHARES.index(part[0]) if part[0] in SHARES else len(SHARES),
                                      _FILTERS.index(part[2]) if part[2] in _FILTERS else len(_FILTERS), part[2]))
    if not ranked:
        raise BadInput(f"{task} is not scored by {metric!r}" if metric else f"{task} has no score that is a share of its questions",
                       f"it has {' '.join(sorted(scores))[:300]}", key="metric")
    return f"{ranked[0][0]},{ranked[0][2]}"
