"""The questions of `bumpbot_arithmetic`: made by rule, kept beside as JSON lines, and read by lm-eval from there.

`python -m bot.rehearse.engine.tasks.questions > questions.jsonl` makes them again, byte for byte. lm-eval loads this file by its
path and alone, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COUNT = 180
"""So many that two runs without a wrong answer show the score to be no lower by the two points that matter; 100 would not."""
_FILE = Path(__file__).with_name("questions.jsonl")
# Each with the sign that stands in it; small numbers, so that a small model can be asked too.
_STORIES = (
    ("A rack holds {a} servers and gets {b} more.", "+"),
    ("Of {a} requests {b} were answered.", "-"),
    ("{a} nodes have {b} GPUs each.", "*"),
    ("One prompt has {a} tokens, its answer {b}.", "+"),
    ("A cache of {a} blocks gave {b} of them away.", "-"),
    ("{a} clients send {b} requests each.", "*"),
)
_WORKED = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


def made() -> Iterator[dict[str, str]]:
    """The questions, each with its answer as a worked line and the line that is scored."""
    for number in range(COUNT):
        story, sign = _STORIES[number % len(_STORIES)]
        # Multiplying by numbers without a common factor walks through all of them in an order without a pattern.
        a, b = 12 + number * 37 % 83, 2 + number * 11 % 9
        result = _WORKED[sign](a, b)
        yield {"question": f"{story.format(a=a, b=b)} Compute {a} {sign} {b}.",
               "answer": f"{a} {sign} {b} = {result}\n#### {result}"}


def suite(**told: Any) -> dict[str, Any]:
    """What lm-eval takes for the task's data; it tells the task's own settings, which change nothing."""
    from datasets import Dataset

    return {"test": Dataset.from_list([json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()])}


if __name__ == "__main__":
    sys.stdout.writelines(json.dumps(question) + "\n" for question in made())
