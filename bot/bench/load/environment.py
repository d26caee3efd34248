"""The environment that AIPerf is given: exactly what it needs, and a home that is removed with it.

It keeps caches of prompts below its home for ever, and sockets in the folder for temporary files.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bot.errors import Refusal
from bot.model.bench import Machine, Order

PASSED = ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HTTPS_PROXY", "https_proxy", "NO_PROXY",
          "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""What a tokenizer or a data set may be fetched with. AIPerf uses no proxy to reach the server."""
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TOKENIZERS = ("token*", "*tiktoken*", "tekken.json", "vocab*", "spiece.model", "sentencepiece*")
CONNECTIONS = 2500
"""AIPerf's own limit of open connections; more requests than that would wait in the client."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for AIPerf's home and temporary files, removed at the end. Refusal where the disk has no room."""
    try:
        made = Path(tempfile.mkdtemp(prefix="bumpbot-load-"))
    except OSError as error:
        raise Refusal(f"no folder for temporary files: {error.strerror}", "make room, or set TMPDIR") from None
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def of(order: Order, machine: Machine, env: Mapping[str, str], home: Path) -> dict[str, str]:
    """The variables for one run. A tokenizer that lies in the cache is not asked for over the network."""
    cache = huggingface(machine, env, home)
    # AIPerf takes any value of these two for a yes, also the 0 by which Hugging Face's own libraries ask the hub.
    made = {name: env[name] for name in PASSED if env.get(name) and (name not in OFFLINE or on(env[name]))}
    if staged(order, cache) and not (order.load and order.load.trace and order.load.trace.dataset):
        made = {**dict.fromkeys(OFFLINE, "1"), **made}
    return {
        **made, "HOME": str(home), "TMPDIR": str(home), "HF_HOME": str(cache), "LANG": "C.UTF-8", "COLUMNS": "120",
        "AIPERF_DATASET_MMAP_CACHE_ENABLED": "false",
        "AIPERF_HTTP_CONNECTION_LIMIT": str(max(CONNECTIONS, order.concurrency)),
    }


def huggingface(machine: Machine, env: Mapping[str, str], home: Path) -> Path:
    """The Hugging Face cache: the machine file's, else the one that this process has, else one that is thrown away."""
    if machine.models or env.get("HF_HOME"):
        return Path(machine.models or env["HF_HOME"]).absolute()
    return (Path(env["HOME"]) / ".cache" if env.get("HOME") else home) / "huggingface"


def staged(order: Order, cache: Path) -> bool:
    """Whether the tokenizer of the order's model and revision lies in a cache."""
    model = cache / "hub" / f"models--{order.model.replace('/', '--')}"
    if "/" not in order.model and not model.is_dir():  # `gpt2` lies there under its organisation's name
        model = next((cache / "hub").glob(f"models--*--{order.model}"), model)
    try:
        revision = (model / "refs" / (order.revision or "main")).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        revision = order.revision
    return bool(revision) and any(file.exists() for name in _TOKENIZERS for file in (model / "snapshots" / revision).glob(name))


def on(value: str | None) -> bool:
    """Whether a variable of Hugging Face's is a yes, as its own libraries read it."""
    return (value or "").upper() in ("1", "ON", "YES", "TRUE")
