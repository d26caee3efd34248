"""The port on which a server listens: the machine's, or any that is free.

A free one is looked for below the range out of which the system takes the ports of outgoing connections. Between the look and the
server's own bind lie parts of a second, or the minutes of a load: one server in twenty-two on a busy machine found its port, which
the system had given out of that range, taken by a connection meanwhile.
"""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

from bot.bench.diary import known
from bot.errors import Refusal
from bot.model.bench import Machine

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST, _TRIES = 20_000, 32


def chosen(machine: Machine) -> int:
    """A port of the loopback that is free now. Refusal where the machine's own is not."""
    if not machine.port:
        return next((port for port in _candidates() if _taken(port) is None), 0) or _any()
    error = _taken(machine.port)
    if error is None:
        return machine.port
    if error.errno == errno.EACCES:
        raise Refusal(f"port {machine.port} may not be used by this user", "name one from 1024 on in the machine file")
    raise known(Refusal(f"port {machine.port} is taken on this machine",
                        "end what listens there, or name no port in the machine file: a free one is found"),
                "port-taken", machine.port)


def _candidates() -> list[int]:
    """Ports that no outgoing connection is given, in any order, so that two benches seldom look at the same one."""
    try:
        lowest = int(_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):  # no Linux: the range begins at 49152 by the rule of IANA
        lowest = 32_768
    ports = range(_FIRST, lowest)
    return random.sample(ports, min(_TRIES, len(ports)))


def _taken(port: int) -> OSError | None:
    """Why nothing can listen there; None where something can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        # As servers do: what a connection of an earlier server left behind is nobody.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
            one.listen(1)  # another's bound port is told here at the latest
        except OSError as error:
            return error
    return None


def _any() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])
