"""Processor and memory, from the files in which the kernel tells them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bot.strict.words import one_line

_NODE = re.compile(r"node[0-9]+")


def facts(root: Path) -> dict[str, Any]:
    """`cpu`, `cores` (as the kernel counts them, threads too), `memory` in MiB and `numa` nodes; None each where it is not told."""
    cpu = _text(root / "proc/cpuinfo")
    memory = re.search(r"^MemTotal:\s*([0-9]+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    name = re.search(r"^model name\s*:\s*(\S.*)$", cpu, re.MULTILINE)
    cores = len(re.findall(r"^processor\s*:", cpu, re.MULTILINE))
    return {"cpu": one_line(name[1].strip(), 120) if name else None, "cores": cores or None,
            "memory": int(memory[1]) // 1024 if memory else None, "numa": _nodes(root / "sys/devices/system/node")}


def _nodes(folder: Path) -> int | None:
    try:
        return sum(1 for each in folder.iterdir() if _NODE.fullmatch(each.name)) or None
    except OSError:
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
