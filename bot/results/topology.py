"""A point's topology and workload in the words that a recipe's own points have, from a result row's own numbers.

`TP16/DCP16`, `TP8/EP8/DPA`, `2P(TP4) x 1D(TP8/EP8/DPA)`: sizes of 1 are not named. The same function serves result files
and the published baseline, so that two spellings of one topology cannot fail to match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SIZES = (("pp", "PP"), ("dcp_size", "DCP"), ("pcp_size", "PCP"), ("ep", "EP"))
_FIXED = ("single_turn", "fixed-seq-len")
_NAMED = {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}


def topology(row: Mapping[str, Any]) -> str | None:
    """None when the row tells no sizes. A row that is not disaggregated has one role, also where it is told for both: the
    published API mirrors an aggregated worker into its decode side (CONTRACT 7.4)."""
    if "prefill_tp" not in row:
        return _side(row, "")
    prefill = _side(row, "prefill_")
    if not _disaggregated(row):
        many = _workers(row, "prefill_")
        return f"{many}P({prefill})" if prefill and many > 1 else prefill
    decode = _side(row, "decode_")
    return f"{_workers(row, 'prefill_')}P({prefill}) x {_workers(row, 'decode_')}D({decode})" if prefill and decode else None


def workload(row: Mapping[str, Any]) -> str | None:
    """`agentic-coding`, or the lengths of a fixed sequence, or another scenario's own name; None where none is told."""
    scenario = row.get("scenario_type") or row.get("benchmark_type")
    if scenario in ("agentic-coding", "agentic_traces"):
        return "agentic-coding"
    named = scenario if isinstance(scenario, str) and scenario not in _FIXED else None
    return lengths(row.get("isl"), row.get("osl")) or named


def lengths(isl: Any, osl: Any) -> str | None:
    """`8k1k` for the two that recipes name so, else `512_128`; None unless both are whole numbers."""
    if not _size(isl) or not _size(osl):
        return None
    return _NAMED.get((isl, osl), f"{isl}_{osl}")


def _disaggregated(row: Mapping[str, Any]) -> bool:
    told = row.get("disagg")
    return _true(told) if told is not None else bool(_size(row.get("decode_num_workers")) and _size(row.get("decode_tp")))


def _side(row: Mapping[str, Any], prefix: str) -> str | None:
    width = _size(row.get(f"{prefix}tp"))
    if not width:
        return None
    parts = [f"TP{width}", *(f"{word}{size}" for key, word in _SIZES if (size := _size(row.get(prefix + key))) > 1)]
    return "/".join([*parts, "DPA"] if _true(row.get(f"{prefix}dp_attention")) else parts)


def _workers(row: Mapping[str, Any], prefix: str) -> int:
    return _size(row.get(f"{prefix}num_workers")) or 1


def _true(value: Any) -> bool:
    return value is True or isinstance(value, str) and value.lower() == "true"


def _size(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
