"""HTTP/1.1 on loopback around one `handle`: a thread a connection, kept alive, flushed at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from bot.rehearse.github.wire import Response
from bot.rehearse.loopback import Handler, Threaded

Handle = Callable[[str, str, Mapping[str, str], Mapping[str, str], bytes], Response]
CHUNK = 1 << 16
MAX_BODY = 32 << 20


class Server:
    """A free port on 127.0.0.1, taken when made, so that addresses are known before the first request."""

    def __init__(self, handle: Handle) -> None:
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.handle = handle
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()


class _Http(Threaded):
    handle: Handle


class _Handler(Handler):
    server: _Http
    wbufsize = CHUNK

    def _serve(self) -> None:
        path, _, search = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY:
            self.close_connection = True
            return self._send(Response(status=413, value={"message": "Payload too large"}))
        body = self.rfile.read(length)
        query = dict(parse_qsl(search, keep_blank_values=True))
        try:
            response = self.server.handle(self.command, path, query, dict(self.headers.items()), body)
        except Exception as failure:  # a fault of ours must reach the client as a 500 it can report, not as a cut line
            response = Response(status=500, value={"message": f"{type(failure).__name__}: {failure}"})
        return self._send(response)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _serve

    def _send(self, response: Response) -> None:
        bare = response.status in (204, 304)
        data = b"" if bare or response.file else response.data if response.data is not None else (
            b"" if response.value is None else json.dumps(response.value, ensure_ascii=False).encode())
        size = response.file.stat().st_size if response.file else len(data)
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if not bare:
            self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command != "HEAD" and not bare:
            self._stream(response, data)
        self.wfile.flush()

    def _stream(self, response: Response, data: bytes) -> None:
        if response.file is None:
            self.wfile.write(data)
            return
        with response.file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                self.wfile.write(chunk)
