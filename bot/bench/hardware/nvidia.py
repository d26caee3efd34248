"""What `nvidia-smi` says. Its fields are asked by name; one that a driver does not know ends the whole query, so what not every
driver has is asked apart."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.bench.hardware.told import Told, asked, node_of, number, whole, words
from bot.bench.host import Host
from bot.model.bench import Device

TOOL = "nvidia-smi"
FIELDS = ("index", "name", "uuid", "memory.total", "pci.bus_id", "clocks.sm", "clocks.max.sm", "power.limit", "driver_version")
# Of cards that cannot be split it is `[N/A]`; drivers before 450 do not know the field.
MIG = "mig.mode.current"
SAMPLED = ("index", "clocks.sm", "temperature.gpu", "power.draw")
# The newer name first; either is refused by drivers that have only the other.
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
# Bits of NVML's clocks event reasons. That a GPU is idle, or runs at the clock it was set to, is no throttling.
BITS = {0x4: "power-cap", 0x8: "hardware-slowdown", 0x10: "sync-boost", 0x20: "thermal", 0x40: "hardware-thermal",
        0x80: "power-brake", 0x100: "display-clock"}
_CUDA = re.compile(r"CUDA Version\s*:\s*([0-9]+(?:\.[0-9]+)+)")


def query(host: Host, fields: Sequence[str], limit_s: float | None = None) -> tuple[list[dict[str, str]] | None, str]:
    """One mapping of field to word a GPU; or None, and why."""
    argv = [TOOL, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    text, why = asked(host, argv) if limit_s is None else asked(host, argv, limit_s)
    if text is None:
        return ([], "") if "No devices were found" in why else (None, why)
    if "No devices were found" in text:
        return [], ""
    lines = [[word.strip() for word in line] for line in csv.reader(text.splitlines()) if line]
    if any(len(line) != len(fields) for line in lines):
        return None, "its answer is not what was asked for"
    return [dict(zip(fields, line, strict=True)) for line in lines], ""


def with_mig(host: Host, fields: Sequence[str]) -> tuple[list[dict[str, str]] | None, str]:
    """As `query`, with the mode of MIG where the driver knows it."""
    rows, why = query(host, (*fields, MIG))
    return query(host, fields) if rows is None and "valid field" in why else (rows, why)


def split(row: Mapping[str, str]) -> bool | None:
    """Whether the GPU of a row is split into slices (MIG); None where that is not said."""
    return {"enabled": True, "disabled": False}.get(row.get(MIG, "").lower())


def facts(host: Host, root: Path) -> Told:
    """GPUs, driver, and the CUDA version that the driver can run at most."""
    rows, why = with_mig(host, FIELDS)
    if rows is None:
        return Told(absent={TOOL: why})
    gpus = tuple(_device(row, at, root) for at, row in enumerate(rows))
    driver = next((found for row in rows if (found := words(row["driver_version"]))), None)
    banner, silent = asked(host, [TOOL])
    cuda = _CUDA.search(banner or "")
    absent = {} if cuda else {"cuda": silent or f"{TOOL} names no CUDA version"}
    return Told(gpus=gpus, driver=driver, runtime=f"CUDA {cuda[1]}" if cuda else None, absent=absent)


def _device(row: dict[str, str], at: int, root: Path) -> Device:
    index = whole(row["index"])
    return Device(index=at if index is None else index, name=words(row["name"]), uuid=words(row["uuid"]), mig=split(row),
                  memory=whole(row["memory.total"]), numa=node_of(root, words(row["pci.bus_id"])), clock=whole(row["clocks.sm"]),
                  clock_max=whole(row["clocks.max.sm"]), power_limit=number(row["power.limit"]))


def reasons(word: str) -> list[str] | None:
    """By what a GPU is throttled; None where it does not say."""
    try:
        bits = int(word, 16)
    except ValueError:
        return None
    return [name for bit, name in BITS.items() if bits & bit]
