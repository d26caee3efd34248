"""HTTP to a server on this machine, as the port `Web` has it: loopback only, nothing followed, nothing waited for longer.

A server under test hangs, drips and breaks off; a read's own time-out starts again with each byte. So each request has a
connection of its own and a timer that cuts it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx
from msgspec import Struct

from bot.adapters.addresses import is_loopback_name
from bot.adapters.http import plain
from bot.errors import BadInput, Refusal, Unreachable

MOST = 16_000_000
CONNECT_S = 5.0


class Said(Struct, frozen=True, kw_only=True):
    """Satisfies the port's Answer; any status is one, a redirect too."""

    status: int
    body: bytes


class LocalWeb:
    """Satisfies the Web port. No environment is read: neither proxies nor .netrc. `most` bytes of one answer are read."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._client = httpx.Client(
            trust_env=False, follow_redirects=False, headers={"Accept-Encoding": "identity"},
            transport=httpx.HTTPTransport(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)))

    def get(self, url: str, *, limit_s: float = 5.0) -> Said:
        """The answer, read whole within `limit_s` seconds; Unreachable where none comes, BadInput where it is too large."""
        with self._asked("GET", url, None, limit_s) as (response, cut):
            return Said(status=response.status_code, body=b"".join(self._chunks(response, cut)))

    def post(self, url: str, body: Mapping[str, Any], *, limit_s: float = 120.0) -> Said:
        """As `get`, with a JSON body."""
        with self._asked("POST", url, body, limit_s) as (response, cut):
            return Said(status=response.status_code, body=b"".join(self._chunks(response, cut)))

    def stream(self, url: str, body: Mapping[str, Any], *, limit_s: float = 120.0) -> tuple[int, Iterator[bytes]]:
        """Status, and the body's lines as they come, without their ends; what stands after the last end is a line too."""
        stack = ExitStack()
        response, cut = stack.enter_context(self._asked("POST", url, body, limit_s))
        return response.status_code, self._lines(stack, response, cut)

    @contextmanager
    def _asked(self, method: str, url: str, body: Mapping[str, Any] | None,
               limit_s: float) -> Iterator[tuple[httpx.Response, _Cut]]:
        shown, cut = _local(url), _Cut(limit_s)
        timeout = httpx.Timeout(limit_s, connect=min(CONNECT_S, limit_s))
        try:
            with self._client.stream(method, url, json=body, timeout=timeout, extensions={"trace": cut.trace}) as response:
                yield response, cut
        except (httpx.HTTPError, httpx.StreamError) as error:
            if cut.late or isinstance(error, httpx.TimeoutException):
                raise Unreachable(f"{shown}: no whole answer within {limit_s:g} s", "look at the server's log") from None
            words = (str(error).splitlines() or [""])[0][:200]
            raise Unreachable(f"{shown}: {words or type(error).__name__}", "look at the server's log") from None
        finally:
            cut.over()

    def _lines(self, stack: ExitStack, response: httpx.Response, cut: _Cut) -> Iterator[bytes]:
        with stack:
            held = b""
            for chunk in self._chunks(response, cut):
                *whole, held = (held + chunk).split(b"\n")
                yield from (line.removesuffix(b"\r") for line in whole)
            if held:
                yield held

    def _chunks(self, response: httpx.Response, cut: _Cut) -> Iterator[bytes]:
        read = 0
        for chunk in response.iter_raw():
            read += len(chunk)
            if read > self._most:
                raise BadInput(f"{plain(str(response.url))}: an answer of more than {self._most} bytes", "it is not read further")
            yield chunk
            cut.check()
        cut.check()


class _Cut:
    """Breaks a connection off when its time is over."""

    def __init__(self, limit_s: float) -> None:
        self._until = time.monotonic() + limit_s
        self._timer: threading.Timer | None = None

    @property
    def late(self) -> bool:
        return time.monotonic() >= self._until

    def check(self) -> None:
        if self.late:
            raise httpx.ReadTimeout("late")

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """httpcore tells of the connection it made."""
        if event == "connection.connect_tcp.complete":
            socket = info["return_value"].get_extra_info("socket")
            self._timer = threading.Timer(max(0.0, self._until - time.monotonic()), _shut, (socket,))
            self._timer.daemon = True
            self._timer.start()

    def over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _shut(socket: Any) -> None:
    with suppress(OSError):
        socket.shutdown(2)


def _local(url: str) -> str:
    """The address as it may be shown; Refusal for one that is not on this machine, BadInput for none at all."""
    try:
        parts = httpx.URL(url)
        host, shown = parts.host, plain(url)
        if not 0 < (80 if parts.port is None else parts.port) < 65_536:
            raise ValueError
    except (httpx.InvalidURL, ValueError, TypeError):
        raise BadInput(f"{url[:80]!r}: not an address", "write http://127.0.0.1:PORT/path") from None
    if parts.scheme != "http" or not is_loopback_name(host):
        raise Refusal(f"{shown}: a server under test is asked on this machine only", "it listens on 127.0.0.1")
    return shown
