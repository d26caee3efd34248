"""lm-eval samples (`samples_*.jsonl`): every answer of an eval, counted by what became of it.

A score alone cannot tell a worse model from a server that drops the end of its answers: in one real bump 219 of 1319
answers stopped before their `#### N` line, the rest were as good as ever, and throughput looked better for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import median
from typing import Any, BinaryIO

from msgspec import Struct

from bot.errors import BadInput
from bot.model.result import Samples
from bot.results.parsed import UNKNOWN, Context, Parsed, has
from bot.results.read import count, number, records, text

FORMAT = "lm-eval-samples"
STRICT = "strict-match"
_NO_ANSWER = "[invalid]"
_FINAL = re.compile(r"####\s*\$?-?[0-9.,]*[0-9]")
_TASK = re.compile(r"samples?_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}.*?)?(?:_conc\d+)?\.jsonl$")


class _Answer(Struct, frozen=True):
    correct: bool
    cut: bool
    length: int


def sniff(head: bytes, name: str) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first[:1] == b"{" and has(first, "doc_id", "resps") and (has(first, "filter") or has(first, "filtered_resps"))


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Counts under the strict filter, or the only one there is. A question twice under one filter is refused."""
    answers: dict[str, dict[int, _Answer]] = {}
    for line, record in records(stream, name):
        filtered = text(record.get("filter", STRICT), name, "filter", line=line)
        doc = count(record.get("doc_id"), name, "doc_id", line=line)
        if doc in answers.setdefault(filtered, {}):
            raise BadInput(
                f"question {doc} stands twice under {filtered}",
                "two runs were written into one file",
                file=name,
                line=line,
                key="doc_id",
            )
        answers[filtered][doc] = _answer(record, name, line)
    if not answers:
        raise BadInput("no answers", "the eval did not finish", file=name)
    chosen = answers.get(STRICT) or answers[min(answers)]
    return Parsed(samples=(_count(tuple(chosen.values()), name),))


def _count(answers: tuple[_Answer, ...], name: str) -> Samples:
    correct = sum(answer.correct for answer in answers)
    cut = sum(answer.cut and not answer.correct for answer in answers)
    found = _TASK.search(name.rsplit("/", 1)[-1])
    return Samples(
        concurrency=UNKNOWN,
        task=found["task"] if found else "",
        n=len(answers),
        correct=correct,
        cut=cut,
        wrong=len(answers) - correct - cut,
        median_length=float(median(answer.length for answer in answers)),
    )


def _answer(record: Mapping[str, Any], name: str, line: int) -> _Answer:
    response = _first(record.get("resps"))
    if not isinstance(response, str):
        raise BadInput("no answer text", "resps holds a list of answers", file=name, line=line, key="resps")
    return _Answer(correct=_score(record, name, line) >= 1.0, cut=_cut(record, response), length=len(response))


def _cut(record: Mapping[str, Any], response: str) -> bool:
    """Whether the answer ends before its final line; tasks without such a line are judged by what the filter found."""
    if "####" in str(record.get("target", "")):
        return _FINAL.search(response) is None
    return _first(record.get("filtered_resps")) in (None, "", _NO_ANSWER)


def _score(record: Mapping[str, Any], name: str, line: int) -> float:
    named = record.get("metrics")
    for metric in named if isinstance(named, list) and named else ["exact_match"]:
        if isinstance(metric, str) and record.get(metric) is not None:
            return number(record[metric], name, metric, line=line, most=1.0)
    raise BadInput("no score", "each line carries the metric it names", file=name, line=line, key="metrics")


def _first(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0] if value else None
    return value
