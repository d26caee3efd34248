"""Docker Hub's manners, and where its credentials may and may not go: played without a network, host names and all."""

from __future__ import annotations

import httpx
import pytest

from bot.adapters.registry import OciRegistry
from bot.adapters.registry.auth import challenges
from bot.adapters.registry.hosts import host_of
from bot.errors import BadInput, Refusal
from bot.images.reference import parse
from tests.adapters.fake_registry import Asked, FakeClock, FakeRegistry, basic

CONFIG = {"auths": {"https://index.docker.io/v1/": {"username": "bot", "password": "secret"},
                    "ghcr.io": {"username": "cat", "password": "hidden"}}}


class Hub:
    """registry-1.docker.io, auth.docker.io and hub.docker.com, and everything that each of them was sent."""

    def __init__(self, realm: str = "https://auth.docker.io/token", redirect: str = "") -> None:
        self.store, self.realm, self.redirect = FakeRegistry(), realm, redirect
        self.digest = self.store.index("v1")
        self.seen: list[tuple[str, str | None]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        login = request.headers.get("authorization")
        self.seen.append((request.url.host, login))
        if request.url.host == "auth.docker.io":
            return httpx.Response(200, json={"token": "t"})
        if request.url.host == "hub.docker.com":
            return httpx.Response(200, json={"last_updated": "2026-09-03T10:00:00Z"})
        if request.url.host != "cdn.example" and login != "Bearer t":
            return httpx.Response(401, headers={"WWW-Authenticate": f'Bearer realm="{self.realm}",service="registry.docker.io"'})
        if self.redirect and request.url.host != "cdn.example" and "/blobs/" in request.url.path:
            return httpx.Response(307, headers={"Location": f"{self.redirect}{request.url.path}"})
        status, headers, body = self.store.answer(Asked(request.method, request.url.path, request.headers))
        return httpx.Response(status, headers=dict(headers), content=body)

    def port(self) -> OciRegistry:
        return OciRegistry(FakeClock(), credentials=CONFIG, transport=httpx.MockTransport(self))

    def logins(self, host: str) -> set[str | None]:
        return {login for seen, login in self.seen if seen == host}


class TestTheHub:
    def test_gets_its_password_at_its_own_realm_and_nowhere_else(self):
        hub = Hub(redirect="https://cdn.example")
        found = hub.port().resolve(parse("vllm/vllm-openai:v1"))
        assert (found.digest, found.identity) == (hub.digest, "bot")
        assert found.pushed is not None and found.pushed.isoformat() == "2026-09-03T10:00:00+00:00"
        assert hub.logins("auth.docker.io") == {basic("bot", "secret")}
        assert hub.logins("registry-1.docker.io") == {None, "Bearer t"}
        assert hub.logins("hub.docker.com") == hub.logins("cdn.example") == {None}

    @pytest.mark.parametrize("name", ["docker.io/a/b:v1", "index.docker.io/a/b:v1", "registry-1.docker.io/a/b:v1", "a/b:v1"])
    def test_is_one_host_under_all_its_names(self, name):
        assert Hub().port().resolve(parse(name)).identity == "bot"

    @pytest.mark.parametrize("realm", ["https://evil.example/token", "http://auth.docker.io/token", "http://127.0.0.1:9/token",
                                       "https://auth.docker.io.evil.example/token", "https://ghcr.io/token"])
    def test_cannot_send_its_logins_elsewhere(self, realm):
        hub = Hub(realm=realm)
        with pytest.raises(Refusal, match="sends its logins"):
            hub.port().resolve(parse("vllm/vllm-openai:v1"))
        assert {host for host, _ in hub.seen} == {"registry-1.docker.io"}


class TestChallenges:
    def test_are_read_in_all_their_spellings(self):
        found = challenges('Basic realm="a, b", Bearer realm="https://x/\\"t",service=s , scope="repository:a/b:pull,push"')
        assert [(c.scheme, c.parameters) for c in found] == [
            ("basic", {"realm": "a, b"}),
            ("bearer", {"realm": 'https://x/"t', "service": "s", "scope": "repository:a/b:pull,push"})]
        assert challenges("Negotiate")[0].scheme == "negotiate" and challenges("") == []

    def test_long_ones_are_cut_and_end(self):
        assert len(challenges("a " * 1_000_000)) < 5000


class TestHosts:
    @pytest.mark.parametrize(("registry", "api"), [
        ("docker.io", "https://registry-1.docker.io"), ("nvcr.io", "https://nvcr.io"), ("host.example:5000", "https://host.example:5000"),
        ("localhost:5000", "http://localhost:5000"), ("127.9.9.9", "http://127.9.9.9"), ("[::1]:5000", "http://[::1]:5000"),
    ])
    def test_are_spoken_to_in_tls_unless_they_are_loopback(self, registry, api):
        assert host_of(registry).api == api
        assert host_of(registry).local == api.startswith("http:")

    @pytest.mark.parametrize("registry", ["xn--a.example", "[:::]", "[12345::]"])
    def test_that_nobody_can_ask_for_are_bad_input_and_leave_the_others(self, registry):
        hub = Hub()
        bad, good = parse(f"{registry}/a/b:v1"), parse("a/b:v1")
        found = hub.port().held([bad, good])
        assert isinstance(found[bad.text], BadInput) and registry in str(found[bad.text])
        assert found[good.text].digest == hub.digest
