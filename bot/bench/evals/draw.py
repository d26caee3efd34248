"""Which questions are asked. The same ones of every image: a baseline and its candidate are compared question by question."""

from __future__ import annotations

import hashlib
import json

from msgspec import Struct

from bot.bench.evals.suite import Suite
from bot.model.recipe import EvalSpec

SAMPLE = 100
"""Shuffled questions that a full eval asks first: they find 0.81 in place of 0.97 with probability 0.999."""
LARGE = 5 * SAMPLE
"""A suite below this is asked whole at once: the sample would cost a fifth of it and more."""
_SEED = "bumpbot 1"


class Ask(Struct, frozen=True, kw_only=True):
    """One run of lm-eval: `asked` questions, by their places in each task's suite (`picked`), or all of them."""

    name: str
    asked: int
    picked: dict[str, tuple[int, ...]] | None = None

    @property
    def sample(self) -> bool:
        return self.picked is not None


def asks(spec: EvalSpec, suite: Suite) -> tuple[Ask, ...]:
    """What is asked, in order; of several the last is the eval and those before it only tell whether it is worth its hours."""
    if spec.limit is not None and spec.limit < suite.questions:
        return (_ask(suite, spec.limit, shuffled=spec.shuffled),)
    whole = Ask(name="whole", asked=suite.questions)
    return (_ask(suite, SAMPLE, shuffled=True), whole) if suite.questions >= LARGE else (whole,)


def _ask(suite: Suite, most: int, *, shuffled: bool) -> Ask:
    """So many questions of the suite: of a group spread over its tasks by their sizes, at least one each. (lm-eval asks all
    questions of a task for which none is named, and its own --limit counts for each task anew.)"""
    counts = _spread(suite.sizes, most)
    picked = {name: tuple(sorted(_shuffled(name, suite.sizes[name])[:count])) if shuffled else tuple(range(count))
              for name, count in counts.items()}
    return Ask(name="sample", asked=sum(counts.values()), picked=picked)


def _shuffled(task: str, size: int) -> list[int]:
    """The places of a suite in one order for ever: by a sum of their number, which no version of Python changes. A smaller sample
    lies within a larger one."""
    return sorted(range(size), key=lambda at: hashlib.sha256(f"{_SEED}/{task}/{at}".encode()).digest())


def _spread(sizes: dict[str, int], most: int) -> dict[str, int]:
    whole = sum(sizes.values())
    shares = {name: most * size / whole for name, size in sizes.items()}
    counts = {name: min(sizes[name], max(1, int(share))) for name, share in shares.items()}
    for name in sorted(shares, key=lambda name: (int(shares[name]) - shares[name], name)):
        if sum(counts.values()) >= most:
            break
        if counts[name] < sizes[name] and shares[name] >= 1:
            counts[name] += 1
    return counts


def written(picked: dict[str, tuple[int, ...]]) -> str:
    """The file that lm-eval takes with --samples. Places are in rising order: lm-eval names its answers by them in that order,
    whatever order it was given."""
    return json.dumps({name: sorted(places) for name, places in picked.items()}) + "\n"
