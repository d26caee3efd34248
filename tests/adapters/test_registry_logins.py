"""Who the client says it is, to whom, and how often it asks for a token."""

from __future__ import annotations

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
