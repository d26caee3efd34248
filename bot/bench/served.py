"""The name under which a server answers, which clients must send: another is a 404 to each of their requests."""

from __future__ import annotations

from typing import Any

import msgspec

from bot.bench.host import Host, Server
from bot.errors import BadInput, Refusal, Unreachable
from bot.model.bench import Order
from bot.strict.words import one_line

_NAMES = ("served-model-name", "served_model_name")


def name(order: Order, server: Server, host: Host) -> str:
    """The model's name as `/v1/models` has it: the repository's where that is listed, else what the arguments call it, else the
    only one. What the arguments say (or the repository's name) where the server lists nothing; Refusal where none of several
    fits."""
    wanted = (order.model, *(str(order.args[word]) for word in _NAMES if order.args.get(word)))
    listed = _listed(server, host)
    fits = next((word for word in wanted if word in listed), None)
    if fits is None and len(listed) > 1:
        raise Refusal(f"the server has {', '.join(one_line(each, 80) for each in listed[:5])}, and not {order.model}",
                      "give it served-model-name in the recipe's args")
    return fits or (listed[0] if listed else wanted[-1])


def _listed(server: Server, host: Host) -> tuple[str, ...]:
    try:
        answer = host.web.get(f"{server.url}/v1/models")
        told: Any = msgspec.json.decode(answer.body) if answer.status == 200 else None
    except (Unreachable, BadInput, msgspec.DecodeError, UnicodeDecodeError):
        return ()
    data = told.get("data") if isinstance(told, dict) else None
    found = [item.get("id") for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    return tuple(each for each in found if isinstance(each, str) and each)
