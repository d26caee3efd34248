"""What every answer shares: pages, conditional replies, who may ask, how often; refs and files of the repository."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.model.upstream import Commit, Comparison
from bot.rehearse.github import Trigger
from tests.rehearse.github_world import APP, JOB, MAINTAINER, READER, World, checked


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path) as made:
        yield made


class TestPages:
    def test_a_page_holds_at_most_100_and_links_stay_on_this_host(self, world: World) -> None:
        number = world.pull()
        for n in range(251):
            world.human.comment(number, str(n))
        path, seen = f"/repos/acme/recipes/issues/{number}/comments?per_page=500", []
        while path:
            bare, _, search = path.partition("?")
            answer = world.ask("GET", bare, query=dict(pair.split("=") for pair in search.split("&")))
            seen.append(len(answer.value))
            links = dict(
                reversed(part.strip().split("; ")) for part in answer.headers.get("Link", "").split(",") if part
            )  # type: ignore[misc]
            assert all(link.startswith(f"<{world.hub.url}/") for link in links.values())
            path = links.get('rel="next"', "").strip("<>").removeprefix(world.hub.url)
        assert seen == [100, 100, 51]

    def test_thirty_without_asking_and_nothing_past_the_end(self, world: World) -> None:
        number = world.pull()
        for n in range(31):
            world.human.comment(number, str(n))
        assert len(world.get(f"issues/{number}/comments")) == 30
        assert world.get(f"issues/{number}/comments", page="9") == []


class TestEtags:
    def test_an_unchanged_answer_is_304_and_costs_nothing(self, world: World) -> None:
        number = world.pull()
        tag = world.ask("GET", f"issues/{number}").headers["ETag"]
        before = world.get("/rate_limit")["rate"]["used"]
        answer = world.ask("GET", f"issues/{number}", headers={"If-None-Match": tag})
        assert (answer.status, answer.body) == (304, b"")
        assert world.get("/rate_limit")["rate"]["used"] == before
        world.human.comment(number, "changed")
        assert world.ask("GET", f"issues/{number}", headers={"If-None-Match": tag}).status == 200

    def test_another_token_never_gets_a_304(self, world: World) -> None:
        number = world.pull()
        tag = world.ask("GET", f"issues/{number}", token=APP).headers["ETag"]
        assert world.ask("GET", f"issues/{number}", token=JOB, headers={"If-None-Match": tag}).status == 200


class TestTokens:
    def test_no_token_and_a_wrong_one_are_401(self, world: World) -> None:
        assert world.hub.handle("GET", "/repos/acme/recipes").status == 401
        assert world.ask("GET", "/repos/acme/recipes", token="stolen").status == 401

    def test_who_a_token_is(self, world: World) -> None:
        assert world.ask("GET", "/user", token=MAINTAINER).value["login"] == "maintainer"
        assert world.ask("GET", "/user", token=APP).status == 403
        assert world.ask("GET", "/app", token=APP).value["slug"] == "bumpbot"
        assert world.ask("GET", "/app", token=MAINTAINER).status == 401
        assert world.get("/users/bumpbot%5Bbot%5D")["type"] == "Bot"
        assert world.ask("GET", "/users/nobody").status == 404

    @pytest.mark.parametrize(("login", "told", "role"), [
        ("maintainer", "write", "maintain"), ("passer-by", "read", "read"), ("bumpbot[bot]", "write", "write")])
    def test_permission_folds_roles_as_github_does(self, world: World, login: str, told: str, role: str) -> None:
        answer = world.get(f"collaborators/{login.replace('[', '%5B').replace(']', '%5D')}/permission")
        assert (answer["permission"], answer["role_name"]) == (told, role)
        assert world.ask("GET", "collaborators/nobody/permission").status == 404

    def test_the_hour_has_an_end_and_a_new_beginning(self, tmp_path: Path) -> None:
        with checked(tmp_path, limits={"default": 2}) as world:
            statuses = [world.ask("GET", "/repos/acme/recipes", token=JOB).status for _ in range(3)]
            refused = world.ask("GET", "/repos/acme/recipes", token=JOB)
            assert statuses == [200, 200, 403] and refused.headers["X-RateLimit-Remaining"] == "0"
            assert world.ask("GET", "/repos/acme/recipes", token=APP).status == 200
            world.clock.forward(60)
            assert world.ask("GET", "/repos/acme/recipes", token=JOB).status == 200

    def test_time_is_the_clock_s(self, world: World) -> None:
        assert world.ask("GET", "/repos/acme/recipes").headers["Date"] == "Thu, 10 Sep 2026 06:00:00 GMT"


class TestRefs:
    def test_they_are_found_by_name_and_by_start(self, world: World) -> None:
        head = world.branch("bump/kimi-1")
        world.branch("bump/glm-1")
        assert world.get("git/ref/heads/bump/kimi-1")["object"]["sha"] == head
        assert world.get("git/ref/heads%2Fbump%2Fkimi-1")["ref"] == "refs/heads/bump/kimi-1"
        assert [ref["ref"] for ref in world.get("git/matching-refs/heads%2Fbump%2F")] == [
            "refs/heads/bump/glm-1", "refs/heads/bump/kimi-1"]
        assert world.get("git/matching-refs/heads/none") == []
        assert world.ask("GET", "git/ref/heads/none").status == 404
        assert [branch["name"] for branch in world.get("branches")] == ["bump/glm-1", "bump/kimi-1", "main"]
        assert world.get("branches/bump/kimi-1")["commit"]["sha"] == head
        assert world.ask("GET", "branches/none").status == 404

    def test_they_are_made_moved_forward_and_dropped(self, world: World) -> None:
        main, head = world.get("git/ref/heads/main")["object"]["sha"], world.branch()
        assert world.ask("POST", "git/refs", {"ref": "refs/heads/x", "sha": main}).status == 201
        assert world.ask("POST", "git/refs", {"ref": "refs/heads/x", "sha": main}).status == 422
        assert world.ask("POST", "git/refs", {"ref": "refs/x", "sha": main}).status == 422
        assert world.ask("PATCH", "git/refs/heads/x", {"sha": head}).status == 200
        assert world.ask("PATCH", "git/refs/heads/x", {"sha": main}).status == 422
        assert world.ask("PATCH", "git/refs/heads/x", {"sha": main, "force": True}).status == 200
        assert world.ask("DELETE", "git/refs/heads/x").status == 204
        assert world.ask("DELETE", "git/refs/heads/x", token=READER).status == 403

    def test_pushes_are_delivered_once_and_other_namespaces_are_silent(self, world: World) -> None:
        head = world.branch()
        world.hub.git.update_ref("refs/bumpbot/x", head)
        (event, payload), = world.hub.drain()
        assert (event, payload["ref"], payload["after"], payload["created"]) == (
            "push",
            "refs/heads/bump/1",
            head,
            True,
        )
        assert payload["sender"]["login"] == "maintainer" and world.hub.drain() == []

    def test_only_what_the_bot_listens_to_is_delivered(self, tmp_path: Path) -> None:
        listens = {"push": Trigger(branches=("main",)), "pull_request_target": Trigger(types=("labeled",))}
        with checked(tmp_path, listens=listens) as world:
            number = world.pull()
            world.human.label(number, "x")
            world.human.push("main", {"docs/b.md": b"b"}, "docs")
            assert world.events() == ["pull_request_target labeled", "push"]

    def test_an_unknown_committer_s_push_belongs_to_the_pusher(self, tmp_path: Path) -> None:
        with checked(tmp_path, pusher="maintainer") as world:
            git = world.hub.git
            main = git.resolve("main")
            assert main
            for n, (name, email) in enumerate([("x", "x@example.org"), ("b", "bumpbot@example.com"),
                                               ("m", "77+maintainer@users.noreply.github.com")]):
                made = git.make_commit(
                    git.tree_with(main, {f"f{n}": b""}), (main,), "c", (name, email), world.clock.now()
                )
                git.update_ref(f"refs/heads/b{n}", made)
            assert [payload["sender"]["login"] for _, payload in world.hub.drain()] == [
                "maintainer",
                "bumpbot[bot]",
                "maintainer",
            ]


class TestFiles:
    def test_contents_at_a_ref(self, world: World) -> None:
        world.branch()
        for ref, text in (("main", b"image: old\nlines: 1\n"), ("bump/1", b"image: new\nlines: 1\n")):
            found = world.get("contents/recipe.yaml", ref=ref)
            assert base64.b64decode(found["content"]) == text and found["size"] == len(text)
        assert [entry["path"] for entry in world.get("contents/docs")] == ["docs/a.md"]
        assert {entry["name"]: entry["type"] for entry in world.get("contents/")}["docs"] == "dir"
        assert world.ask("GET", "contents/none.yaml").status == 404
        assert world.ask("GET", "contents/recipe.yaml", query={"ref": "--help"}).status == 404

    def test_a_commit_tells_its_files(self, world: World) -> None:
        head = world.branch()
        shown = world.get(f"commits/{head}")
        assert shown["stats"] == {"additions": 1, "deletions": 1, "total": 2}
        assert shown["author"]["login"] == "maintainer"
        assert world.get("commits/bump/1")["sha"] == world.get(f"commits/{head[:10]}")["sha"] == head
        assert world.get(f"git/commits/{head}")["message"] == "bump the image"
        assert [c["sha"] for c in world.get("commits", sha="bump/1")][0] == head
        assert world.ask("GET", "commits/none").status == 422

    def test_compare_counts_both_ways(self, world: World) -> None:
        world.branch()
        world.human.push("main", {"docs/b.md": b"b"}, "beside")
        shown = world.get("compare/main...bump/1")
        assert (shown["status"], shown["ahead_by"], shown["behind_by"]) == ("diverged", 1, 1)
        assert [file["filename"] for file in shown["files"]] == ["recipe.yaml"]
        assert world.get("compare/main...main")["status"] == "identical"
        assert world.get("compare/main...acme:bump/1")["ahead_by"] == 1
        assert world.ask("GET", "compare/main...none").status == 404
        assert world.ask("GET", "compare/main").status == 404

    def test_a_foreign_repository_is_compared_from_facts(self, tmp_path: Path) -> None:
        facts = Comparison(
            repository="vllm-project/vllm",
            base="75c2eef" + "0" * 33,
            head="3696c77" + "1" * 33,
            ahead=32,
            behind=18,
            merge_base="9" * 40,
            commits=(Commit(sha="a" * 40, title="Move cli_args", date="2026-08-25"),),
        )
        with checked(tmp_path, upstream=[facts]) as world:
            shown = world.get("/repos/vllm-project/vllm/compare/75c2eef...3696c77")
            assert (shown["ahead_by"], shown["behind_by"], shown["commits"][0]["commit"]["message"]) == (
                32,
                18,
                "Move cli_args",
            )
            assert world.ask("GET", "/repos/vllm-project/vllm/compare/75c2eef...ffffffff").status == 404
            assert world.ask("GET", "/repos/vllm-project/vllm/pulls").status == 404
