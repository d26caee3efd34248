"""The registry client against a registry that behaves, one that asks for a login, and many that lie."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import INDEX, LABELS, MANIFEST, FakeClock, FakeRegistry, basic, document, serving, sha

CHALLENGED = "repository:a/b:pull"


@pytest.fixture
def registry():
    with serving(FakeRegistry()) as running:
        yield running


@pytest.fixture
def other():
    with serving(FakeRegistry()) as running:
        yield running


@pytest.fixture
def clock():
    return FakeClock()


def client(clock, **options) -> OciRegistry:
    return OciRegistry(clock, **options)


def bearer(registry: FakeRegistry, *, realm: str = "", tokens: dict[str, str] | None = None, life: int = 300):
    """Makes a registry ask for a token; `tokens` maps the login sent to the realm to the token it gives."""
    tokens = tokens if tokens is not None else {"": "for-anyone"}
    realm = realm or f"{registry.url}/token"

    def before(asked):
        if asked.path == "/token":
            token = tokens.get(asked.login or "")
            return (200, {}, document({"token": token, "expires_in": life})) if token else (401, {}, b"{}")
        if asked.login in {f"Bearer {token}" for token in tokens.values()}:
            return None
        return 401, {"WWW-Authenticate": f'Bearer realm="{realm}",service="s",scope="{CHALLENGED}"'}, b"{}"

    registry.before = before


class TestResolving:
    def test_an_index_tells_digest_platforms_labels_and_facts(self, registry, clock):
        digest = registry.index("v1")
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert (found.kind, found.digest, found.identity) == ("index", digest, "anonymous")
        assert [(p.os, p.architecture) for p in found.platforms] == [("linux", "amd64"), ("linux", "arm64")]
        assert all(sha(registry.manifests[p.digest][1]) == p.digest and p.size == len(registry.manifests[p.digest][1])
                   for p in found.platforms)
        assert found.labels == LABELS and found.created == datetime(2026, 8, 17, 9, 30, 0, 123456, tzinfo=UTC)
        assert (found.facts.cuda, found.facts.rocm, found.facts.arch_list) == ("13.0.1", None, "9.0 10.0a")
        assert found.facts.commit == LABELS["org.opencontainers.image.revision"] and found.provenance == "label"

    def test_asks_head_first_and_names_all_four_types(self, registry, clock):
        registry.index("v1")
        client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        first = registry.asked[0]
        assert (first.method, first.path) == ("HEAD", "/v2/a/b/manifests/v1")
        assert first.headers["accept"].count("application/vnd.") == 4
        assert [a.method for a in registry.asked] == ["HEAD", "GET", "GET", "GET"]

    def test_the_digest_alone_costs_one_head(self, registry, clock):
        digest = registry.index("v1")
        assert client(clock).digest(parse(f"{registry.netloc}/a/b:v1")) == digest
        assert [(asked.method, asked.path) for asked in registry.asked] == [("HEAD", "/v2/a/b/manifests/v1")]

    def test_a_single_manifest_tells_its_platform_from_its_config(self, registry, clock):
        registry.names["rocm"] = registry.image("arm64", labels={}, env=["ROCM_VERSION=7.2.0", "PYTORCH_ROCM_ARCH=gfx950"])
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:rocm"))
        assert (found.kind, found.platforms[0].architecture, found.platforms[0].digest) == ("manifest", "arm64", found.digest)
        assert (found.facts.rocm, found.facts.arch_list, found.facts.commit) == ("7.2.0", "gfx950", None)
        assert found.provenance == "none"

    def test_a_digest_is_asked_for_instead_of_the_tag(self, registry, clock):
        digest = registry.index("v1")
        registry.index("v2", ("arm64",))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v2@{digest}"))
        assert found.digest == digest and registry.asked[0].path.endswith(digest)

    def test_attestations_are_no_platforms_and_children_not_served_leave_the_others(self, registry, clock):
        gone = registry.child("sha256:" + "9" * 64, "amd64")
        attestation = registry.child(registry.image(), "unknown", "unknown")
        registry.index("v1", ("arm64",), extra=(gone, attestation))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert [p.architecture for p in found.platforms] == ["arm64", "amd64"]
        assert found.facts.cuda == "13.0.1"

    def test_no_child_served_leaves_the_facts_unknown(self, registry, clock):
        registry.index("v1", (), extra=(registry.child("sha256:" + "9" * 64, "amd64"),))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert found.created is None and found.facts.cuda is None and len(found.platforms) == 1

    @pytest.mark.parametrize("status", [405, 200])
    def test_a_registry_without_digests_on_head_is_asked_for_the_content(self, registry, clock, status):
        digest = registry.index("v1")
        registry.before = lambda asked: (status, {}, b"") if asked.method == "HEAD" else None
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).digest == digest

    def test_labels_of_another_type_and_times_of_year_one_are_unknown(self, registry, clock):
        config = document({"created": "0001-01-01T00:00:00Z", "os": "linux", "architecture": "amd64",
                           "config": {"Env": None, "Labels": {"a": 1, "b": "x"}}})
        registry.blobs[sha(config)] = config
        registry.names["v1"] = registry.put(MANIFEST, {"mediaType": MANIFEST, "config": {"digest": sha(config)}})
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert found.created is None and found.labels == {"b": "x"}


class TestPushTimes:
    def test_come_from_the_hubs_tag_page_of_an_overridden_registry(self, registry, clock):
        registry.index("v1")
        registry.before = lambda asked: (200, {}, document({"tag_last_pushed": "2026-09-03T10:00:00Z"})) if (
            asked.path == "/v2/repositories/a/b/tags/v1") else None
        found = client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1"))
        assert found.pushed == datetime(2026, 9, 3, 10, tzinfo=UTC) and found.reference.registry == "docker.io"

    def test_are_unknown_where_nobody_tells_them(self, registry, clock):
        registry.index("v1")
        assert client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1")).pushed is None
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).pushed is None
        registry.before = lambda asked: (500, {}, b"") if "repositories" in asked.path else None
        assert client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1")).pushed is None

    def test_an_override_off_loopback_is_refused(self, clock):
        with pytest.raises(Refusal, match="not on loopback"):
            client(clock, override={"docker.io": "http://198.51.100.7"}).resolve(parse("a/b:v1"))


class TestLogins:
    def test_a_token_is_fetched_once_for_its_scope_and_reused(self, registry, clock):
        registry.index("v1")
        bearer(registry)
        port = client(clock)
        port.resolve(parse(f"{registry.netloc}/a/b:v1"))
        port.tags(parse(f"{registry.netloc}/a/b"))
        tokens = [asked for asked in registry.asked if asked.path == "/token"]
        assert len(tokens) == 1 and "scope=repository%3Aa%2Fb%3Apull" in tokens[0].query and "service=s" in tokens[0].query
        assert tokens[0].login is None

    def test_a_token_that_ran_out_is_fetched_again(self, registry, clock):
        registry.index("v1")
        bearer(registry, life=60)
        port = client(clock)
        port.tags(parse(f"{registry.netloc}/a/b"))
        clock.sleep(56)
        port.tags(parse(f"{registry.netloc}/a/b"))
        assert len([asked for asked in registry.asked if asked.path == "/token"]) == 2

    def test_credentials_of_dockers_config_win_the_token_and_are_named(self, registry, clock):
        registry.index("v1")
        bearer(registry, tokens={basic("bot", "secret"): "for-bot"})
        config = {"auths": {registry.url: {"auth": basic("bot", "secret").split()[1]}}}
        assert client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1")).identity == "bot"

    def test_credentials_that_are_wrong_fall_back_to_anonymous_and_say_so(self, registry, clock):
        registry.index("v1")
        bearer(registry)
        config = {"auths": {registry.netloc: {"username": "bot", "password": "old"}}}
        assert client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1")).identity == "anonymous"

    def test_basic_is_answered_with_a_login_and_refused_without(self, registry, clock):
        registry.index("v1")
        registry.before = lambda asked: None if asked.login == basic("bot", "secret") else (
            401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        assert client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1")).identity == "bot"
        with pytest.raises(Refusal, match="offers basic"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_wrong_password_for_basic_ends(self, registry, clock):
        registry.before = lambda asked: (401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "old"}}}
        with pytest.raises(Refusal, match="refused as bot for repository:a/b:pull"):
            client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert len(registry.asked) <= 4

    def test_the_hubs_credentials_do_not_go_to_its_stand_in(self, registry, clock):
        registry.index("v1")
        bearer(registry)
        config = {"auths": {"https://index.docker.io/v1/": {"username": "bot", "password": "secret"}}}
        port = client(clock, credentials=config, override={"docker.io": registry.url})
        assert port.resolve(parse("a/b:v1")).identity == "anonymous"
        assert not any((asked.login or "").startswith("Basic") for asked in registry.asked)

    def test_an_auth_that_is_not_base64_is_bad_input(self, clock):
        with pytest.raises(BadInput, match="base64"):
            client(clock, credentials={"auths": {"ghcr.io": {"auth": "%%%"}}})

    def test_a_realm_on_another_loopback_port_is_used(self, registry, other, clock):
        registry.index("v1")
        bearer(registry, realm=f"{other.url}/token")
        other.before = lambda asked: (200, {}, document({"access_token": "for-anyone"}))
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).kind == "index"

    @pytest.mark.parametrize("realm", ["https://evil.example/token", "http://10.0.0.1/token", "http://169.254.169.254/t", "",
                                       "file:///etc/passwd", "http://user:pw@127.0.0.1/token"])
    def test_a_realm_anywhere_else_gets_nothing(self, registry, clock, realm):
        bearer(registry, realm=realm or "nothing")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        with pytest.raises(Refusal, match="sends its logins to"):
            client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize("answer", [{"token": "a\r\nX-Evil: 1"}, {"token": 7}, {}, []])
    def test_a_token_that_is_none_is_bad_input(self, registry, clock, answer):
        bearer(registry, realm=f"{registry.url}/tokens")
        inner = registry.before
        registry.before = lambda asked: (200, {}, document(answer)) if asked.path == "/tokens" else inner(asked)
        with pytest.raises(BadInput, match="no token"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))


class TestTagLists:
    def pages(self, registry, count: int, link) -> None:
        registry.before = lambda asked: (200, {"Link": link(int(asked.query.partition("page=")[2] or "0") + 1)}, document(
            {"tags": [f"v{asked.query.partition('page=')[2] or 0}"]})) if (
            asked.query.partition("page=")[2] or "0") != str(count) else None

    def test_are_read_page_by_page(self, registry, clock):
        self.pages(registry, 3, lambda n: f'</v2/a/b/tags/list?page={n}>; rel="next"')
        registry.names = {"v9": "x", "-bad": "x", "two words": "x"}
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v0", "v1", "v2", "v9")

    def test_a_whole_list_without_link_is_taken_as_it_is(self, registry, clock):
        registry.names = {f"v{n}": "x" for n in range(3000)}
        assert len(client(clock).tags(parse(f"{registry.netloc}/a/b"))) == 3000

    def test_a_repository_without_tags_has_none(self, registry, clock):
        registry.before = lambda asked: (200, {}, b'{"name": "a/b", "tags": null}')
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ()

    def test_a_loop_and_an_endless_listing_are_errors_and_no_partial_lists(self, registry, clock):
        registry.before = lambda asked: (200, {"Link": '</v2/a/b/tags/list?n=1000>; rel="next"'}, document({"tags": ["v1"]}))
        with pytest.raises(BadInput, match="does not end after 1 pages"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))
        self.pages(registry, 10**9, lambda n: f"</v2/a/b/tags/list?page={n}>; rel=next")
        with pytest.raises(BadInput, match="does not end after 200 pages"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))

    def test_a_link_to_another_host_is_refused(self, registry, other, clock):
        for target in (f"{other.url}/v2/a/b/tags/list?last=x", "//evil.example/x", registry.url.replace("http", "https")):
            registry.before = lambda asked, target=target: (200, {"Link": f'<{target}>; rel="next"'}, b'{"tags": []}')
            with pytest.raises(Refusal, match="another host"):
                client(clock).tags(parse(f"{registry.netloc}/a/b"))
        assert other.asked == []

    @pytest.mark.parametrize("body", [b"[]", b'{"tags": {}}', b'{"tags": "v1"}'])
    def test_another_shape_is_bad_input(self, registry, clock, body):
        registry.before = lambda asked: (200, {}, body)
        with pytest.raises(BadInput, match="not a tag list"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))


class TestRedirects:
    def redirect(self, registry, target):
        registry.before = lambda asked: (307, {"Location": target(asked)}, b"") if "/blobs/" in asked.path else None

    def test_are_followed_without_credentials(self, registry, other, clock):
        registry.index("v1")
        bearer(registry)
        inner = registry.before
        registry.before = lambda asked: inner(asked) or ((307, {"Location": f"{other.url}{asked.path}?sig=1"}, b"")
                                                         if "/blobs/" in asked.path else None)
        other.blobs = registry.blobs
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).facts.cuda == "13.0.1"
        assert [asked.login for asked in other.asked] == [None]
        assert any(asked.login for asked in registry.asked)

    @pytest.mark.parametrize(("target", "said"), [
        ("http://10.1.2.3/x", "plain HTTP"), ("https://10.1.2.3/x", "10.1.2.3"), ("https://169.254.169.254/x", "169.254.169.254"),
        ("https://[fe80::1]/x", "fe80::1"), ("ftp://127.0.0.1/x", "ftp"), ("https://inside.example/x", "192.168.0.9"),
        ("https://[::ffff:10.0.0.1]/x", "10.0.0.1"), ("https://2130706433/x", "127.0.0.1"),
    ])
    def test_to_where_nobody_should_look_are_refused(self, registry, clock, target, said):
        registry.index("v1")
        self.redirect(registry, lambda asked: target)
        known = {"inside.example": "192.168.0.9", "2130706433": "127.0.0.1"}
        port = client(clock, resolve=lambda host, _: [known.get(host, host.strip("[]"))])
        with pytest.raises(Refusal, match=said.replace(".", r"\.")):
            port.resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_in_a_circle_end(self, registry, clock):
        registry.index("v1")
        self.redirect(registry, lambda asked: asked.path)
        with pytest.raises(Refusal, match="redirected"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert len(registry.asked) < 12

    def test_that_ask_for_a_login_get_none(self, registry, other, clock):
        registry.index("v1")
        self.redirect(registry, lambda asked: f"{other.url}/x")
        other.before = lambda asked: (401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
        config = {"auths": {name: {"username": "bot", "password": "secret"} for name in (registry.netloc, other.netloc)}}
        with pytest.raises(Refusal, match="asks for a login"):
            client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert [asked.login for asked in other.asked] == [None]


class TestLies:
    def test_a_body_of_another_digest_is_not_believed(self, registry, clock):
        digest = registry.index("v1")
        kind, body = registry.manifests[digest]
        registry.manifests[digest] = (kind, body + b" ")
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_digest_declared_by_a_rehearsal_is_taken_when_the_switch_says_so(self, registry, clock):
        digest = registry.index("v1")
        declared = "sha256:" + "42" * 32
        registry.manifests[declared], registry.names["v1"] = registry.manifests[digest], declared
        assert client(clock, trust_declared=True).resolve(parse(f"{registry.netloc}/a/b:v1")).digest == declared
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_config_of_another_digest_is_not_believed(self, registry, clock):
        registry.index("v1")
        registry.blobs = {digest: body + b" " for digest, body in registry.blobs.items()}
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_another_digest_than_asked_for_is_not_believed(self, registry, clock):
        digest = registry.index("v1")
        registry.before = lambda asked: (200, {"Docker-Content-Digest": "sha256:" + "1" * 64}, b"")
        with pytest.raises(BadInput, match="asked for"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b@{digest}"))

    def test_what_is_index_and_image_at_once_is_not_believed(self, registry, clock):
        registry.names["v1"] = registry.put(INDEX, {"mediaType": INDEX, "manifests": [], "config": {}})
        with pytest.raises(BadInput, match="at once"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_other_types_of_manifest_are_named(self, registry, clock):
        registry.names["v1"] = registry.put("application/vnd.docker.distribution.manifest.v1+prettyjws", {"schemaVersion": 1})
        with pytest.raises(BadInput, match="prettyjws"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize(("body", "said"), [
        (b'{"mediaType": "' + INDEX.encode() + b'", "manifests": {}}', "not a list"),
        (b'{"mediaType": "' + INDEX.encode() + b'", "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]}',
         "without digest"),
        (b'{"mediaType": "' + MANIFEST.encode() + b'"}', "without a config"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        (b"\xff\xfe", "UTF-8"),
        (b"[]", "not a manifest"),
    ])
    def test_content_of_another_shape_is_bad_input(self, registry, clock, body, said):
        registry.manifests[sha(body)], registry.names["v1"] = (INDEX, body), sha(body)
        with pytest.raises(BadInput, match=said):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_ten_megabytes_are_not_read(self, registry, clock):
        body = document({"mediaType": INDEX, "manifests": [], "annotations": {"x": "y" * 10_000_000}})
        registry.manifests[sha(body)], registry.names["v1"] = (INDEX, body), sha(body)
        with pytest.raises(BadInput, match="at most|more than"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_slow_body_ends_with_its_time(self, registry, clock):
        registry.index("v1")
        with pytest.raises(Unreachable, match="too slowly"):
            client(clock, total_s=0).resolve(parse(f"{registry.netloc}/a/b:v1"))


class TestAnswersToldApart:
    @pytest.mark.parametrize(("status", "kind", "said"), [
        (404, Missing, "not there"), (403, Refusal, "refused"), (400, Refusal, "refused"), (500, Unreachable, "server error"),
        (503, Unreachable, "server error"), (429, Unreachable, "rate limit"), (401, Refusal, "no way to log in"),
    ])
    def test_by_status(self, registry, clock, status, kind, said):
        registry.before = lambda asked: (status, {}, b"")
        with pytest.raises(kind, match=said):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_server_that_recovers_is_waited_for_on_the_clock(self, registry, clock):
        registry.index("v1")
        replies = iter([(503, {}, b""), (429, {"Retry-After": "7"}, b""), None])
        registry.before = lambda asked: next(replies, None)
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).kind == "index"
        assert clock.waits == [1.0, 7.0]

    def test_a_server_that_asks_for_an_hour_is_not(self, registry, clock):
        registry.before = lambda asked: (429, {"Retry-After": "3600"}, b"")
        with pytest.raises(Unreachable, match="rate limit"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert clock.waits == [] and len(registry.asked) == 1

    def test_nobody_at_home_is_unreachable(self, clock):
        with pytest.raises(Unreachable):
            client(clock).resolve(parse("127.0.0.1:1/a/b:v1"))

    def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(self, clock):
        port = client(clock, resolve=lambda host, _: ["203.0.113.9", "127.0.0.1"])
        with pytest.raises(Refusal, match="is not asked|is at"):
            port.resolve(parse("registry.example/a/b:v1"))

    def test_localhost_that_is_somewhere_else_is_refused(self, clock):
        port = client(clock, resolve=lambda host, _: ["192.0.2.1"])
        with pytest.raises(Refusal, match="192.0.2.1"):
            port.resolve(parse("localhost:5000/a/b:v1"))


def test_the_fake_serves_what_it_says(registry):
    digest = registry.index("v1")
    assert json.loads(registry.manifests[digest][1])["mediaType"] == INDEX
