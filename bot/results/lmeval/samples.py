"""lm-eval samples (`samples_*.jsonl`): every answer of an eval, counted by what became of it.

A score alone cannot tell a worse model from a server that drops the end of its answers: in one real bump 219 of 1319
answers stopped before their `#### N` line, the rest were as good as ever, and throughput looked better for it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from statistics import median
from typing import Any, BinaryIO

from msgspec import Struct

from bot.errors import BadInput
from bot.model.result import Samples
from bot.results.lmeval.scores import SHARES, stats
from bot.results.parsed import UNKNOWN, Context, Parsed, Tally, any_of, has
from bot.results.read import count, number, records, text
from bot.results.shares import correct_of

FORMAT = "lm-eval-samples"
STRICT = "strict-match"
MOST_TOLD_APART = 200_000
"""A `doc_id` beyond this names no question of a suite, and a letter a question would no longer be small."""
_FOLLOWED, _LISTED = "prompt_level_", "inst_level_"
"""IFEval scores a prompt by true and false, and its instructions by a list of these, over which it makes a mean of its own."""
_NO_ANSWER = "[invalid]"
_FINAL = re.compile(r"####\s*\$?-?[0-9.,]*[0-9]")
_TASK = re.compile(r"samples?_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}.*?)?(?:_conc\d+)?\.jsonl$")


class _Answer(Struct, frozen=True):
    scores: dict[str, float]
    cut: bool
    length: int
    mark: str

    @property
    def correct(self) -> bool:
        """By the first metric that the line names."""
        return next(iter(self.scores.values())) >= 1.0


def sniff(head: bytes, name: str) -> bool:
    first, more, _ = head.lstrip().partition(b"\n")
    told = any_of(first, "filter", "filtered_resps") and has(first, "resps")
    return first[:1] == b"{" and has(first, "doc_id") and (told or not more and any_of(first, "target", "arguments", "doc"))


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
    _same_questions(answers, name)
    found = _TASK.search(name.rsplit("/", 1)[-1])
    task = found["task"] if found else ""
    chosen = answers.get(STRICT) or answers[min(answers)]
    return Parsed(samples=(_count(chosen, task),),
                  tallies=tuple(tally for filtered in sorted(answers)
                                for tally in _tallies(answers[filtered], filtered, task, context)))


def _same_questions(answers: Mapping[str, Mapping[int, _Answer]], name: str) -> None:
    """Every filter is laid over the same answers; one that lacks some was cut off while it was written."""
    first = min(answers)
    for filtered, told in sorted(answers.items()):
        if told.keys() != answers[first].keys():
            raise BadInput(f"{len(told)} answers under {filtered}, {len(answers[first])} under {first}",
                           "the file is incomplete; run the eval again", file=name, key="filter")


def _count(answers: Mapping[int, _Answer], task: str) -> Samples:
    told = list(answers.values())
    correct = sum(answer.correct for answer in told)
    cut = sum(answer.cut and not answer.correct for answer in told)
    marks, prints = _apart(answers)
    return Samples(
        concurrency=UNKNOWN,
        task=task,
        n=len(told),
        correct=correct,
        cut=cut,
        wrong=len(told) - correct - cut,
        median_length=float(median(answer.length for answer in told)),
        marks=marks,
        prints=prints,
    )


def _apart(answers: Mapping[int, _Answer]) -> tuple[str, str]:
    """A letter and a print a question, by its place in the suite; nothing where a question cannot be known again."""
    last = max(answers)
    if last >= MOST_TOLD_APART or not all(answer.mark for answer in answers.values()):
        return "", ""
    marks, prints = ["-"] * (last + 1), ["----"] * (last + 1)
    for doc, answer in answers.items():
        marks[doc] = "r" if answer.correct else "c" if answer.cut else "w"
        prints[doc] = answer.mark
    return "".join(marks), "".join(prints)


def _tallies(answers: Mapping[int, _Answer], filtered: str, task: str, context: Context) -> list[Tally]:
    named = set.intersection(*(set(answer.scores) for answer in answers.values()))
    means = {metric: sum(answer.scores[metric] for answer in answers.values()) / len(answers) for metric in named}
    n, made = len(answers), []
    for metric, stat in stats(sorted(named), filtered).items():
        row = context.row(context.cell(None), "eval", means[metric], "share", task=task, stat=stat, n=n,
                          correct=correct_of(means[metric], n))
        made.append(Tally(task=task, stat=stat, n=n, share=means[metric], row=row))
    return made


def _answer(record: Mapping[str, Any], name: str, line: int) -> _Answer:
    response = _first(record.get("resps"))
    if not isinstance(response, str):
        raise BadInput("no answer text", "resps holds a list of answers", file=name, line=line, key="resps")
    return _Answer(scores=_scores(record, name, line), cut=_cut(record, response), length=len(response), mark=_print(record))


def _cut(record: Mapping[str, Any], response: str) -> bool:
    """Whether the answer ends before its final line; tasks without such a line are judged by what the filter found."""
    if "####" in str(record.get("target", "")):
        return _FINAL.search(response) is None
    return _first(record.get("filtered_resps")) in (None, "", _NO_ANSWER)


def _scores(record: Mapping[str, Any], name: str, line: int) -> dict[str, float]:
    named = record.get("metrics")
    named = [metric for metric in named if isinstance(metric, str)] if isinstance(named, list) and named else ["exact_match"]
    # Others (bleu, f1) are no share; where there is nothing else, what they say must be one all the same.
    shares = [metric for metric in named if metric in SHARES] or named
    told = {metric: _share(record[metric], name, metric, line) for metric in shares
            if record.get(metric) is not None and not metric.startswith(_LISTED)}
    if not told:
        raise BadInput("no score", "each line carries the metric it names", file=name, line=line, key="metrics")
    return told


def _share(value: Any, name: str, metric: str, line: int) -> float:
    followed = metric.startswith(_FOLLOWED) and isinstance(value, bool)
    return float(value) if followed else number(value, name, metric, line=line, most=1.0)


def _print(record: Mapping[str, Any]) -> str:
    """Four hexadecimal digits of the question's own hash, which lm-eval writes; else of the question itself."""
    told = record.get("doc_hash")
    if isinstance(told, str) and re.fullmatch(r"[0-9a-f]{8,}", told):
        return told[:4]
    if record.get("doc") is None:
        return ""
    return hashlib.sha256(json.dumps(record["doc"], sort_keys=True).encode()).hexdigest()[:4]


def _first(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0] if value else None
    return value
