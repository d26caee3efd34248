"""lm-eval result documents (`results_*.json`): scores of each task under each answer filter, and their n."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.parsed import UNKNOWN, Context, Parsed, has
from bot.results.read import count, document, mapping, number, optional
from bot.results.shares import correct_of

FORMAT = "lm-eval-results"
FILTERS = {"strict-match": "strict", "flexible-extract": "flexible"}
SHARES = frozenset({"exact_match", "acc", "acc_norm", "pass@1", "score", "em", "resolved"})
"""Metrics that are a share of questions answered right. Others (bleu, perplexity) are no gate and are passed over."""


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] == b"{"
        and has(head, "results")
        and any(has(head, key) for key in ("group_subtasks", "n-samples", "lm_eval_version", "configs"))
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    whole = mapping(document(stream, name), name, "")
    results = mapping(whole.get("results"), name, "results")
    rows: list[Row] = []
    for task, scores in results.items():
        n = _asked(whole, task, name)
        rows += _scores(mapping(scores, name, f"results.{task}"), task, n, name, context)
    if not rows:
        raise BadInput("no task has a score", "the eval did not finish", file=name, key="results")
    return Parsed(rows=tuple(rows))


def _asked(whole: Mapping[str, Any], task: str, name: str) -> int | None:
    asked = optional(whole, "n-samples", task, "effective")
    return None if asked is None else count(asked, name, f"n-samples.{task}.effective", least=1)


def _scores(scores: Mapping[str, Any], task: str, n: int | None, name: str, context: Context) -> list[Row]:
    made = []
    for key, value in scores.items():
        metric, _, filtered = key.partition(",")
        if metric not in SHARES or not filtered:
            continue
        share = number(value, name, f"results.{task}.{key}", most=1.0)
        made.append(
            Row(
                point=Cell(recipe=context.recipe, concurrency=UNKNOWN),
                metric="eval",
                task=task,
                value=share,
                unit="share",
                stat=FILTERS.get(filtered, metric if filtered == "none" else filtered),
                n=n,
                run=context.run,
                attempt=context.attempt,
                head=context.head,
                correct=correct_of(share, n),
            )
        )
    return made
