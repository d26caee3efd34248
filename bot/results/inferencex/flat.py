"""Flat result keys (`median_ttft`, `tput_per_gpu`, `server_gpu_cache_hit_rate`) into rows.

Fixed-sequence files and the published-baseline API share this vocabulary, so both are read here and a baseline cannot
end up under another name than the result it is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.model.result import Cell, Row
from bot.results.parsed import Context
from bot.results.read import LARGEST, number

PLAIN = {
    "tput_per_gpu": ("tput_per_gpu", "tok/s/GPU"),
    "output_tput_per_gpu": ("output_tput_per_gpu", "tok/s/GPU"),
    "input_tput_per_gpu": ("input_tput_per_gpu", "tok/s/GPU"),
    "total_tput_tps": ("total_tput", "tok/s"),
    "output_tput_tps": ("output_tput", "tok/s"),
    "input_tput_tps": ("input_tput", "tok/s"),
    "mean_qps": ("request_tput", "req/s"),
    "num_requests_successful": ("profiled_requests", "requests"),
    "mean_input_tokens": ("input_tokens", "tokens"),
    "mean_output_tokens_actual": ("output_tokens", "tokens"),
    "duration_seconds": ("duration", "s"),
    "server_gpu_cache_hit_rate": ("gpu_cache_hit_rate", "share"),
    "server_cpu_cache_hit_rate": ("cpu_cache_hit_rate", "share"),
    "server_external_cache_hit_rate": ("external_cache_hit_rate", "share"),
}
TIMED = {"ttft": "s", "itl": "s", "tpot": "s", "e2el": "s", "intvty": "tok/s/user"}
_TIMED = re.compile(rf"(?P<stat>mean|median|p\d{{1,2}}(?:\.\d+)?)_(?P<metric>{'|'.join(TIMED)})")


def rows(
    values: Mapping[str, Any], *, point: Cell, image: str | None, context: Context, name: str, key: str = ""
) -> tuple[Row, ...]:
    """A row for each key of this vocabulary; others (identity, power, deviations) and nulls are passed over."""
    made = []
    for written, value in values.items():
        meaning = _meaning(written)
        if meaning is None or value is None:
            continue
        metric, stat, unit = meaning
        most = 1.0 if unit == "share" else LARGEST
        checked = number(value, name, f"{key}.{written}".lstrip("."), most=most)
        made.append(context.row(point, metric, checked, unit, stat=stat, image=image))
    return tuple(made)


def _meaning(written: str) -> tuple[str, str | None, str] | None:
    if written in PLAIN:
        metric, unit = PLAIN[written]
        return metric, None, unit
    found = _TIMED.fullmatch(written)
    if found is None:
        return None
    stat = "p50" if found["stat"] == "median" else found["stat"]
    return found["metric"], stat, TIMED[found["metric"]]
