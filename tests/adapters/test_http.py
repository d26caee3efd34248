"""Reading over HTTP: what each failure becomes, what is waited for, and where no request goes."""

from __future__ import annotations

import gzip
import io

import httpx
import pytest

from bot.adapters.http import Answer, Busy, check, fetch, make_client, plain, retry_read, stream, wait_asked
from bot.errors import BadInput, Missing, Refusal, Unreachable
from tests.adapters.fake_registry import FakeClock


def client(handler) -> httpx.Client:
    return make_client(transport=httpx.MockTransport(handler))


def raising(error: Exception):
    def handler(_):
        raise error

    return client(handler)


def answer(status: int, **headers: str) -> Answer:
    return Answer(url="https://x.example/a?token=t", status=status, headers=headers, body=b"")


class TestFailures:
    @pytest.mark.parametrize("error", [
        httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full"),
        httpx.RemoteProtocolError("closed"), httpx.ReadError("reset"), httpx.WriteError("reset"), httpx.ProxyError("no"),
        httpx.TooManyRedirects("many"),
    ])
    def test_of_the_network_are_unreachable(self, error):
        with pytest.raises(Unreachable) as caught:
            fetch(raising(error), "GET", "https://x.example/a?token=secret")
        assert "x.example" in str(caught.value) and "secret" not in str(caught.value)

    @pytest.mark.parametrize("url", ["ftp://x.example/", "no-scheme", "https://", "http://[::bad/"])
    def test_of_an_address_are_bad_input(self, url):
        with pytest.raises(BadInput):
            fetch(make_client(), "GET", url)

    def test_of_a_broken_encoding_are_bad_input(self):
        broken = client(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip")))
        with pytest.raises(BadInput, match="cannot be read"):
            fetch(broken, "GET", "https://x.example/")

    def test_of_our_own_pass_as_they_are(self):
        with pytest.raises(Refusal, match="not today"):
            fetch(raising(Refusal("not today")), "GET", "https://x.example/")


class TestLimits:
    def test_count_bytes_after_decompression(self):
        bomb = gzip.compress(b"0" * 5_000_000)
        server = client(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=bomb))
        with pytest.raises(BadInput, match="more than 1000000 bytes"):
            fetch(server, "GET", "https://x.example/", limit=1_000_000)

    @pytest.mark.parametrize(("coding", "packed"), [
        ("gzip, gzip", gzip.compress(gzip.compress(b"0" * 50_000_000))), ("br", b"\x8b"), ("zstd", b"\x28\xb5"), ("Deflate", b"x\x9c")])
    def test_refuse_what_is_packed_twice_or_as_nobody_asked_before_it_grows(self, coding, packed):
        server = client(lambda _: httpx.Response(200, headers={"Content-Encoding": coding}, stream=httpx.ByteStream(packed)))
        with pytest.raises(BadInput, match="packed in a way nobody asked for"):
            fetch(server, "GET", "https://x.example/")

    def test_refuse_a_length_before_it_is_read(self):
        server = client(lambda _: httpx.Response(200, headers={"Content-Length": "999"}, content=b"x" * 999))
        with pytest.raises(BadInput, match="an answer of 999 bytes"):
            fetch(server, "GET", "https://x.example/", limit=10)

    def test_hold_for_a_stream_into_a_file(self):
        server = client(lambda request: httpx.Response(404 if "no" in request.url.path else 200, content=b"x" * 100))
        into = io.BytesIO()
        assert stream(server, "https://x.example/yes", into, limit=100, total_s=5) == 100 == len(into.getvalue())
        with pytest.raises(BadInput):
            stream(server, "https://x.example/yes", io.BytesIO(), limit=99, total_s=5)
        with pytest.raises(Missing):
            stream(server, "https://x.example/no", io.BytesIO(), limit=100, total_s=5)

    def test_nothing_of_the_environment_and_no_redirect_is_followed(self, monkeypatch):
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        server = client(lambda _: httpx.Response(302, headers={"Location": "https://y.example/"}))
        assert server.trust_env is False
        assert fetch(server, "GET", "https://x.example/").status == 302
        assert server.headers["user-agent"].startswith("bumpbot")


class TestStatuses:
    @pytest.mark.parametrize(("told", "kind"), [
        (answer(404), Missing), (answer(410), Missing), (answer(401), Refusal), (answer(403), Refusal), (answer(400), Refusal),
        (answer(302), Refusal), (answer(429), Busy), (answer(500), Busy), (answer(503), Busy),
        (answer(403, **{"x-ratelimit-remaining": "0"}), Busy), (answer(403, **{"retry-after": "5"}), Busy),
        (answer(403, **{"ratelimit-remaining": "0;w=21600"}), Busy), (answer(403, **{"ratelimit-remaining": "07"}), Refusal),
    ])
    def test_are_told_apart(self, told, kind):
        with pytest.raises(kind) as caught:
            check(told, "the thing")
        assert "the thing" in str(caught.value) and caught.value.hint

    def test_of_success_pass(self):
        assert check(answer(204), "x").status == 204

    @pytest.mark.parametrize(("headers", "seconds"), [
        ({"retry-after": "5"}, 5.0), ({"retry-after": "Thu, 10 Sep 2026 00:00:30 GMT"}, 30.0), ({"retry-after": "soon"}, None),
        ({"x-ratelimit-reset": "1788998460"}, 60.0), ({"x-ratelimit-reset": "1"}, 0.0), ({}, None),
        ({"retry-after": "-5"}, None), ({"retry-after": "٣"}, None), ({"x-ratelimit-reset": "9" * 40}, None),
    ])
    def test_may_ask_for_a_wait(self, headers, seconds):
        assert wait_asked(answer(429, **headers), now=FakeClock().now().timestamp()) == seconds

    def test_urls_are_shown_without_what_they_carry(self):
        assert plain("https://user:pw@x.example/a?sig=1#f") == "https://x.example/a"


class TestRetries:
    def attempt(self, *outcomes):
        clock, left = FakeClock(), list(outcomes)

        def read():
            outcome = left.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        try:
            return retry_read(clock, read), clock.waits
        except Exception as error:
            return error, clock.waits

    def test_wait_longer_each_time_and_end(self):
        found, waits = self.attempt(*[Busy("busy")] * 4, "never")
        assert isinstance(found, Busy) and waits == [1.0, 2.0, 4.0]

    def test_wait_as_long_as_was_asked_but_not_for_ever(self):
        assert self.attempt(Busy("busy", after_s=9), "there") == ("there", [9])
        assert self.attempt(Busy("busy", after_s=61), "there")[1] == []

    @pytest.mark.parametrize("error", [Missing("gone"), Refusal("no"), BadInput("bad"), Unreachable("other")])
    def test_are_for_nothing_else(self, error):
        found, waits = self.attempt(error, "there")
        assert found is error and waits == []
