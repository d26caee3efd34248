"""Whose user and password is whose: a helper for one registry, a helper for all, what Docker's config file holds itself."""

from __future__ import annotations

from base64 import b64encode

import pytest

from bot.adapters.registry import OciRegistry
from bot.adapters.registry.secrets import Secrets
from bot.images.reference import parse
from tests.adapters.fake_registry import basic, bearer


class Helpers:
    """Programs that keep passwords; it counts who was asked for what."""

    def __init__(self, **kept: tuple[str, str]) -> None:
        self.kept, self.asked = kept, list[tuple[str, str]]()

    def __call__(self, helper: str, registry: str) -> tuple[str, str] | None:
        self.asked.append((helper, registry))
        return self.kept.get(helper)


AUTHS = {"https://r.example/v2/": {"auth": b64encode(b"file:secret").decode()}}


class TestASecret:
    @pytest.mark.parametrize(("config", "user"), [
        ({"credHelpers": {"r.example": "one"}, "credsStore": "all", "auths": AUTHS}, "one"),
        ({"credHelpers": {"other.example": "one"}, "credsStore": "all", "auths": AUTHS}, "all"),
        ({"credsStore": "empty", "auths": AUTHS}, "file"), ({"auths": AUTHS}, "file"),
        ({"credHelpers": ["r.example"], "credsStore": 3, "auths": AUTHS}, "file"), ({"credHelpers": {"r.example": {}}}, None), ({}, None),
    ])
    def test_is_the_helpers_of_its_registry_then_of_all_then_the_files(self, config: dict, user: str | None) -> None:
        found = Secrets(config, Helpers(one=("one", "a"), all=("all", "b"))).of("r.example")
        assert (found[0] if found else None) == user

    @pytest.mark.parametrize("key", ["docker.io", "index.docker.io", "https://index.docker.io/v1/"])
    def test_of_the_hub_is_asked_for_as_docker_calls_it(self, key: str) -> None:
        helpers = Helpers(desktop=("me", "pat"))
        assert Secrets({"credHelpers": {key: "desktop"}}, helpers).of("docker.io") == ("me", "pat")
        assert helpers.asked == [("desktop", "https://index.docker.io/v1/")]

    def test_is_asked_of_a_helper_once(self) -> None:
        helpers = Helpers()
        secrets = Secrets({"credsStore": "empty"}, helpers)
        assert [secrets.of("r.example"), secrets.of("r.example")] == [None, None] and helpers.asked == [("empty", "r.example")]

    def test_of_a_helper_logs_in_and_is_named(self, registry, clock) -> None:
        registry.index("v1")
        bearer(registry, tokens={basic("bot", "kept"): "for-bot"})
        helpers = Helpers(keychain=("bot", "kept"))
        port = OciRegistry(clock, credentials={"credHelpers": {registry.netloc: "keychain"}}, helper=helpers)
        assert port.resolve(parse(f"{registry.netloc}/a/b:v1")).identity == "bot"
        assert helpers.asked == [("keychain", registry.netloc)]
