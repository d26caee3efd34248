"""The fleet as operators tell it: a file of the default branch, or an address that is asked without any login."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.adapters.fleet import LayoutFleet
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.layout.upstream import Capacity, Preflight, Staging
from bot.model.preflight import Load, Staged
from bot.preflight import kept
from tests.adapters.githubs import Patience, Reply, always, in_turn, odd

STAGED = {"staged": [{"runner": "h200-dgxc", "images": ["a.sqsh"], "imports": ["glm5.2"], "at": "2026-09-10T00:00:00Z"}]}
LOADS = {"loads": [{"cluster": "b200-dgxc", "nodes": 10, "idle": 1, "queued": 4}]}
YAML = b"staged:\n  - runner: h200-dgxc\n    models: [Kimi-K3]\n    downloads: ['*']\n    locked: true\n"


class Files:
    def __init__(self, **files: bytes) -> None:
        self.files = {name.replace("_", "."): data for name, data in files.items()}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return sorted(self.files)


def fleet(*, file: str = "", url: str = "", loads: str = "", files: Files | None = None) -> LayoutFleet:
    capacity = Capacity(source="http", url=loads) if loads else Capacity()
    return LayoutFleet(Preflight(staging=Staging(file=file, url=url), capacity=capacity), lambda: files or Files(), Patience())


class TestAFileOfTheDefaultBranch:
    def test_tells_what_is_staged(self) -> None:
        told = fleet(file="staged.yaml", files=Files(staged_yaml=YAML)).staged()
        assert told == (Staged(runner="h200-dgxc", models=("Kimi-K3",), downloads=("*",), locked=True, source="staged.yaml"),)

    def test_that_is_not_there_is_missing(self) -> None:
        with pytest.raises(Missing, match="staged.yaml is not there"):
            fleet(file="staged.yaml").staged()

    @pytest.mark.parametrize(("data", "said"), [
        (b"staged:\n  - runner: x\n    image: [a]\n", "image"), (b"staged:\n  - images: [a]\n", "runner"), (b"[]", "staged.yaml"),
        (b"staged: [{runner: x, images: a}]", "images"), (b"\xff", "UTF-8"), (b"x" * (kept.MOST + 1), "at most"),
        (b'{"staged": [], "staged": []}', "staged"),
    ])
    def test_that_does_not_hold_is_told_by_its_place(self, data: bytes, said: str) -> None:
        with pytest.raises(BadInput, match=said):
            fleet(file="staged.yaml", files=Files(staged_yaml=data)).staged()

    def test_is_not_looked_for_where_the_layout_names_none(self) -> None:
        assert fleet().staged() is None and fleet().loads() is None


class TestAnAddress:
    def test_tells_the_same(self) -> None:
        with odd(always(200, STAGED)) as server:
            told = fleet(url=f"{server.url}/staged").staged()
        moment = datetime(2026, 9, 10, tzinfo=UTC)
        assert told == (Staged(runner="h200-dgxc", images=("a.sqsh",), imports=("glm5.2",), source=f"{server.url}/staged", at=moment),)

    def test_is_asked_once_for_what_is_staged_and_anew_for_loads(self) -> None:
        with odd(always(200, STAGED)) as server:
            one = fleet(url=server.url)
            assert one.staged() == one.staged() and len(server.asked) == 1
        with odd(in_turn(Reply(200, LOADS), Reply(200, {"loads": []}))) as server:
            one = fleet(loads=server.url)
            assert one.loads() == (Load(cluster="b200-dgxc", nodes=10, idle=1, queued=4, source=server.url),)
            assert one.loads() == ()

    def test_gets_no_login(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        with odd(always(200, LOADS)) as server:
            fleet(loads=server.url).loads()
            assert not {"authorization", "cookie"} & set(server.asked[0].headers)

    @pytest.mark.parametrize(("reply", "error"), [
        (Reply(302, headers={"Location": "http://127.0.0.1:1/"}), Refusal), (Reply(404), Missing), (Reply(403), Refusal),
        (Reply(500), Unreachable), (Reply(200, data=b"<html>"), BadInput), (Reply(200, {"loads": [{"cluster": "x"}]}), BadInput),
        (Reply(200, {"loads": [{"cluster": "x", "nodes": 1, "idle": 2}]}), BadInput), (Reply(200, {"loads": [], "x": 1}), BadInput),
        (Reply(200, data=b'{"loads": [' + b" " * kept.MOST + b"]}"), BadInput), (Reply(200, LOADS, cut=True), Unreachable),
        (Reply(200, data=b'{"loads": [{"cluster": "x", "nodes": NaN, "idle": 0}]}'), BadInput),
    ])
    def test_that_answers_otherwise_is_not_believed(self, reply: Reply, error: type[Exception]) -> None:
        with odd(lambda asked: reply) as server, pytest.raises(error):
            fleet(loads=server.url).loads()

    def test_that_nobody_serves_is_unreachable(self) -> None:
        with odd(always(200)) as server:
            gone = server.url
        with pytest.raises(Unreachable):
            fleet(loads=gone).loads()


class TestCertifyingRules:
    def test_name_recipes_by_a_glob(self) -> None:
        data: Any = {"certified": [{"recipe": "minimaxm3-*", "task": "minimax_m3_smoke", "framework": "minimax-vendor", "points": 8}]}
        found = kept.certified(json.dumps(data).encode(), "manifest.json", ["minimaxm3-fp8", "dsr1"])
        assert [(one.recipe, one.task, one.points, one.at) for one in found] == [
            ("minimaxm3-fp8", "minimax_m3_smoke", 8, "manifest.json")]


