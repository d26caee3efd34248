"""Who the client says it is, to whom, and how often it asks for a token."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, Refusal
from bot.images.reference import parse
from tests.adapters.fake_registry import basic, bearer, document


def client(clock, **options) -> OciRegistry:
    return OciRegistry(clock, **options)


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
                                       "file:///etc/passwd", "http://user:pw@127.0.0.1/token", "http://xn--/token",
                                       "http://[::ffff:127.0.0.1]/token", "http://127.0.0.1\\@evil.example/token", "/token"])
    def test_a_realm_anywhere_else_gets_nothing(self, registry, clock, realm):
        bearer(registry, realm=realm or "nothing")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        with pytest.raises(Refusal, match="sends its logins to"):
            client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_the_scope_is_the_one_of_the_challenge(self, registry, clock):
        # BR044: one vendor lists tags only with more than `pull`.
        asks, wants = registry.url, "repository:a/b:pull,metadata_read"
        registry.names = {"v1": "x"}
        registry.before = lambda asked: (200, {}, document({"token": parse_qs(asked.query)["scope"][0]})) if asked.path == "/token" else (
            None if asked.login == f"Bearer {wants}" else (401, {"WWW-Authenticate": f'Bearer realm="{asks}/token",scope="{wants}"'}, b""))
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v1",)

    @pytest.mark.parametrize("status", [403, 405])
    def test_a_listing_that_is_refused_without_a_challenge_is_opened_by_the_one_at_the_root(self, registry, clock, status):
        # BR043: an artifact registry answers 405 at tags/list to who has not logged in.
        registry.names = {"v1": "x"}
        bearer(registry, tokens={basic("bot", "secret"): "for-bot"})
        inner = registry.before
        registry.before = lambda asked: inner(asked) if asked.login or asked.path in ("/token", "/v2/") else (status, {}, b"")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        assert client(clock, credentials=config).tags(parse(f"{registry.netloc}/a/b")) == ("v1",)

    @pytest.mark.parametrize("status", [403, 405])
    def test_a_listing_that_nobody_may_have_is_refused_once_and_for_what(self, registry, clock, status):
        # BR043: nor is the odd status taken for a broken login.
        registry.before = lambda asked: (200, {}, b"{}") if asked.path == "/v2/" else (status, {}, b"")
        with pytest.raises(Refusal, match="refused as anonymous|does not answer this question"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))
        assert len(registry.asked) == 2

    def test_a_stranger_that_is_refused_with_403_asks_at_the_root_how_to_log_in(self, registry, clock):
        digest = registry.index("v1")
        bearer(registry, tokens={basic("bot", "secret"): "for-bot"})
        inner = registry.before
        registry.before = lambda asked: inner(asked) if asked.login or asked.path in ("/token", "/v2/") else (403, {}, b"")
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        for question in ("digest", "resolve"):
            found = getattr(client(clock, credentials=config), question)(parse(f"{registry.netloc}/a/b:v1"))
            assert getattr(found, "digest", found) == digest

    @pytest.mark.parametrize("answer", [{"token": "a\r\nX-Evil: 1"}, {"token": 7}, {}, []])
    def test_a_token_that_is_none_is_bad_input(self, registry, clock, answer):
        bearer(registry, realm=f"{registry.url}/tokens")
        inner = registry.before
        registry.before = lambda asked: (200, {}, document(answer)) if asked.path == "/tokens" else inner(asked)
        with pytest.raises(BadInput, match="no token"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))


class TestARefusal:
    """Tells who was refused what, and by which challenge: a fault of the registry is told from one of ours. (BR045)"""

    CHALLENGE = "bearer realm={url}/token service=s scope=repository:a/b:pull"

    def told(self, registry, clock, question: str = "held", **login: str) -> str:
        config = {"auths": {registry.netloc: login}} if login else {}
        wanted = parse(f"{registry.netloc}/a/b:v1")
        port = client(clock, credentials=config)
        return str(port.held([wanted])[wanted.text] if question == "held" else port.listings([wanted])[wanted.name])

    @pytest.mark.parametrize("question", ["held", "listings"])
    @pytest.mark.parametrize(("password", "whom"), [("", "anonymous"), ("old", "anonymous, for bot was refused"), ("secret", "bot")])
    @pytest.mark.parametrize("status", [401, 403])
    def test_of_an_image_tells_challenge_scope_and_identity(self, registry, clock, question, password, whom, status):
        bearer(registry, tokens={"": "for-anyone", basic("bot", "secret"): "for-bot"})
        inner = registry.before
        registry.before = lambda asked: inner(asked) or (status, {}, b"")
        told = self.told(registry, clock, question, **({"username": "bot", "password": password} if password else {}))
        assert f"refused as {whom} for repository:a/b:pull ({status}; {self.CHALLENGE.format(url=registry.url)})" in told
        assert "secret" not in told and "old" not in told

    def test_of_a_token_tells_them_too(self, registry, clock):
        bearer(registry, tokens={})
        told = self.told(registry, clock, username="bot", password="old")
        assert "a token for repository:a/b:pull as anonymous, for bot was refused" in told
        assert self.CHALLENGE.format(url=registry.url) in told

    def test_shows_no_more_of_a_challenge_than_may_be_shown(self, registry, clock):
        registry.before = lambda asked: (401, {"WWW-Authenticate": "Negotiate " + "x" * 5000 + ', Basic realm="@everyone `[a](b)`\t<b>"'}, b"")
        told = self.told(registry, clock)
        assert len(told) < 600 and not set("@`[]<>\t") & set(told.partition("offers")[2].rpartition(": log in")[0])
        assert "negotiate" in told

    @pytest.mark.parametrize(("password", "whom"), [("", "anonymous"), ("old", "anonymous, for bot was refused"), ("secret", "bot")])
    def test_for_asking_too_often_tells_who_asked(self, registry, clock, password, whom):
        # BR047: a paid account did not help because nobody saw that it was never used.
        bearer(registry, tokens={"": "for-anyone", basic("bot", "secret"): "for-bot"})
        inner = registry.before
        registry.before = lambda asked: inner(asked) or (429, {"ratelimit-remaining": "0;w=21600"}, b"")
        told = self.told(registry, clock, **({"username": "bot", "password": password} if password else {}))
        assert f"asks {whom} for 6.0 hours without questions" in told
