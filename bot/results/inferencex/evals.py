"""InferenceX eval rows (`agg_eval_all.json`): one element a task and concurrency, strict beside flexible.

A failing eval stands here with its score like any other; passing is decided elsewhere, from thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.lines import Line, line
from bot.results.parsed import Context, Parsed, elements, has
from bot.results.read import count, document, mapping, number, text
from bot.results.shares import correct_of
from bot.results.topology import workload

FORMAT = "inferencex-eval"
_SCORES = (("em_strict", "strict"), ("em_flexible", "flexible"))


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] in (b"{", b"[")
        and has(head, "task", "conc")
        and not has(head, "config_id")
        and (has(head, "em_strict") or has(head, "score_name"))
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    rows: list[Row] = []
    seen: set[tuple[Line, Cell, str]] = set()
    for key, item in elements(document(stream, name)):
        row = mapping(item, name, key)
        own = line(row)
        point, task = _point(row, own, name, key, context), text(row.get("task"), name, f"{key}.task")
        if (own, point, task) in seen:
            raise BadInput(f"{task} at concurrency {point.concurrency} stands twice", "keep one", file=name, key=key)
        seen.add((own, point, task))
        rows += _scores(row, point, task, name, key, context)
    return Parsed(rows=tuple(rows), lines=tuple({own: None for own, _, _ in sorted(seen, key=repr)}))


def _point(row: Mapping[str, Any], own: Line, name: str, key: str, context: Context) -> Cell:
    """No topology: eval rows carry tp and ep but neither DCP nor PP, so theirs would not equal the throughput row's."""
    return Cell(recipe=context.whose(own), concurrency=count(row.get("conc"), name, f"{key}.conc", least=1), workload=workload(row))


def _scores(row: Mapping[str, Any], point: Cell, task: str, name: str, key: str, context: Context) -> list[Row]:
    found = [(stat, row[field], field) for field, stat in _SCORES if row.get(field) is not None]
    null = next((field for field, _ in _SCORES if field in row and row[field] is None), None)
    if null and found:
        raise BadInput(f"{task} has no score under this filter", "the eval did not finish", file=name, key=f"{key}.{null}")
    if not found and row.get("score") is not None:
        found = [(str(row.get("score_name") or "score"), row["score"], "score")]
    if not found:
        raise BadInput(f"{task} has no score", "the eval did not finish", file=name, key=key)
    n = count(row["n_eff"], name, f"{key}.n_eff", least=1) if row.get("n_eff") is not None else None
    made = []
    for stat, value, field in found:
        share = number(value, name, f"{key}.{field}", most=1.0)
        made.append(context.row(point, "eval", share, "share", stat=stat, n=n, task=task, correct=correct_of(share, n)))
    return made
