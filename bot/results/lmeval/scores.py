"""lm-eval result documents (`results_*.json`): scores of each task under each answer filter, and their n."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Row
from bot.results.parsed import Context, Parsed, any_of, has
from bot.results.read import count, document, mapping, number, optional
from bot.results.shares import correct_of

FORMAT = "lm-eval-results"
FILTERS = {"strict-match": "strict", "flexible-extract": "flexible"}
SHARES = ("exact_match", "em", "acc", "acc_norm", "pass@1", "score", "resolved", "math_verify", "prompt_level_strict_acc",
          "prompt_level_loose_acc", "inst_level_strict_acc", "inst_level_loose_acc")
"""Metrics that are a share of questions answered right, the chief one first. Others (bleu, perplexity) are no gate and are
passed over, as standard errors are."""
_SCORE = re.compile(rb'"(?:%s),[\w-]+"\s*:' % "|".join(SHARES).encode())


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] == b"{"
        and has(head, "results")
        and (any_of(head, "group_subtasks", "n-samples", "lm_eval_version", "configs") or _SCORE.search(head) is not None)
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """A row for each task, or group of tasks, and filter."""
    whole = mapping(document(stream, name), name, "")
    results = mapping(whole.get("results"), name, "results")
    rows: list[Row] = []
    for task, scores in results.items():
        told = mapping(scores, name, f"results.{task}")
        rows += _scores(told, task, _asked(whole, task, told, name), name, context)
    if not rows:
        raise BadInput("no task has a score", "the eval did not finish", file=name, key="results")
    return Parsed(rows=tuple(rows), client=_client(whole, name))


def _client(whole: Mapping[str, Any], name: str) -> int | None:
    """`num_concurrent` of the model's arguments, which are a mapping or `key=value,...`."""
    told = optional(whole, "config", "model_args")
    found = told.get("num_concurrent") if isinstance(told, dict) else None
    if isinstance(told, str):
        found = next((int(value) for key, _, value in (part.partition("=") for part in told.split(","))
                      if key.strip() == "num_concurrent" and value.isdigit() and len(value) < 8), None)
    return None if found is None else count(found, name, "config.model_args.num_concurrent", least=1)


def stats(metrics: list[str], filtered: str) -> dict[str, str]:
    """Each metric under one filter as a row's `stat`: the chief one has the filter's plain name, others their own beside it."""
    ranked = sorted((metric for metric in metrics if metric in SHARES), key=SHARES.index)
    if filtered == "none":
        return {metric: metric for metric in ranked}
    return {metric: FILTERS.get(filtered, filtered) if not index else f"{metric},{filtered}" for index, metric in enumerate(ranked)}


def _asked(whole: Mapping[str, Any], task: str, told: Mapping[str, Any], name: str) -> int | None:
    """The questions asked; of a group those of all its tasks."""
    asked = optional(whole, "n-samples", task, "effective")
    if asked is not None:
        return count(asked, name, f"n-samples.{task}.effective", least=1)
    if told.get("sample_len") is not None:
        return count(told["sample_len"], name, f"results.{task}.sample_len", least=1)
    of = [optional(whole, "n-samples", one, "effective") for one in _leaves(whole.get("group_subtasks"), task)]
    return sum(count(one, name, "n-samples") for one in of) if of and None not in of else None


def _leaves(groups: Any, task: str) -> list[str]:
    """The tasks below a group, each once however often groups name it."""
    leaves: dict[str, None] = {}
    seen, waiting = {task}, list(groups.get(task) or ()) if isinstance(groups, dict) else []
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, str) and one not in seen:
            seen.add(one)
            below = groups.get(one)
            waiting += below if isinstance(below, list) else []
            leaves |= {} if below else {one: None}
    return list(leaves)


def _scores(scores: Mapping[str, Any], task: str, n: int | None, name: str, context: Context) -> list[Row]:
    by_filter: dict[str, list[str]] = {}
    for key in scores:
        metric, _, filtered = key.partition(",")
        if filtered and metric in SHARES:
            by_filter.setdefault(filtered, []).append(metric)
    made = []
    for filtered, metrics in by_filter.items():
        for metric, stat in stats(metrics, filtered).items():
            key = f"{metric},{filtered}"
            share = number(scores[key], name, f"results.{task}.{key}", most=1.0)
            made.append(context.row(context.cell(None), "eval", share, "share", task=task, stat=stat, n=n,
                                    correct=correct_of(share, n)))
    return made
