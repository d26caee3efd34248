"""Asking a vendor's tool, and reading what it says of one thing: a number, or that it does not know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bot.bench.host import Host
from bot.errors import BumpbotError
from bot.model.bench import Device
from bot.strict.words import one_line

LIMIT_S = 15.0
"""Seconds after which a tool is given up: one whose driver hangs never answers."""
PASSED = ("HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_NUMBER = re.compile(r"\s*\(?\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(?:MHz|MiB|MB|W|C|c)?\s*\)?\s*", re.IGNORECASE)


class Told(Struct, frozen=True, kw_only=True):
    """What one vendor's tools say. `gpus` None: they could not be asked."""

    gpus: tuple[Device, ...] | None = None
    driver: str | None = None
    runtime: str | None = None
    absent: dict[str, str] = {}


def asked(host: Host, argv: Sequence[str], limit_s: float = LIMIT_S) -> tuple[str | None, str]:
    """What a tool prints; or None, and in one line why there is nothing."""
    if not host.programs.found(argv[0]):
        return None, "not installed"
    try:
        env = {name: host.env[name] for name in PASSED if name in host.env}
        code, out, err = host.programs.run(argv, env={"LC_ALL": "C", **env}, limit_s=limit_s)
    except (BumpbotError, OSError) as error:
        return None, one_line(getattr(error, "reason", "") or str(error), 200)
    text = out.decode("utf-8", "replace")
    if code:
        words = (err.decode("utf-8", "replace").strip() or text.strip()).splitlines()
        return None, one_line(f"exit code {code}: {words[0] if words else 'nothing said'}", 200)
    return text, ""


def number(word: Any) -> float | None:
    """A number with or without its unit; None for `[N/A]`, `[Not Supported]`, `Unknown Error` and the like."""
    if isinstance(word, dict):
        word = word.get("value")
    if isinstance(word, bool):
        return None
    if isinstance(word, (int, float)):
        return float(word)
    found = _NUMBER.fullmatch(word) if isinstance(word, str) else None
    return float(found[1]) if found else None


def whole(word: Any) -> int | None:
    """As `number`, rounded."""
    found = number(word)
    return None if found is None else round(found)


def words(word: Any) -> str | None:
    """A name or version in one line; None where a tool writes that it has none."""
    text = one_line(word.strip(), 120) if isinstance(word, str) else ""
    plain = text.strip("[]()").lower()
    unsaid = plain in ("", "n/a", "none", "unknown") or plain.startswith(("not supported", "unknown error", "not available"))
    return None if unsaid else text


def json_of(text: str) -> Any:
    """The JSON in an output, which may have warnings before it; None where there is none."""
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    for at in sorted(starts):
        try:
            return msgspec.json.decode(text[at:].encode())
        except msgspec.DecodeError:
            continue
    return None


def node_of(root: Path, bus: str | None) -> int | None:
    """The NUMA node of a device on the PCI bus; None where the system names none (-1: it has but one)."""
    parts = (bus or "").lower().split(":")
    if len(parts) != 3:
        return None
    address = f"{parts[0][-4:]}:{parts[1]}:{parts[2]}"
    if not re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", address):
        return None
    try:
        node = int((root / "sys/bus/pci/devices" / address / "numa_node").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None
