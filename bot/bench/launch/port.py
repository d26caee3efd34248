"""The port on which a server listens: the machine's, or any that is free."""

from __future__ import annotations

import errno
import socket

from bot.bench.diary import known
from bot.errors import Refusal
from bot.model.bench import Machine


def chosen(machine: Machine) -> int:
    """A port of the loopback that is free now. Refusal where the machine's own is not."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        # As servers do: what a connection of an earlier server left behind is nobody.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", machine.port or 0))
        except OSError as error:
            if error.errno == errno.EACCES:
                raise Refusal(f"port {machine.port} may not be used by this user", "name one from 1024 on in the machine file"
                              ) from None
            raise known(Refusal(f"port {machine.port} is taken on this machine",
                                "end what listens there, or name no port in the machine file: a free one is found"),
                        "port-taken", machine.port) from None
        return int(one.getsockname()[1])
