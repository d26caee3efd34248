"""Containers of a bench that was killed before it could remove them.

Each container bears the bench that started it: machine, start of that machine, space of process ids, process, and when that
began. Only where the process is known to be gone is the container removed: of a bench in another container (runners that share
one daemon) nothing can be known from here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

LABEL = "bumpbot.bench"


def owner(root: Path = Path("/proc")) -> str:
    """This process, as a label says it."""
    pid = os.getpid()
    return f"{_boot(root)}/{_space(root)}/{pid}/{_begun(pid, root) or '-'}"


def gone(label: str, root: Path = Path("/proc")) -> bool:
    """Whether the bench of this label is known to run no more."""
    parts = label.strip().split("/")
    boot = _boot(root)
    if len(parts) != 4 or not parts[2].isdigit() or "-" in (boot, parts[0]):
        return False
    if parts[0] != boot:
        return True
    return parts[1] == _space(root) and parts[3] not in ("-", _begun(int(parts[2]), root))


def listing(name: str, label: str = LABEL) -> Sequence[str]:
    """The command that lists containers of this label, running or not, an id a line."""
    return [name, "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={label}"]


def label_of(name: str, container: str) -> Sequence[str]:
    """The command that tells a container's owner."""
    return [name, "inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}', container]


def labelled(options: Mapping[str, str]) -> list[str]:
    """Options of `create` for these labels."""
    return [word for key, value in options.items() for word in ("--label", f"{key}={value}")]


def _boot(root: Path) -> str:
    return _text(root / "sys/kernel/random/boot_id") or "-"


def _space(root: Path) -> str:
    """The space of process ids: two runners in containers of one machine have the same ids for other processes."""
    try:
        return os.readlink(root / "self/ns/pid").strip("pid:[]") or "-"
    except OSError:
        return "-"


def _begun(pid: int, root: Path) -> str:
    """When a process began, in the kernel's ticks; empty where there is none (a zombie is none)."""
    fields = _text(root / str(pid) / "stat").rpartition(")")[2].split()
    return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
