"""Under which names the published-baseline API keeps a model: the raw key that its rows carry, the name people see.

Several raw keys share one shown name (CONTRACT.md 7.4), so an answer holds rows of other models, which are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Raw key -> the name under which the API publishes it.
DISPLAY = {
    "dsr1": "DeepSeek-R1-0528", "gptoss120b": "gpt-oss-120b", "dsv4": "DeepSeek-V4-Pro",
    "llama70b": "Llama-3.3-70B-Instruct-FP8", "qwen3.5": "Qwen-3.5-397B-A17B", "kimik2.5": "Kimi-K2.5", "kimik2.6": "Kimi-K2.5",
    "kimik3": "Kimi-K3", "minimaxm2.5": "MiniMax-M2.5", "minimaxm2.7": "MiniMax-M2.5", "glm5": "GLM-5", "glm5.1": "GLM-5",
}
ALIASES = {"gptoss": "gptoss120b", "dsv4pro": "dsv4", "kimik2.7": "kimik2.7-code"}
_WEIGHTS = re.compile(r"-(?:fp4|fp8)$")


def key_of(prefix: str) -> str:
    """The raw key of a recipe's model prefix: `gptoss-fp4` is `gptoss120b`."""
    bare = _WEIGHTS.sub("", prefix.lower())
    return ALIASES.get(bare, bare)


def shown(key: str, description: Any) -> str | None:
    """The name for a key that is not on record, among those that the API's own description lists; None where none or more
    than one could be meant."""
    mine = _letters(key)
    names = {name: _letters(name) for name in _enumerated(description)}
    same = [name for name, letters in names.items() if letters == mine]
    alike = [name for name, letters in names.items() if mine and letters.startswith(mine)]
    found = same or alike
    return found[0] if len(found) == 1 else None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def _enumerated(value: Any) -> Iterator[str]:
    """The names that parameters called `model` may have, wherever the description states them."""
    if isinstance(value, dict):
        schema = value.get("schema")
        if value.get("name") == "model" and isinstance(schema, dict) and isinstance(schema.get("enum"), list):
            yield from dict.fromkeys(name for name in schema["enum"] if isinstance(name, str))
        for part in value.values():
            yield from _enumerated(part)
    elif isinstance(value, list):
        for part in value:
            yield from _enumerated(part)
