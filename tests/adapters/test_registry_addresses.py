"""Where requests may go: what the guard connects to, and what it refuses whatever a name says."""

from __future__ import annotations

import asyncio
import ipaddress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.addresses import Guard, is_loopback_name, may_follow
from bot.adapters.http import fetch_async, make_async_client
from bot.errors import Refusal


def get(guard: Guard, *urls: str) -> list[int]:
    """The statuses of requests sent one after the other, or all at a time where they are the same."""

    async def ask() -> list[int]:
        async with make_async_client(guard) as client:
            questions = [fetch_async(client, "GET", url) for url in urls]
            if len(set(urls)) == 1 and len(urls) > 2:
                return [answer.status for answer in await asyncio.gather(*questions)]
            return [(await question).status for question in questions]

    return asyncio.run(ask())


class TestTheGuard:
    def sent(self, url: str, *addresses: str) -> httpx.Request:
        seen = []
        inner = httpx.MockTransport(lambda request: seen.append(request) or httpx.Response(200))
        get(Guard(lambda _: inner, lambda *_: addresses), url)
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
        tried = []

        def inner(request):
            tried.append(request.url.host)
            if request.url.host == "2606:4700::1111":
                raise httpx.ConnectError("no route")
            return httpx.Response(200)

        guard = Guard(lambda _: httpx.MockTransport(inner), lambda *_: ["2606:4700::1111", "1.1.1.1"])
        assert get(guard, "https://registry.example/", "https://registry.example/") == [200, 200]
        assert tried == ["2606:4700::1111", "1.1.1.1", "1.1.1.1"]

    def test_looks_a_name_up_once_for_all_that_ask_at_a_time(self):
        looked = []
        guard = Guard(lambda _: httpx.MockTransport(lambda _: httpx.Response(200)), lambda *name: looked.append(name) or ["1.1.1.1"])
        assert get(guard, *["https://registry.example/"] * 20) == [200] * 20
        assert looked == [("registry.example", 443)]

    def test_gives_each_name_connections_of_its_own_though_they_are_at_one_address(self):
        made = []
        guard = Guard(lambda scheme: made.append(scheme) or httpx.MockTransport(lambda _: httpx.Response(200)), lambda *_: ["1.1.1.1"])
        assert get(guard, "https://a.example/", "https://b.example/", "https://a.example/x") == [200] * 3
        assert made == ["https", "https"]

    @given(st.one_of(st.ip_addresses(v=4, network=net) for net in (
        "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "0.0.0.0/8",
        "224.0.0.0/4", "240.0.0.0/4")) | st.one_of(st.ip_addresses(v=6, network=net) for net in (
            "fc00::/7", "fe80::/10", "::1/128", "::/128", "ff00::/8", "::ffff:10.0.0.0/104", "64:ff9b::7f00:0/104",
            "2002:7f00::/24", "fec0::/10", "::7f00:0/104", "::ffff:0:7f00:0/104", "64:ff9b:1::/48", "2001::/32")))
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
