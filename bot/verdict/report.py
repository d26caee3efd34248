"""A verdict as the JSON of CONTRACTS section 2 (`compare`): plain values, null for what is not known."""

from __future__ import annotations

from typing import Any

import msgspec

from bot.model.result import Cell, Finding, Rerun, Verdict


def report(verdict: Verdict) -> dict[str, Any]:
    """The whole object, ready for a JSON encoder."""
    return {
        "verdict": verdict.verdict,
        "reasons": list(verdict.reasons),
        "findings": [_finding(found) for found in verdict.findings],
        "rerun": [_rerun(again) for again in verdict.rerun],
    }


def exit_code(verdict: Verdict) -> int:
    """0 for improved or neutral, 1 for regressed or inconclusive."""
    return 0 if verdict.verdict in ("improved", "neutral") else 1


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "metric": found.metric,
        "point": _point(found.point),
        "baseline": found.baseline,
        "new": found.new,
        "delta": found.delta,
        "interval": list(found.interval) if found.interval else None,
        "unit": found.unit,
        "n": found.n,
        "finding": found.finding,
        "void": found.void,
        "reasons": list(found.reasons),
        "recipe": found.recipe or (found.point.recipe if found.point else None) or None,
        "how": found.how,
    }


def _rerun(again: Rerun) -> dict[str, Any]:
    return {"point": _point(again.point), "why": again.why, "gpu_hours": again.gpu_hours, "runs": again.runs,
            "history": again.history}  # fmt: skip


def _point(point: Cell | None) -> dict[str, Any] | None:
    return None if point is None else msgspec.to_builtins(point)
