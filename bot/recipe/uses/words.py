"""The words by which a commit concerns a recipe: its model's family, its hardware, the backends that it names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot.model.recipe import Recipe
from bot.model.uses import Used

# Options and keys whose value names a part of the engine.
_NAMING = re.compile(r"backend|runner|method|algorithm|connector|quantization|dtype|parser|kernel|transport|load.format")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{2,40}")
_DULL = frozenset("auto none true false default float16 bfloat16 nvidia amd model pytorch all off null".split())


def words(recipes: Sequence[Recipe], options: Sequence[Used]) -> tuple[str, ...]:
    """In lower case, each once: model, hardware, then the names of kernels, backends and methods in the order of use."""
    found: list[str] = []
    for recipe in recipes:
        found += [recipe.prefix.lower(), *_family(recipe.model), recipe.hardware.lower(), recipe.precision.lower()]
    for used in options:
        name = used.name.lstrip("-").lower().replace("_", "-")
        if used.value and used.value.startswith("{"):
            found += _inside(used.value)
        elif used.value and _NAMING.search(name) and _WORD.fullmatch(used.value):
            found.append(used.value.lower())
    return tuple(word for word in dict.fromkeys(found) if word and word not in _DULL)


def _family(model: str) -> list[str]:
    """`deepseek-ai/DeepSeek-R1-0528` tells `deepseek-r1-0528`, `deepseek-r1` and `deepseek`."""
    name = model.rsplit("/", 1)[-1].lower()
    parts = name.split("-")
    return list(dict.fromkeys([name, "-".join(parts[:2]), parts[0]])) if name else []


def _inside(text: str) -> Iterator[str]:
    try:
        tree: Any = json.loads(text)
    except ValueError:
        return
    stack = [("", tree)]
    while stack:
        key, at = stack.pop()
        if isinstance(at, dict):
            stack += [(str(name), child) for name, child in at.items()]
        elif isinstance(at, str) and _NAMING.search(key.lower()) and _WORD.fullmatch(at):
            yield at.lower()
