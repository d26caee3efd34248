"""lm-eval's own words and environment: what it is given, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from bot.model.bench import Machine, Order

if TYPE_CHECKING:
    from bot.bench.evals.suite import Suite

PROGRAM = "lm_eval"
REQUEST_S = 1800.0
"""Of one answer: 16,384 tokens at the 20 tokens a second of a full server take 820 s."""
TRIES = 5
"""Of one request. lm-eval waits 1 to 10 s between them and then gives up as a whole, so that a request that failed is never
counted as a wrong answer."""
TOKENS, UNKNOWN_TOKENS = 16_384, 8_192
"""Most tokens of an answer where the task does not say. lm-eval's own default of 256 cuts every answer of a model that thinks."""
SEED = "0,1234,1234,1234"
"""lm-eval's defaults, said: examples in prompts are drawn by the last."""
PASSED = (
    "HOME", "LANG", "LC_ALL", "TMPDIR", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE",
    "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "NLTK_DATA", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_LOOPBACK = "127.0.0.1,localhost"


class Served(Struct, frozen=True, kw_only=True):
    """The server as lm-eval is told of it. `tokens`: the most of an answer where a task says nothing, and whether for all tasks."""

    model: str
    url: str
    concurrency: int
    tokens: tuple[int, bool]
    seconds: float


def tokens(order: Order, suite: Suite, context: int | None) -> tuple[int, bool]:
    """The most tokens of an answer, and whether that goes over what the tasks say themselves: where a model thinks (its server is
    given a reasoning parser), since their own were measured for models that do not; and where they do not fit the context."""
    most = UNKNOWN_TOKENS if context is None else max(64, min(TOKENS, context // 2))
    own = suite.own_tokens
    thinks = any("reasoning-parser" in name.lower().replace("_", "-") and value not in (None, False, "")
                 for name, value in order.args.items())
    return most, own is not None and (thinks and own < most or context is not None and own >= context)


def words(order: Order, machine: Machine, served: Served, output: str, questions: str | None) -> list[str]:
    """The command of one run. Arguments of the model go as JSON: between commas a name could say more than a name."""
    most, over = served.tokens
    arguments = {"model": served.model, "base_url": f"{served.url}/v1/chat/completions", "num_concurrent": served.concurrency,
                 "max_retries": TRIES, "timeout": int(served.seconds), "tokenized_requests": False, "max_gen_toks": most}
    return [*_common(order, machine), "--model", "local-chat-completions", "--model_args", json.dumps(arguments),
            "--apply_chat_template", *(["--gen_kwargs", json.dumps({"max_gen_toks": most})] if over else []),
            "--output_path", output, "--log_samples", *(["--samples", questions] if questions else [])]


def look(order: Order, machine: Machine, output: str) -> list[str]:
    """The command that says what a task is: one question, answered by lm-eval itself."""
    return [*_common(order, machine), "--model", "dummy", "--limit", "1", "--output_path", output]


def _common(order: Order, machine: Machine) -> list[str]:
    assert order.eval is not None
    own = ["--include_path", os.path.abspath(os.path.expanduser(machine.tasks))] if machine.tasks else []
    return [PROGRAM, "run", "--tasks", order.eval.task, "--seed", SEED, *own]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """What lm-eval gets of this process's environment, by name; a proxy is never asked for the server on this machine."""
    told = {name: env[name] for name in PASSED if name in env}
    for name in ("NO_PROXY", "no_proxy"):
        told[name] = f"{told[name]},{_LOOPBACK}" if told.get(name) else _LOOPBACK
    return {**told, "PYTHONUNBUFFERED": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
