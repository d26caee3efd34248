"""How many tokens a question and its answer may have together, as the server says or was told."""

from __future__ import annotations

from typing import Any

from bot.bench.host import Host, Server
from bot.errors import BadInput, Unreachable
from bot.model.bench import Order
from bot.strict import json_value

_ASKED = ("context-length", "max-model-len", "max-seq-len")


def context(order: Order, server: Server, host: Host) -> int | None:
    """`max_model_len` of `/v1/models`, which SGLang and vLLM both tell; else what the recipe asked for; None where neither is."""
    try:
        answer = host.web.get(f"{server.url}/v1/models")
        listed = json_value(answer.body.decode("utf-8"), file="/v1/models") if answer.status == 200 else None
    except (Unreachable, BadInput, UnicodeDecodeError):
        listed = None
    models = listed.get("data") if isinstance(listed, dict) else None
    told = next((size for model in models if (size := _size(model)) is not None), None) if isinstance(models, list) else None
    args = {name.lower().lstrip("-").replace("_", "-"): value for name, value in order.args.items()}
    asked = next((value for name in _ASKED if isinstance(value := args.get(name), int) and value > 0), None)
    return asked if told is None else told


def _size(model: Any) -> int | None:
    size = model.get("max_model_len") if isinstance(model, dict) else None
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None
