"""The GPUs of a machine as something to hand out: which there are, what they are, whether they are whole and idle."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from bot.bench.hardware import amd, nvidia
from bot.bench.hardware.told import asked, whole, words
from bot.bench.host import Host

IDLE_MIB = 2048
"""A GPU with more memory in use is somebody's, also where its processes are not shown (they run in another container)."""


class Card(Struct, frozen=True, kw_only=True):
    """One GPU. `split`: into slices (MIG); `idle`: nobody uses it. None: nothing tells."""

    index: int
    name: str | None = None
    uuid: str | None = None
    split: bool | None = None
    idle: bool | None = None


def cards(host: Host) -> tuple[str, tuple[Card, ...] | None]:
    """The vendor whose tool is here (nvidia, amd; empty without one), and its GPUs; None where it could not be asked."""
    newest = host.programs.found(nvidia.TOOL)
    if newest and (found := _nvidia(host)) is not None:
        return "nvidia", found
    if host.programs.found(amd.NEW) or host.programs.found(amd.OLD):
        found = _amd(host)
        return ("nvidia" if newest and found is None else "amd"), found
    return ("nvidia" if newest else ""), None


def _nvidia(host: Host) -> tuple[Card, ...] | None:
    rows, _ = nvidia.with_mig(host, ("index", "uuid", "name", "memory.used"))
    if rows is None:
        return None
    text, _ = asked(host, [nvidia.TOOL, "--query-compute-apps=gpu_uuid", "--format=csv,noheader"])
    taken = None if text is None else {line.strip() for line in text.splitlines()}
    return tuple(Card(
        index=at if (index := whole(row["index"])) is None else index, name=words(row["name"]), uuid=words(row["uuid"]),
        split=nvidia.split(row),
        idle=None if taken is None else row["uuid"] not in taken and (whole(row["memory.used"]) or 0) <= IDLE_MIB)
        for at, row in enumerate(rows))


def _amd(host: Host) -> tuple[Card, ...] | None:
    gpus, used = amd.facts(host, Path("/")).gpus, amd.used(host)
    return None if gpus is None else tuple(Card(
        index=gpu.index, name=gpu.name, uuid=gpu.uuid,
        idle=None if used is None or gpu.index not in used else used[gpu.index] <= IDLE_MIB) for gpu in gpus)
