"""Which gates a point is asked: what its recipe says, else what the server's own arguments say that it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from bot.model.bench import Order, Scalar

Wanted = Literal["no", "may", "must"]
"""`may`: asked, and where the server says that it does not know how, that is told as unknown."""
_OFF = (None, False, "", "none", "null", "off", "false")


def wanted(order: Order, gate: str) -> Wanted:
    """Whether this gate is asked. A recipe's own word decides (`gates: {tools: true}`); where it says nothing:

    tools: where the arguments name a parser of tool calls (`tool-call-parser`, `dyn-tool-call-parser`,
    `enable-auto-tool-choice`), and then it must hold, since without a parser the same server would start. Else not at all: a
    server without one answers in prose, rightly.
    json: of engines that guide answers when nothing is set (SGLang, vLLM, also behind Dynamo), or where the arguments name a
    guide (`grammar-backend`, `guided-decoding-backend`, `structured-outputs-config`); not where that is `none`.
    """
    said = {"tools": order.gates.tools, "json": order.gates.json}.get(gate, True)
    if said is not None:
        return "must" if said else "no"
    args = {name.lower().lstrip("-").replace("_", "-"): value for name, value in order.args.items()}
    return _UNSAID[gate](args, order.engine.lower())


def _tools(args: Mapping[str, Scalar], engine: str) -> Wanted:
    named = (value for name, value in args.items() if name.endswith(("tool-call-parser", "auto-tool-choice")))
    return "must" if any(map(_on, named)) else "no"


def _json(args: Mapping[str, Scalar], engine: str) -> Wanted:
    ends = ("grammar-backend", "guided-decoding-backend", "structured-outputs-config")
    guides = [value for name, value in args.items() if name.endswith(ends)]
    if guides:
        return "must" if all(map(_on, guides)) else "no"
    return "may" if any(known in engine for known in ("sglang", "vllm")) else "no"


_UNSAID: Mapping[str, Callable[[Mapping[str, Scalar], str], Wanted]] = {"tools": _tools, "json": _json}


def _on(value: Scalar) -> bool:
    return (value.lower() if isinstance(value, str) else value) not in _OFF
