"""What a machine is made of and how it did, as its own tools tell it: facts before a point, samples beside its load."""

from __future__ import annotations

import os
from pathlib import Path

from bot.bench.hardware import amd, nvidia, system
from bot.bench.hardware.cards import Card, cards
from bot.bench.hardware.fit import check, mismatch, of_kind
from bot.bench.hardware.told import Told
from bot.bench.hardware.watching import Watch
from bot.bench.host import Host
from bot.model.bench import Hardware

__all__ = ["Card", "Watch", "cards", "check", "facts", "mismatch", "of_kind"]


def facts(host: Host, *, root: Path = Path("/")) -> Hardware:
    """The machine's GPUs, driver, processor and memory; below `root` lie /proc and /sys. `gpus` is None where no tool could be
    asked, and empty where one says that there are none. It never raises: what nothing tells is None, and `absent` says why."""
    told = nvidia.facts(host, root)
    if told.gpus is None:
        other = amd.facts(host, root)
        told = Told(gpus=other.gpus, driver=other.driver, runtime=other.runtime, absent={**told.absent, **other.absent})
    nameless = [str(gpu.index) for gpu in told.gpus or () if gpu.name is None]
    absent = {**told.absent, **({"name": f"GPU {', '.join(nameless)}: the vendor's tool gives no name"} if nameless else {})}
    kernel = os.uname()
    return Hardware(host=kernel.nodename, gpus=told.gpus, driver=told.driver, runtime=told.runtime, absent=absent,
                    kernel=kernel.release, **system.facts(root))
