"""Docker and Podman: where their command lines differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from bot.bench.launch.gpus import Chosen


class Client(Struct, frozen=True, kw_only=True):
    """A client of containers. `platform` is the template of `version` that tells where containers run; `nvidia` the options for
    GPUs of NVIDIA; `also` are more options of `create`."""

    name: str
    platform: str
    nvidia: Callable[[tuple[str, ...]], tuple[str, ...]]
    also: tuple[str, ...] = ()

    def gpus(self, chosen: Chosen) -> tuple[str, ...]:
        """The options that hand these GPUs, and no other, to a container."""
        if not chosen.ids:
            return ()
        return self.nvidia(chosen.ids) if chosen.vendor == "nvidia" else _amd(chosen.ids)


# The value is a line of CSV: without the quotes a second device would be another option. Podman takes the toolkit's names of
# devices (CDI), and hands proxies of its own environment to containers where it is not told otherwise.
DOCKER = Client(name="docker", platform="{{.Server.Os}}/{{.Server.Arch}}",
                nvidia=lambda ids: ("--gpus", f'"device={",".join(ids)}"'))
PODMAN = Client(name="podman", platform="{{.Client.OsArch}}", also=("--http-proxy=false",),
                nvidia=lambda ids: tuple(word for one in ids for word in ("--device", f"nvidia.com/gpu={one}")))


def _amd(ids: tuple[str, ...]) -> tuple[str, ...]:
    """AMD's devices are files of groups whose numbers differ from an image's: the numbers are given. Which of the GPUs are
    used is told by the variable that ROCm reads first."""
    words = ["--device", "/dev/kfd", "--device", "/dev/dri"]
    for group in sorted({group for file in (Path("/dev/kfd"), *Path("/dev/dri").glob("renderD*")) for group in _group(file)}):
        words += ["--group-add", str(group)]
    return (*words, "--env", f"ROCR_VISIBLE_DEVICES={','.join(ids)}")


def _group(file: Path) -> tuple[int, ...]:
    try:
        return (os.stat(file).st_gid,)
    except OSError:
        return ()
