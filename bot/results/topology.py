"""A point's topology and workload in the words the field uses in its job names, from a result row's own numbers.

`TP16/DCP16`, `TP8/EP8/DPA`, `2P TP4 x 1D TP8/EP8/DPA`: sizes of 1 are not named. The same function serves result files
and the published baseline, so that two spellings of one topology cannot fail to match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SIZES = (("tp", "TP"), ("pp", "PP"), ("dcp_size", "DCP"), ("pcp_size", "PCP"), ("ep", "EP"))


def topology(row: Mapping[str, Any]) -> str | None:
    """None when the row tells no sizes. A decode side without GPUs of its own is an aggregated worker."""
    if "prefill_tp" not in row:
        return _side(row, "")
    prefill = _side(row, "prefill_")
    disaggregated = row.get("disagg") in (True, "true")
    if not disaggregated:
        return f"{_workers(row, 'prefill_')}P {prefill}" if prefill and _workers(row, "prefill_") > 1 else prefill
    return f"{_workers(row, 'prefill_')}P {prefill} x {_workers(row, 'decode_')}D {_side(row, 'decode_')}"


def workload(row: Mapping[str, Any]) -> str | None:
    """`agentic-coding` or `8k1k`, the words of the recipe files."""
    scenario = row.get("scenario_type") or row.get("benchmark_type")
    if scenario in ("agentic-coding", "agentic_traces"):
        return "agentic-coding"
    isl, osl = row.get("isl"), row.get("osl")
    return f"{_tokens(isl)}{_tokens(osl)}" if isl and osl else None


def _side(row: Mapping[str, Any], prefix: str) -> str | None:
    parts = [
        f"{word}{_size(row.get(prefix + key))}"
        for key, word in _SIZES
        if key == "tp" and _size(row.get(prefix + key)) or _size(row.get(prefix + key)) > 1
    ]
    if row.get(f"{prefix}dp_attention") in (True, "true"):
        parts.append("DPA")
    return "/".join(parts) or None


def _workers(row: Mapping[str, Any], prefix: str) -> int:
    return _size(row.get(f"{prefix}num_workers")) or 1


def _size(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _tokens(value: Any) -> str:
    return f"{value // 1024}k" if isinstance(value, int) and value >= 1024 and value % 1024 == 0 else str(value)
