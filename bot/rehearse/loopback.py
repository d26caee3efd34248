"""A small HTTP server on a loopback port that hands each request to one function; registry and baselines use it."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct, field

LOG = logging.getLogger(__name__)


class Request(Struct, frozen=True, kw_only=True):
    """One request: path percent-decoded, the last value of each query key, header names in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class Reply(Struct, frozen=True, kw_only=True):
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A value as compact JSON."""
    body = json.dumps(value, separators=(",", ":")).encode()
    return Reply(status=status, body=body, headers={"Content-Type": "application/json", **(headers or {})})


class Threaded(ThreadingHTTPServer):
    """One thread a connection. A client that went away is no fault: Ctrl-C cuts answers short, and the library's own
    way to tell it is a traceback on the user's terminal."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """What both servers' handlers share: kept-alive connections, answers sent at once, and a log for who asks for it,
    since a rehearsal's output is its report."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        LOG.debug(format, *args)


class Loopback:
    """Serves `answer` on 127.0.0.1 at a port of the system's choice, between `start` and `stop`.

    A request is answered completely or not at all: HEAD gets the headers of GET, the length included. A fault in
    `answer` becomes a 500 with its words, so that a rehearsal shows it instead of hanging.
    """

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self._answer = answer
        self._server: Threaded | None = None

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("not started")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> str:
        self._server = Threaded(("127.0.0.1", 0), _handler(self._answer))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self.url

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def _handler(answer: Callable[[Request], Reply]) -> type[BaseHTTPRequestHandler]:
    class Answering(Handler):
        def do_GET(self) -> None:
            self._serve()

        def do_HEAD(self) -> None:
            self._serve()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            request = Request(
                method=self.command,
                path=unquote(parts.path),
                query={key: values[-1] for key, values in parse_qs(parts.query).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
            )
            try:
                reply = answer(request)
            except Exception as fault:
                reply = json_reply({"message": f"{type(fault).__name__}: {fault}"}, status=500)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

    return Answering
