"""AIPerf's command line for one repeat of a load, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Refusal
from bot.model.bench import Load, Machine, Order
from bot.strict.words import one_line

PROGRAM = "aiperf"
INPUT = 1024
"""Tokens of a made prompt where a recipe names no `input`."""
SEED = 42
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+@-]{0,255}")
_UNFIXED, _LEAST_S = 8192, 300.0


@dataclass(frozen=True)
class Ask:
    """What one repeat asks of AIPerf: `name` is the model's as the server has it, `trace` the file that is played."""

    order: Order
    load: Load
    url: str
    name: str
    seed: int
    folder: Path
    limit_s: float
    trace: Path | None = None

    @property
    def made(self) -> bool:
        """Whether prompts are made, and not played from a trace."""
        return self.load.trace is None


def seed(number: int) -> int:
    """The seed of a repeat (from 1). Each has its own: with one for all, the second would meet its prompts in the server's prefix
    cache. The same repeat has the same prompts in each run, so that runs can be compared."""
    return SEED + number - 1


def limit(order: Order, machine: Machine) -> float:
    """Seconds that one request may take: what the machine file says, else a token a second and five minutes, which no server
    that works needs; never longer than the whole load may."""
    output = order.load.output if order.load else None
    return min(machine.request_seconds or _LEAST_S + (output or _UNFIXED), machine.load_minutes * 60)


def words(ask: Ask) -> list[str]:
    """The whole command. Refusal for a name from the point file that is no plain word: it must not be read as an option."""
    checked(ask.order, ask.load, ask.name)
    command = [PROGRAM, "profile"]
    for flag, value in _TABLE:
        given = value(ask)
        if given is not None and given is not False and given != "":
            command += [flag] if given is True else [flag, str(given)]
    return command


def checked(order: Order, load: Load, *more: str) -> None:
    """Refusal for a name of the point, or one more, that is no plain word."""
    for word in (order.model, order.revision, *more, *((load.trace.dataset, load.trace.format) if load.trace else ())):
        if word and not _WORD.fullmatch(word):
            raise Refusal(f"`{one_line(word, 80)}` is no name that AIPerf may be given", "correct the recipe")


def threshold(order: Order) -> float | None:
    """The share of failed requests at which a repeat is given up: half way from the recipe's limit to all of them. Failures are to
    be counted, but a server that hangs would cost the time limit of each request. None: no share is too many."""
    share = order.gates.failed_requests
    return round((1 + share) / 2, 4) if share < 1 else None


_Value = Callable[[Ask], str | int | float | bool | Path | None]
_TABLE: tuple[tuple[str, _Value], ...] = (
    ("--model-names", lambda ask: ask.name),
    ("--tokenizer", lambda ask: ask.order.model),
    ("--tokenizer-revision", lambda ask: ask.order.revision),
    ("--url", lambda ask: ask.url),
    ("--endpoint-type", lambda ask: "chat"),
    ("--streaming", lambda ask: ask.load.stream),
    ("--use-server-token-count", lambda ask: True),
    ("--concurrency", lambda ask: ask.order.concurrency),
    ("--request-count", lambda ask: ask.load.requests),
    ("--warmup-request-count", lambda ask: ask.load.warmup or None),
    # Sampled one after the other: with fewer entries than requests a prompt comes again, out of the server's prefix cache.
    ("--num-dataset-entries", lambda ask: ask.load.requests + ask.load.warmup if ask.made else None),
    ("--isl", lambda ask: (ask.load.input or INPUT) if ask.made else None),
    ("--osl", lambda ask: ask.load.output),
    ("--extra-inputs", lambda ask: "ignore_eos:true" if ask.load.output else None),
    ("--public-dataset", lambda ask: ask.load.trace.dataset if ask.load.trace else None),
    ("--input-file", lambda ask: ask.trace),
    ("--custom-dataset-type", lambda ask: ask.load.trace.format if ask.load.trace else None),
    # A trace with moments would be played by its own clock, and no concurrency would hold.
    ("--no-fixed-schedule", lambda ask: ask.trace is not None),
    ("--ignore-trace-delays", lambda ask: ask.trace is not None),
    ("--random-seed", lambda ask: ask.seed),
    ("--request-timeout-seconds", lambda ask: f"{ask.limit_s:g}"),
    ("--failed-request-threshold", lambda ask: threshold(ask.order)),
    ("--export-level", lambda ask: "raw"),
    ("--ui", lambda ask: "none"),
    ("--output-artifact-dir", lambda ask: ask.folder.resolve()),
)
