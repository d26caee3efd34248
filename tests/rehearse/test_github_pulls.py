"""Pull requests on the loopback GitHub: what they tell, when they merge, what closing and drafts do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.rehearse.github.gitrepo import GitRepo
from tests.rehearse.github_world import JOB, MAINTAINER, READER, World, checked


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path) as made:
        yield made


def conflict(world: World) -> None:
    """Main gains a changelog entry where the branch has another one."""
    world.human.push("main", {"perf-changelog.yaml": b"- first\n- somebody else's\n"}, "another entry")


class TestOpening:
    def test_an_app_opens_a_draft_whose_addresses_are_all_on_this_host(self, world: World) -> None:
        world.branch()
        made = world.ask(
            "POST", "pulls", {"title": "Bump", "body": "why", "head": "bump/1", "base": "main", "draft": True}
        )
        assert made.status == 201 and made.value["draft"] is True and made.value["user"]["type"] == "Bot"
        assert made.value["head"]["label"] == "acme:bump/1" and made.value["changed_files"] == 1

        def addresses(value: object, key: str = "") -> Iterator[str]:
            if isinstance(value, dict):
                for name, item in value.items():
                    yield from addresses(item, name)
            elif isinstance(value, list):
                for item in value:
                    yield from addresses(item, key)
            elif isinstance(value, str) and (key == "url" or key.endswith("_url") or key == "href"):
                yield value

        found = list(addresses(made.value))
        assert len(found) > 100 and all(text.startswith(world.hub.url) for text in found)

    @pytest.mark.parametrize(("change", "word"), [
        ({"head": "nowhere"}, "head"), ({"base": "nowhere"}, "base"), ({"head": "main"}, "No commits between")])
    def test_a_head_or_base_that_does_not_fit_is_refused(self, world: World, change: dict[str, str], word: str) -> None:
        world.branch()
        answer = world.ask("POST", "pulls", {"title": "t", "head": "bump/1", "base": "main", **change})
        assert answer.status == 422 and word in str(answer.value)

    def test_a_second_one_for_the_same_branch_is_refused(self, world: World) -> None:
        world.pull()
        answer = world.ask("POST", "pulls", {"title": "t", "head": "bump/1", "base": "main"})
        assert answer.status == 422 and "already exists" in str(answer.value)

    def test_a_reader_may_not_open_one(self, world: World) -> None:
        world.branch()
        assert world.ask("POST", "pulls", {"title": "t", "head": "bump/1", "base": "main"}, token=READER).status == 403

    def test_a_missing_title_names_the_field(self, world: World) -> None:
        world.branch()
        answer = world.ask("POST", "pulls", {"head": "bump/1", "base": "main"})
        assert answer.status == 422 and '"title" wasn\'t supplied' in answer.value["message"]


class TestMergeable:
    def test_it_is_null_on_the_first_look_and_then_true(self, world: World) -> None:
        number = world.pull()
        assert [world.get(f"pulls/{number}")["mergeable"] for _ in range(3)] == [None, True, True]

    def test_a_new_base_makes_it_null_again_and_then_false_when_they_conflict(self, world: World) -> None:
        number = world.pull()
        world.get(f"pulls/{number}"), world.get(f"pulls/{number}")
        conflict(world)
        answers = [world.get(f"pulls/{number}") for _ in range(2)]
        assert [(a["mergeable"], a["mergeable_state"]) for a in answers] == [(None, "unknown"), (False, "dirty")]

    def test_a_new_head_makes_it_null_again(self, world: World) -> None:
        number = world.pull()
        world.get(f"pulls/{number}"), world.get(f"pulls/{number}")
        world.branch("bump/1", **{"x.txt": b"x"})
        assert [world.get(f"pulls/{number}")["mergeable"] for _ in range(2)] == [None, True]

    @pytest.mark.parametrize("merge_tree", [True, False])
    def test_both_ways_of_merging_agree(self, world: World, merge_tree: bool) -> None:
        number = world.pull()
        git = GitRepo(world.git_dir, merge_tree=merge_tree and world.hub.git._merge_tree)
        pull = world.hub.store.pulls[number]
        tree = git.merged_tree(pull.base_sha, pull.head)
        assert tree == world.hub.git.commit(pull.head).tree
        world.human.push("main", {"docs/b.md": b"b\n"}, "beside")
        beside = git.merged_tree(pull.base_sha, pull.head)
        assert beside not in (None, tree)
        conflict(world)
        assert git.merged_tree(pull.base_sha, pull.head) is None


class TestListing:
    def test_by_head_and_state(self, world: World) -> None:
        one, two = world.pull("bump/1"), world.pull("bump/2")
        world.human.close(one)

        def numbers(**query: str) -> list[int]:
            return [pull["number"] for pull in world.get("pulls", **query)]

        assert numbers() == [two] and numbers(state="closed") == [one] and numbers(state="all") == [two, one]
        assert numbers(head="acme:bump/1", state="all") == [one]
        assert numbers(head="other:bump/1", state="all") == []
        assert numbers(base="release") == []

    def test_a_listed_pull_lacks_what_github_leaves_out(self, world: World) -> None:
        world.pull()
        assert not {"mergeable", "merged", "comments", "changed_files"} & set(world.get("pulls")[0])

    def test_files_and_commits_are_those_since_the_merge_base(self, world: World) -> None:
        number = world.pull()
        world.human.push("main", {"docs/b.md": b"b\n"}, "beside")
        assert [file["filename"] for file in world.get(f"pulls/{number}/files")] == [
            "perf-changelog.yaml",
            "recipe.yaml",
        ]
        assert "+- second" in world.get(f"pulls/{number}/files")[0]["patch"]
        assert [c["commit"]["message"] for c in world.get(f"pulls/{number}/commits")] == ["bump the image", "changelog"]


class TestLife:
    def test_closing_says_who_did_it_and_cancels_nothing(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        world.human.close(number)
        assert world.get(f"issues/{number}")["closed_by"]["login"] == "maintainer"
        assert [(e["event"], e["actor"]["login"]) for e in world.get(f"issues/{number}/events")] == [
            ("labeled", "maintainer"), ("closed", "maintainer")]
        assert [run.status for run in world.runs()] == ["in_progress"]

    def test_title_body_and_state_are_edited_and_what_is_absent_stays(self, world: World) -> None:
        number = world.pull()
        assert world.ask("PATCH", f"pulls/{number}", {"title": "new"}).value["title"] == "new"
        closed = world.ask("PATCH", f"pulls/{number}", {"state": "closed"}).value
        assert (closed["title"], closed["state"], closed["mergeable"]) == ("new", "closed", None)
        assert world.ask("PATCH", f"pulls/{number}", {"state": "open"}).value["state"] == "open"
        assert world.ask("PATCH", f"pulls/{number}", {"title": "newer", "state": "ajar"}).status == 422
        assert world.ask("PATCH", f"pulls/{number}", {"title": "newer", "body": "x" * 65_537}).status == 422
        assert world.get(f"pulls/{number}")["title"] == "new"
        assert world.ask("PATCH", f"pulls/{number}", {"title": "x"}, token=READER).status == 403

    def test_a_closed_pull_does_not_follow_its_branch(self, world: World) -> None:
        number = world.pull()
        before = world.get(f"pulls/{number}")["head"]["sha"]
        world.human.close(number)
        world.branch("bump/1", **{"x.txt": b"x"})
        assert world.get(f"pulls/{number}")["head"]["sha"] == before

    def test_deleting_the_branch_closes_it_and_it_cannot_be_reopened(self, world: World) -> None:
        number = world.pull()
        world.human.delete_branch("bump/1")
        assert world.get(f"pulls/{number}")["state"] == "closed"
        assert world.ask("PATCH", f"pulls/{number}", {"state": "open"}).status == 422

    def test_a_person_merges_it(self, world: World) -> None:
        number = world.pull(draft=False)
        commit = world.human.merge(number)
        pull = world.get(f"pulls/{number}")
        assert (pull["merged"], pull["state"], pull["merge_commit_sha"]) == (True, "closed", commit)
        assert pull["merged_by"]["login"] == "maintainer" and pull["commits"] == 2
        assert world.get("git/ref/heads/main")["object"]["sha"] == commit

    def test_a_push_to_main_that_holds_the_head_is_a_merge_too(self, world: World) -> None:
        number = world.pull(draft=False)
        head = world.hub.store.pulls[number].head
        world.hub.git.update_ref("refs/heads/main", head, world.hub.git.resolve("main") or "")
        assert world.get(f"pulls/{number}")["merged"] is True

    @pytest.mark.parametrize(
        ("name", "draft"), [("convertPullRequestToDraft", True), ("markPullRequestReadyForReview", False)]
    )
    def test_drafts_turn_by_graphql(self, world: World, name: str, draft: bool) -> None:
        number = world.pull(draft=not draft)
        ident = world.get(f"pulls/{number}")["node_id"]
        query = f"mutation Mutation($input: X!) {{ {name}(input: $input) {{ pullRequest {{ isDraft }} }} }}"
        sent = {"query": query, "variables": {"input": {"pullRequestId": ident}}}
        refused = world.ask("POST", "/graphql", sent, token=READER).value
        assert refused["errors"][0]["type"] == "FORBIDDEN" and world.get(f"pulls/{number}")["draft"] is not draft
        assert world.ask("POST", "/graphql", sent).value["data"][name]["pullRequest"]["isDraft"] is draft
        assert world.get(f"pulls/{number}")["draft"] is draft
        missing = world.ask("POST", "/graphql", {"query": query, "variables": {"input": {"pullRequestId": "PR_none"}}})
        assert missing.value["errors"][0]["type"] == "NOT_FOUND"

    def test_what_is_not_there_is_404_for_every_token(self, world: World) -> None:
        for token in (MAINTAINER, JOB, READER):
            assert world.ask("GET", "pulls/99", token=token).status == 404
            assert world.ask("GET", "/repos/other/place/pulls", token=token).status == 404
        assert world.ask("GET", "pulls/abc").status == 404
