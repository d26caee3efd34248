"""What lm-eval's exports say of one run: the score under the recipe's metric, how sure it is, and what became of the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Any

from msgspec import Struct

from bot.bench.evals.metric import chosen
from bot.bench.evals.suite import Suite
from bot.errors import BadInput, Refusal
from bot.model.bench import Order
from bot.model.recipe import EvalSpec
from bot.results.lmeval import samples
from bot.results.parsed import Context
from bot.results.read import document, mapping, number, optional, records

_Z = 1.959964


class Scored(Struct, frozen=True, kw_only=True):
    """`value` of `n` questions under `metric`, `low` to `high` its interval (Wilson, 95 %). `empty` answers had no text, `cut`
    ended before their last line, `retried` requests failed and were made again."""

    metric: str
    value: float
    n: int
    low: float
    high: float
    empty: int = 0
    cut: int = 0
    retried: int = 0
    file: str = ""

    @property
    def tries(self) -> int:
        return self.n + self.retried

    @property
    def bad(self) -> int:
        return self.retried + self.empty

    @property
    def kinds(self) -> dict[str, int]:
        told = {"empty": self.empty, "cut": self.cut, "retried": self.retried}
        return {name: count for name, count in told.items() if count}


def read(folder: Path, order: Order, suite: Suite, *, asked: int, retried: int) -> Scored:
    """The one result below this folder. Refusal where lm-eval wrote none, or counted other questions than were asked."""
    found = sorted(folder.rglob("results_*.json"))
    if len(found) != 1:
        raise Refusal(f"lm_eval ended well and left {len(found) or 'no'} results", "its log is logs/lm_eval.log")
    with found[0].open("rb") as stream:
        whole = mapping(document(stream, found[0].name), found[0].name, "")
    metric = chosen(order.metric, suite.scores, suite.task)
    value = number(optional(whole, "results", suite.task, metric), found[0].name, f"results.{suite.task}.{metric}", most=1.0)
    counted = [optional(whole, "n-samples", task, "effective") for task in suite.sizes]
    n = sum(count for count in counted if isinstance(count, int))
    answers = list(_answers(found[0].parent, suite))
    if n != asked or sum(told for told, _, _ in answers) != asked:
        raise Refusal(f"{asked} questions of {suite.task} were asked, and lm_eval counts {n} with"
                      f" {sum(told for told, _, _ in answers)} answers", "the exports are kept; run it again")
    low, high = interval(value, n)
    return Scored(metric=metric, value=value, n=n, low=low, high=high, retried=retried, file=f"{folder.name}/{found[0].name}",
                  empty=sum(empty for _, empty, _ in answers), cut=sum(cut for _, _, cut in answers))


def interval(value: float, n: int, z: float = _Z) -> tuple[float, float]:
    """Wilson's interval of a share of n."""
    middle, spread = value + z * z / (2 * n), z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
    return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def judged(scored: Scored, spec: EvalSpec, *, sample: bool) -> tuple[bool | None, str]:
    """Whether the gate holds. A sample can refuse (its whole interval lies below the threshold) and cannot prove: one that ends
    below the threshold with its interval around it leaves that open, or a good image would fail every other smoke."""
    words = (f"{scored.metric} {scored.value:.4f} of {scored.n} questions (95 %: {scored.low:.4f} to {scored.high:.4f}),"
             f" threshold {spec.threshold:g}")
    if scored.value >= spec.threshold:
        return True, words
    if sample and scored.high >= spec.threshold:
        return None, f"{words}: too few questions to tell"
    return False, words


def _answers(folder: Path, suite: Suite) -> Iterator[tuple[int, int, int]]:
    """Of each task: answers, those without any text, and those that end before their last line."""
    for task in suite.sizes:
        for file in sorted(folder.glob(f"samples_{escape(task)}_[0-9][0-9][0-9][0-9]-*.jsonl")):
            told: dict[Any, bool] = {}
            with file.open("rb") as stream:
                for _, record in records(stream, file.name):
                    told[record.get("doc_id")] = not _text(record.get("resps")).strip()
            cut = 0
            with file.open("rb") as stream, suppress(BadInput):
                cut = sum(counted.cut for counted in samples.parse(stream, file.name, Context(recipe="")).samples)
            yield len(told), sum(told.values()), cut


def _text(value: Any) -> str:
    while isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else ""
