"""Which rows are gated by an eval, on which task and threshold (CONTRACT 4.3)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.errors import BadInput
from bot.layout.records import Evals
from bot.recipe.rows import Row, concurrencies, workload

_POINT_FIELDS = frozenset({"conc", "exp-name", "run-eval", "eval-only", "eval-conc", "eval-all-concs", "recipe-fingerprint"})
_FIXED_GROUP = ("model", "runner", "framework", "precision", "isl", "osl", "spec-decoding", "dp-attn")
_AGENTIC_GROUP = ("model", "runner", "framework", "precision")
Chosen = tuple[int, int]


def chosen(rows: Sequence[Row], at_least: int) -> list[Chosen]:
    """(index of the row, concurrency) of every gating eval of one generator call, in row order.

    Multi node: the highest concurrency of `at_least` or more of each distinct deployment. Single node: fixed 8k1k at
    the highest and the median concurrency of `at_least` or more, every TP; agentic at the highest of all.
    """
    groups: dict[Any, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        name = _group(row)
        if name is not None and max(concurrencies(row)) >= (at_least if name[0] is not _agentic_one else 0):
            groups[name].append(at)
    picked: dict[int, int] = {}
    for (pick, _), members in groups.items():
        picked.update(pick(rows, members, at_least))
    return sorted(picked.items())


def rows_of(rows: Sequence[Row], at_least: int) -> list[Row]:
    """The gating evals as rows, as `--evals-only` prints them for these rows."""
    marks = {"run-eval": True, "eval-only": True}
    return [{**rows[at], **marks, **({"eval-conc": conc} if "prefill" in rows[at] else {})} for at, conc in chosen(rows, at_least)]


def measured(row: Mapping[str, Any]) -> list[int]:
    """The concurrencies that a row runs: an eval's is one of those that its row lists, unless all of them are asked for."""
    one = row.get("eval-conc") if row.get("eval-only") else None
    return [one] if isinstance(one, int) else concurrencies(row)


def threshold(task: str, prefix: str, table: Mapping[str, Any] | None, otherwise: float) -> float:
    """The score a task must reach for a model: the model's own figure, else the task's, else `otherwise`."""
    table = table or {}
    models, default = table.get("models") or {}, table.get("default") or {}
    found = (models.get(prefix) or {}).get(task, default.get(task, otherwise))
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise BadInput(f"the threshold of {task} is {found!r}", "write a number from 0 to 1", key=task)
    return float(found)


def task_of(row: Row, evals: Evals) -> str:
    """The task a row's eval runs: what the generator says (newer ones do), else the layout's."""
    return str(row.get("eval-task") or row.get("eval-suite") or evals.task)


def deployment(row: Mapping[str, Any]) -> str:
    """What a row runs, without its concurrency: rows that share it are points of one curve."""
    return json.dumps({name: part for name, part in row.items() if name not in _POINT_FIELDS}, sort_keys=True)


Pick = Callable[[Sequence[Row], list[int], int], dict[int, int]]


def _group(row: Row) -> tuple[Pick, str] | None:
    agentic = row.get("scenario-type") == "agentic-coding"
    if not agentic and workload(row) != "8k1k":
        return None
    if "prefill" in row:
        return _highest, deployment(row)
    names = _AGENTIC_GROUP if agentic else _FIXED_GROUP
    return (_agentic_one if agentic else _fixed_two), json.dumps([row[name] for name in names])


def _highest(rows: Sequence[Row], members: list[int], at_least: int) -> dict[int, int]:
    best = max(members, key=lambda at: max(concurrencies(rows[at])))
    return {best: max(concurrencies(rows[best]))}


def _agentic_one(rows: Sequence[Row], members: list[int], at_least: int) -> dict[int, int]:
    return _highest(rows, members, at_least)


def _fixed_two(rows: Sequence[Row], members: list[int], at_least: int) -> dict[int, int]:
    levels = sorted({rows[at]["conc"] for at in members})
    wanted = {levels[-1], levels[len(levels) // 2]}
    return {at: rows[at]["conc"] for at in members if rows[at]["conc"] in wanted}
