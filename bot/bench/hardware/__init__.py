"""What a machine is made of and how it did, as its own tools tell it: facts before a point, samples beside its load."""

from __future__ import annotations

import os
from pathlib import Path

from bot.bench.hardware import amd, nvidia, system
from bot.bench.hardware.fit import check, mismatch
from bot.bench.hardware.told import Told
from bot.bench.hardware.watching import Watch
from bot.bench.host import Host
from bot.model.bench import Hardware

__all__ = ["Watch", "check", "facts", "mismatch"]


def facts(host: Host, *, root: Path = Path("/")) -> Hardware:
    """The machine's GPUs, driver, processor and memory; below `root` lie /proc and /sys. `gpus` is None where no tool could be
    asked, and empty where one says that there are none. It never raises: what nothing tells is None, and `absent` says why."""
    told = nvidia.facts(host, root)
    if told.gpus is None:
        other = amd.facts(host, root)
        told = Told(gpus=other.gpus, driver=other.driver, runtime=other.runtime, absent={**told.absent, **other.absent})
    kernel = os.uname()
    return Hardware(host=kernel.nodename, gpus=told.gpus, driver=told.driver, runtime=told.runtime, absent=told.absent,
                    kernel=kernel.release, **system.facts(root))
