"""The small servers of a rehearsal: a client that goes away in the middle is nobody's fault."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from bot.rehearse.github.server import Server
from bot.rehearse.github.wire import Response
from bot.rehearse.loopback import Loopback, Reply

BODY = b"x" * (8 << 20)


def reset(url: str, sent: bytes, *, after: Callable[[], object] = lambda: None) -> None:
    """Asks, and cuts the connection with a reset as a process that dies does."""
    host, _, port = url.removeprefix("http://").partition(":")
    line = socket.create_connection((host, int(port)))
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.sendall(sent)
    after()
    line.close()


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HT", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"])
@pytest.mark.parametrize("kind", ["github", "small"])
def test_a_client_that_goes_away_is_not_told(kind: str, sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    """Seen: Ctrl-C in a rehearsal printed the library's traceback before `stopped by you`."""
    asked = threading.Event()

    def body() -> bytes:
        asked.set()
        time.sleep(0.05)
        return BODY

    server = (Server(lambda *_: Response(data=body())) if kind == "github" else Loopback(lambda _: Reply(body=body())))
    server.start()
    try:
        for _ in range(3):
            asked.clear()
            reset(server.url, sent, after=lambda: asked.wait(0.2))
        assert httpx.get(server.url, trust_env=False).content == BODY
        time.sleep(0.1)
    finally:
        server.stop()
    assert capfd.readouterr().err == ""
