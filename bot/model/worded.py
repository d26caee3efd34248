"""The words of an order that reach ids, paths, tables and rows: which letters they may have, asked at the matrix and by `bench`.

A point whose id led out of a folder, and one whose topology was a line of a workflow's commands, were measured as they stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.model.bench import Order


class _Word(NamedTuple):
    key: str
    grammar: re.Pattern[str]
    reason: str
    hint: str


_PLAIN = r"[A-Za-z0-9][A-Za-z0-9._ +-]{0,119}"
_KIND = r"(?:[A-Za-z0-9][A-Za-z0-9_.:/ +-]{0,119})?"
_LETTERS = "letters, digits and . _ + - : / and blanks, 120 at most"
_WORDS = tuple(_Word(key, re.compile(grammar), reason, hint) for key, grammar, reason, hint in (
    ("id", r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,199}(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.:+-]{1,200}){0,8}", "no id of a point",
     "as `bumpbot matrix` prints it"),
    ("engine", r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", "no name of an engine", "as in vllm or sglang"),
    ("revision", r"(?:(?!.*(?:^|/)\.{1,2}(?:/|$))[A-Za-z0-9][A-Za-z0-9._/-]{0,119})?", "no revision", "give a commit of the model"),
    ("metric", r"[A-Za-z0-9_@.+,-]{0,120}", "no metric of an eval", "as in exact_match,strict-match"),
    ("workload", _PLAIN, "no name of a workload", "as in chat or 8k1k"),
    ("hardware", _PLAIN, "no name of a GPU", "as in h200"),
    ("topology", r"[A-Za-z0-9][A-Za-z0-9/._-]{0,119}", "no topology", "as in TP4/EP4"),
    ("runner", r"(?:[A-Za-z0-9][A-Za-z0-9_.:=/, +*-]{0,299})?", "no labels of a runner", "letters, digits and . _ + - : / = *"),
    ("weights", _KIND, "no kind of weights", _LETTERS),
    ("kv", _KIND, "no kind of a KV cache", _LETTERS),
    ("fingerprint", r"[0-9a-f]{64}", "no fingerprint: 64 hexadecimal digits", "as `bumpbot matrix` prints it"),
))


def faults(order: Order) -> Iterator[tuple[str, str, str]]:
    """What does not hold: the order's key, what is wrong, what to do."""
    for word in _WORDS:
        if not word.grammar.fullmatch(getattr(order, word.key)):
            yield word.key, word.reason, word.hint
