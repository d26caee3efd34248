"""Reading over HTTP: what each failure becomes, what is waited for, and where no request goes."""

from __future__ import annotations

import gzip
import io
import ipaddress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.addresses import Guard, is_loopback_name, may_follow
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


class TestTheGuard:
    def sent(self, url: str, *addresses: str) -> httpx.Request:
        seen = []
        guard = Guard(httpx.MockTransport(lambda request: seen.append(request) or httpx.Response(200)), lambda *_: addresses)
        fetch(make_client(transport=guard), "GET", url)
        return seen[0]

    def test_connects_to_the_address_it_looked_at_under_the_name_that_was_asked_for(self):
        request = self.sent("https://registry.example:8443/v2/?a=1", "93.184.216.34")
        assert str(request.url) == "https://93.184.216.34:8443/v2/?a=1"
        assert request.headers["host"] == "registry.example:8443"
        assert request.extensions["sni_hostname"] == "registry.example"
        assert str(self.sent("https://registry.example/x", "2606:4700::1111").url) == "https://[2606:4700::1111]/x"

    def test_lets_loopback_be_loopback(self):
        assert self.sent("http://localhost:5000/v2/", "::1").url.host == "::1"
        assert self.sent("http://127.0.0.1:5000/v2/", "127.0.0.1").headers["host"] == "127.0.0.1:5000"

    def test_tries_the_next_address_when_one_is_not_routed(self):
        def inner(request):
            if request.url.host == "2606:4700::1111":
                raise httpx.ConnectError("no route")
            return httpx.Response(200)

        guard = Guard(httpx.MockTransport(inner), lambda *_: ["2606:4700::1111", "1.1.1.1"])
        assert fetch(make_client(transport=guard), "GET", "https://registry.example/").status == 200

    @given(st.one_of(st.ip_addresses(v=4, network=net) for net in (
        "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "0.0.0.0/8",
        "224.0.0.0/4", "240.0.0.0/4")) | st.one_of(st.ip_addresses(v=6, network=net) for net in (
            "fc00::/7", "fe80::/10", "::1/128", "::/128", "ff00::/8", "::ffff:10.0.0.0/104", "64:ff9b::7f00:0/104",
            "2002:7f00::/24")))
    def test_reaches_no_special_address_by_a_public_name(self, address):
        for url in ("https://registry.example/", f"https://[{address}]/" if address.version == 6 else f"https://{address}/"):
            if is_loopback_name(httpx.URL(url).host):
                continue
            with pytest.raises(Refusal):
                self.sent(url, "1.1.1.1", str(address))
        assert ipaddress.ip_address(address)

    def test_speaks_no_plain_http_to_others_and_resolves_nothing_to_nothing(self):
        with pytest.raises(Refusal, match="plain HTTP"):
            self.sent("http://registry.example/", "1.1.1.1")
        with pytest.raises(Refusal, match="no address"):
            self.sent("https://registry.example/")

    @pytest.mark.parametrize(("here", "there", "allowed"), [
        ("https://a.example/", "https://cdn.example/x", True), ("http://127.0.0.1:5000/", "http://127.0.0.1:6000/", True),
        ("https://a.example/", "http://localhost/x", False), ("https://a.example/", "gopher://b.example/", False),
    ])
    def test_of_redirects_looks_at_both_ends(self, here, there, allowed):
        if allowed:
            may_follow(here, there)
            return
        with pytest.raises(Refusal):
            may_follow(here, there)

    @pytest.mark.parametrize(("host", "local"), [
        ("localhost", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True), ("LOCALHOST", True), ("127.1", False),
        ("localhost.example", False), ("10.0.0.1", False), ("2130706433", False), ("0.0.0.0", False),
    ])
    def test_loopback_is_what_is_written_as_loopback(self, host, local):
        assert is_loopback_name(host) is local
