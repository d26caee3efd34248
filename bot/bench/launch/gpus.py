"""Which GPUs a server gets: those that the operator names, else the first that are idle."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.bench.diary import known
from bot.bench.hardware import amd, nvidia
from bot.bench.hardware.told import asked, whole
from bot.bench.host import Host
from bot.errors import Refusal
from bot.model.bench import Order

IDLE_MIB = 2048
"""A GPU with more memory in use is somebody's, also where its processes are not shown (they run in another container)."""
NAMED: Mapping[str, Sequence[str]] = {
    "nvidia": ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"), "amd": ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")}
_ONE = re.compile(r"[0-9]{1,3}|GPU-[0-9a-fA-F-]{4,64}|MIG-[0-9A-Za-z/-]{4,80}|[0-9a-f]{8,20}")


class Chosen(Struct, frozen=True, kw_only=True):
    """`vendor` "" where no tool of a vendor is there: then nothing is handed out. `ids` as the vendor's variable takes them."""

    vendor: str = ""
    ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def choose(order: Order, host: Host) -> Chosen:
    """As many GPUs as the order needs. Refusal where the operator's variable names fewer, or fewer are idle."""
    if order.hardware.lower() in ("cpu", "none"):
        return Chosen()
    vendor = vendor_of(host)
    if not vendor:
        return Chosen(notes=("no GPU was handed to the server: no tool of a vendor is there to name one",))
    named = next(((name, host.env[name]) for name in NAMED[vendor] if host.env.get(name) not in (None, "all", "void")), None)
    if named is not None:
        return Chosen(vendor=vendor, ids=_of_operator(order, *named))
    idle = _idle_nvidia(host) if vendor == "nvidia" else _idle_amd(host)
    if idle is None:
        return Chosen(vendor=vendor, ids=tuple(map(str, range(order.gpus))),
                      notes=("the first GPUs were taken: nothing tells which are idle",))
    if len(idle) < order.gpus:
        raise known(Refusal(f"the point needs {order.gpus} GPUs, and {len(idle)} are idle",
                            "end what runs on the others, or name those to use in CUDA_VISIBLE_DEVICES (ROCR_VISIBLE_DEVICES)"),
                    "few-gpus", order.hardware, len(idle), "of", order.gpus)
    return Chosen(vendor=vendor, ids=tuple(idle[: order.gpus]))


def vendor_of(host: Host) -> str:
    """nvidia or amd, by the tool that is installed; empty without one."""
    if host.programs.found(nvidia.TOOL):
        return "nvidia"
    return "amd" if host.programs.found(amd.NEW) or host.programs.found(amd.OLD) else ""


def _of_operator(order: Order, name: str, value: str) -> tuple[str, ...]:
    """CUDA reads such a list until the first entry that names nothing (`-1` hides all that follow)."""
    found: list[str] = []
    for word in map(str.strip, value.split(",")):
        if not _ONE.fullmatch(word) or word in found:
            break
        found.append(word)
    if len(found) < order.gpus:
        raise known(Refusal(f"the point needs {order.gpus} GPUs, and {name} names {len(found)}",
                            f"name more in {name}, or unset it"), "few-gpus", order.hardware, len(found), "of", order.gpus)
    return tuple(found[: order.gpus])


def _idle_nvidia(host: Host) -> list[str] | None:
    rows, _ = nvidia.query(host, ("index", "uuid", "memory.used"))
    text, _ = asked(host, [nvidia.TOOL, "--query-compute-apps=gpu_uuid", "--format=csv,noheader"])
    if rows is None or text is None:
        return None
    taken = {line.strip() for line in text.splitlines()}
    return [row["index"] for row in rows if row["uuid"] not in taken and (whole(row["memory.used"]) or 0) <= IDLE_MIB]


def _idle_amd(host: Host) -> list[str] | None:
    used = amd.used(host)
    return None if used is None else [str(index) for index, size in sorted(used.items()) if size <= IDLE_MIB]
