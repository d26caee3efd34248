"""What upstream's files say of a candidate. Nothing is judged here."""

from __future__ import annotations

from typing import Any

from bot.model.image import Resolved
from bot.model.uses import Uses
from bot.plan import imported, upstream
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.upstream import patches


def gathered(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses,
             hardware: str) -> tuple[dict[str, Any], dict[str, str]]:
    """(fields of Facts, why others are missing) of imports, options, architecture and carried patches."""
    found: dict[str, Any] = {}
    if uses.carried and trees.repository:
        found["carried"] = patches.carried(trees.history, uses.carried, trees.commit(new), trees.repository)
    lacking = dict.fromkeys(("options", "arch"), "not-asked")
    told, why = imported.checked(sources, trees, old, new, uses, "rocm" if hardware.lower().startswith("mi") else "cuda",
                                 lambda: upstream.newer(sources, trees, old, new))
    if told is not None:
        found["imports"] = told
    return found, {**lacking, **({"imports": why} if why else {})}
