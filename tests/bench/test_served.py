"""The name that clients must send: what the server lists, not what the recipe calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import pytest

from bot.bench import served
from bot.bench.host import Host
from bot.errors import Refusal, Unreachable
from bot.ports import Clock, Programs, Web
from tests.bench.load.room import ORDER, Quick, Served


@dataclass
class Lists:
    """A server's HTTP: what it answers to `/v1/models`."""

    body: bytes
    status: int = 200

    def get(self, url: str, *, limit_s: float = 5.0) -> Lists:
        assert url == "http://127.0.0.1:8000/v1/models"
        if self.status == 0:
            raise Unreachable("nobody answers")
        return self


def asked(body: Any, args: Mapping[str, Any] | None = None, status: int = 200) -> str:
    raw = body if isinstance(body, bytes) else msgspec.json.encode({"data": [{"id": name} for name in body]})
    host = Host(programs=cast(Programs, None), web=cast(Web, Lists(raw, status)), clock=cast(Clock, Quick()), env={})
    order = msgspec.structs.replace(ORDER, model="acme/toy", args=dict(args or {}))
    return served.name(order, Served("http://127.0.0.1:8000"), host)


class TestTheServedName:
    def test_is_the_repository_where_that_is_listed(self) -> None:
        assert asked(["other", "acme/toy"]) == "acme/toy"

    @pytest.mark.parametrize("word", ["served-model-name", "served_model_name"])
    def test_is_what_the_arguments_call_it_where_that_is_listed(self, word: str) -> None:
        assert asked(["glm", "other"], {word: "glm"}) == "glm"

    def test_is_the_only_one(self) -> None:
        assert asked(["/models/toy"]) == "/models/toy"

    def test_is_what_was_asked_where_nothing_is_listed(self) -> None:
        assert asked([]) == "acme/toy"
        assert asked(b"<html>") == asked(b"[]") == asked(b"", status=0) == asked(b"", status=404) == "acme/toy"
        assert asked([], {"served-model-name": "glm"}) == "glm"

    def test_of_several_strangers_is_refused(self) -> None:
        with pytest.raises(Refusal, match="the server has a, b, and not acme/toy: give it served-model-name"):
            asked(["a", "b"])
