"""Docker Hub's manners, and where its credentials may and may not go: played without a network, host names and all."""

from __future__ import annotations

import httpx
import pytest

from bot.adapters.registry import OciRegistry
from bot.adapters.registry.auth import challenges
from bot.adapters.registry.hosts import host_of
from bot.adapters.registry.session import PER_HOST
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


class Quiet:
    """What a registry holds, asked without its own `before` and its log."""

    def __init__(self, registry: FakeRegistry) -> None:
        self.names, self.manifests, self.blobs, self.asked, self.before = registry.names, registry.manifests, registry.blobs, [], None


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
        # BR047
        assert Hub().port().resolve(parse(name)).identity == "bot"

    @pytest.mark.parametrize("realm", ["https://evil.example/token", "http://auth.docker.io/token", "http://127.0.0.1:9/token",
                                       "https://auth.docker.io.evil.example/token", "https://ghcr.io/token"])
    def test_cannot_send_its_logins_elsewhere(self, realm):
        hub = Hub(realm=realm)
        with pytest.raises(Refusal, match="sends its logins"):
            hub.port().resolve(parse("vllm/vllm-openai:v1"))
        assert {host for host, _ in hub.seen} == {"registry-1.docker.io"}


class TestTheHubsLimit:
    """A hundred manifests in six hours for a stranger: counted by GET, not by HEAD, and told in every answer. (BR046, BR050)"""

    @pytest.fixture
    def hub(self, registry):
        """Its stand-in on loopback, with thirty images and GETs for ten of them."""
        registry.gets = 10
        for number in range(30):
            registry.index(f"v{number}", extra=(registry.child(f"sha256:{number:064x}", "s390x"),))

        def before(asked):
            if asked.method == "HEAD" or "/manifests/" not in asked.path or "if-none-match" in asked.headers:
                return None
            registry.gets -= 1
            if registry.gets < 0:
                return 429, {"ratelimit-remaining": "0;w=21600"}, b""
            status, headers, body = FakeRegistry.answer(Quiet(registry), asked)
            return status, {**headers, "ratelimit-remaining": f"{registry.gets};w=21600"}, body

        registry.before = before
        return registry

    def asked(self, hub, method: str) -> int:
        return sum(asked.method == method and "/manifests/" in asked.path for asked in hub.asked)

    def scan(self, hub, clock, folder):
        hub.asked.clear()
        references = [parse(f"a/b:v{number}") for number in range(30)]
        found = OciRegistry(clock, override={"docker.io": hub.url}, cache=folder).held(references)
        return [found[each.text] for each in references]

    def test_is_spent_on_what_is_new_alone_and_a_scan_below_it_is_whole(self, hub, clock, tmp_path):
        first = self.scan(hub, clock, tmp_path)
        assert self.asked(hub, "HEAD") == 30 and self.asked(hub, "GET") < 10 + PER_HOST, "those under way"
        assert {each.digest for each in first} == set(hub.names.values())
        assert sum(each.platforms is None for each in first) == 20

    def test_is_taken_up_again_where_it_ended(self, hub, clock, tmp_path):
        whole = []
        for _ in range(3):
            found = self.scan(hub, clock, tmp_path)
            whole.append(sum(each.platforms is not None for each in found))
            clock.sleep(21_601)
            hub.gets = 10
        assert whole == [10, 20, 30]


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
