"""The committed part of GitHub's description, and the check that uses it: it must see what a schema alone does not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bot.rehearse.github import Exchange
from bot.rehearse.github.wire import ROUTES
from tests.conftest import OPENAPI
from tests.rehearse.github_world import World, checked
from tests.rehearse.openapi import make
from tests.rehearse.openapi.check import ALLOWED, HERE, Checker, operation_of

COMMENTS = "/repos/acme/recipes/issues/1/comments"


def exchange(method: str = "POST", path: str = COMMENTS, *, sent: Any = None, status: int = 201, value: Any = None,
             query: dict[str, str] | None = None) -> Exchange:
    return Exchange(method=method, path=path, query=query or {}, sent=sent, status=status, headers={}, value=value)


def problems(made: Exchange) -> str:
    checker = Checker()
    checker(made)
    return "\n".join(checker.problems)


@pytest.fixture
def comment(tmp_path: Path) -> dict[str, Any]:
    with checked(tmp_path) as world:
        world.pull()
        return world.ask("POST", "issues/1/comments", {"body": "x"}).value


class TestTheCheck:
    def test_a_true_exchange_passes(self, comment: dict[str, Any]) -> None:
        assert problems(exchange(sent={"body": "x"}, value=comment)) == ""

    @pytest.mark.parametrize(("change", "word"), [
        ({"sent": {"body": "x", "drfat": True}}, "request has unknown key /drfat"), ({"sent": {"bdy": "x"}}, "request"),
        ({"status": 207}, "not documented"), ({"query": {"perpage": "1"}}, "unknown query parameter perpage"),
        ({"path": "/repos/acme/recipes/wiki"}, "no such operation")])
    def test_what_the_description_does_not_know_is_told(
        self, comment: dict[str, Any], change: dict[str, Any], word: str
    ) -> None:
        assert word in problems(exchange(**{"sent": {"body": "x"}, "value": comment, **change}))

    @pytest.mark.parametrize(("change", "word"), [
        ({"boddy": "x"}, "unknown key /boddy"), ({"id": "seven"}, "id"), ({"user": {"login": 1}}, "user"),
        ({"created_at": "yesterday"}, "created_at")])
    def test_so_is_an_answer_s_misspelt_or_wrong_key(
        self, comment: dict[str, Any], change: dict[str, Any], word: str
    ) -> None:
        assert word in problems(exchange(sent={"body": "x"}, value={**comment, **change}))

    def test_a_nested_unknown_key_is_found(self, comment: dict[str, Any]) -> None:
        value = {**comment, "user": {**comment["user"], "loginn": "x"}}
        assert "unknown key /user/loginn" in problems(exchange(sent={"body": "x"}, value=value))

    def test_a_key_that_is_required_is_missed(self, comment: dict[str, Any]) -> None:
        value = {key: item for key, item in comment.items() if key != "html_url"}
        assert "html_url" in problems(exchange(sent={"body": "x"}, value=value))

    def test_nothing_seen_is_no_success(self) -> None:
        with pytest.raises(AssertionError, match="no exchange"):
            Checker().hold()

    def test_every_exception_says_why(self) -> None:
        assert all(len(entry.why) > 20 for entry in ALLOWED)


class TestTheSubset:
    def test_every_route_is_described_but_storage_and_graphql(self, tmp_path: Path) -> None:
        filled = {"owner": "acme", "repo": "recipes"}
        for known in ROUTES:
            names = {name: filled.get(name, "1") for name in known.pattern.groupindex}
            path = known.pattern.pattern.replace("\\", "")
            for name, value in names.items():
                path = path.replace(f"(?P<{name}>[^/]+)", value).replace(f"(?P<{name}>.+)", value)
            if path.startswith(("/_storage", "/graphql")) or path.endswith(("/contents", "/contents/")):
                continue
            assert operation_of(known.method, path), f"{known.method} {path}"

    def test_it_is_small_and_says_its_version_and_licence(self) -> None:
        data = (HERE / "github.json.gz").read_bytes()
        known = json.loads(gzip.decompress(data))
        assert len(data) < 40_000 and known["info"]["version"] == "23.0.2" and known["info"]["license"]["name"] == "MIT"
        assert "MIT License" in (HERE / "NOTICE").read_text()

    def test_it_is_what_the_script_makes_of_the_published_file(self) -> None:
        if not OPENAPI.exists():
            pytest.skip("@octokit/openapi is absent")
        made = make.subset(json.loads(OPENAPI.read_text()))
        assert made == json.loads(gzip.decompress((HERE / "github.json.gz").read_bytes()))

    def test_the_skeletons_are_what_the_script_makes_of_the_subset(self) -> None:
        known = json.loads(gzip.decompress((HERE / "github.json.gz").read_bytes()))
        assert json.loads(make.SKELETONS.read_text()) == make.frames(known["components"]["schemas"])

    def test_an_unknown_path_of_ours_is_404(self, tmp_path: Path) -> None:
        with checked(tmp_path) as world:
            assert isinstance(world, World) and world.ask("GET", "wiki").status == 404
