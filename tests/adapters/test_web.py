"""HTTP to a server under test: whole answers, lines as they come, and every way in which such a server breaks."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from bot.adapters.web import LocalWeb
from bot.errors import BadInput, Refusal, Unreachable

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.fixture
def server():
    """`server(act)` gives the address of a server; `act` gets each connection after the request and the request itself."""
    opened: list[tuple[socket.socket, threading.Thread]] = []

    def begin(act: Callable[[socket.socket, bytes], None]) -> str:
        listening = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            with suppress(OSError):
                while True:
                    one, _ = listening.accept()
                    threading.Thread(target=answered, args=(one,), daemon=True).start()

        def answered(one: socket.socket) -> None:
            with suppress(OSError), one:
                asked = b""
                while b"\r\n\r\n" not in asked or (b"POST" in asked and not asked.endswith(b"}")):
                    asked += one.recv(65_536)
                act(one, asked)

        thread = threading.Thread(target=serve, daemon=True)
        opened.append((listening, thread))
        thread.start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield begin
    for listening, thread in opened:
        # A close alone leaves the thread in its accept(), and a later test's server lost connections to it (it is given the same
        # descriptor): a wake's POST was answered with this file's 503.
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        listening.close()
        assert not thread.is_alive()


def says(*parts: bytes) -> Callable[[socket.socket, bytes], None]:
    return lambda one, asked: [one.sendall(part) for part in parts] and None


class TestAnswers:
    def test_come_whole_with_any_status(self, server):
        found = LocalWeb().get(server(says(b"HTTP/1.1 503 no\r\nContent-Length: 5\r\n\r\nearly")) + "/health")
        assert (found.status, found.body) == (503, b"early")

    def test_a_question_is_sent_as_json(self, server):
        heard = []
        url = server(lambda one, asked: (heard.append(asked), one.sendall(HEAD + b"{}"))[0])
        LocalWeb().post(url, {"stream": True, "text": "中"})
        assert json.loads(heard[0].partition(b"\r\n\r\n")[2]) == {"stream": True, "text": "中"}

    def test_a_redirect_is_an_answer_and_is_not_followed(self, server):
        url = server(says(b"HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
        assert LocalWeb().get(url).status == 302

    def test_no_proxy_of_the_environment_is_asked(self, server, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        assert LocalWeb().get(server(says(HEAD, b"direct"))).body == b"direct"


class TestLines:
    def test_come_as_they_are_sent(self, server):
        more = threading.Event()

        def act(one, asked):
            one.sendall(HEAD + b"data: 1\r\n\r\nda")
            more.wait(10)
            one.sendall(b"ta: 2\n\ndata: [DONE]")

        status, lines = LocalWeb().stream(server(act), {})
        assert (status, next(lines), next(lines)) == (200, b"data: 1", b"")  # the second is not sent yet
        more.set()
        assert list(lines) == [b"data: 2", b"", b"data: [DONE]"]

    def test_a_stream_that_breaks_off_in_the_middle_is_said(self, server):
        _, lines = LocalWeb().stream(server(says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcd\n\r\n")), {})
        assert next(lines) == b"abcd"
        with pytest.raises(Unreachable, match="closed"):
            next(lines)


def drip(start: bytes, drop: bytes) -> Callable[[socket.socket, bytes], None]:
    def act(one: socket.socket, asked: bytes) -> None:
        one.sendall(start)
        for _ in range(600):
            one.sendall(drop)
            time.sleep(0.02)
    return act


class TestLimits:
    @pytest.mark.parametrize("act", [
        pytest.param(lambda one, asked: time.sleep(5), id="silence"),
        pytest.param(lambda one, asked: (one.sendall(HEAD), time.sleep(5)), id="a head and silence"),
        pytest.param(drip(HEAD, b"x\n"), id="a body that drips"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), id="a head that drips"),
    ])
    def test_a_server_that_hangs_is_not_waited_for(self, server, act):
        url = server(act)
        with pytest.raises(Unreachable, match="no whole answer within 0.2 s"):
            LocalWeb().get(url, limit_s=0.2)
        with pytest.raises(Unreachable, match="no whole answer within 0.2 s"):
            list(LocalWeb().stream(url, {}, limit_s=0.2)[1])

    def test_an_endless_answer_is_not_read(self, server):
        url = server(drip(HEAD, b"x" * 4096))
        with pytest.raises(BadInput, match="more than 10000 bytes"):
            LocalWeb(most=10_000).get(url)
        with pytest.raises(BadInput, match="more than 10000 bytes"):
            list(LocalWeb(most=10_000).stream(url, {})[1])

    def test_nobody_there_is_said_with_the_address_and_without_its_question(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unreachable, match=f"{url}/v1"):
            LocalWeb().get(f"{url}/v1?key=secret")

    def test_words_that_are_no_http_are_unreachable(self, server):
        with pytest.raises(Unreachable):
            LocalWeb().get(server(says(b"SSH-2.0-x\r\n")))


class TestElsewhere:
    @pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://example.org/", "https://127.0.0.1/", "http://127.0.0.1.example.org/"])
    def test_is_never_asked(self, url):
        with pytest.raises(Refusal, match="this machine only"):
            LocalWeb().get(url)

    @pytest.mark.parametrize("url", ["http://[", "\x00", "http://127.0.0.1:99999/"])
    def test_what_is_no_address_is_bad_input(self, url):
        with pytest.raises((BadInput, Refusal)):
            LocalWeb().get(url)
