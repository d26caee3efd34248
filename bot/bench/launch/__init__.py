"""Starting a point's server by what its machine has: Docker, Podman, Enroot (under Slurm or alone), or a command of its own.

Whatever is started is registered for its stop and removal before it is started, and a container that a killed bench left
behind is removed by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

from bot.bench.host import Host, Place, Server
from bot.bench.launch import containers, enroot, port, process
from bot.bench.launch.clients import DOCKER, PODMAN
from bot.bench.launch.start import Start
from bot.model.bench import Machine, Order

LAUNCHERS: Mapping[str, Callable[[Start], Server]] = {
    "docker": partial(containers.begin, client=DOCKER), "podman": partial(containers.begin, client=PODMAN),
    "enroot": enroot.begin, "process": process.begin,
}


def begin(order: Order, machine: Machine, host: Host, place: Place, stack: ExitStack) -> Server:
    """The order's server, started and not yet ready. Its stop and removal are on `stack`, also when this raises.

    Refusal for what the order, the image or the machine does not allow; Missing for a program that is not installed; Unreachable
    where a registry or daemon does not answer. Nothing is pulled before the port is known to be free.
    """
    return LAUNCHERS[machine.launcher](Start(
        order=order, machine=machine, host=host, place=place, stack=stack, port=port.chosen(machine)))
