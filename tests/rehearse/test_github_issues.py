"""Comments, labels, reactions and history on the loopback GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearse.github_world import APP, JOB, MAINTAINER, READER, World, checked


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path) as made:
        made.pull()
        yield made


class TestComments:
    def test_one_is_posted_edited_and_counted(self, world: World) -> None:
        made = world.ask("POST", "issues/1/comments", {"body": "first"}).value
        world.clock.forward(5)
        for body in ("second", "second", "third"):
            assert world.ask("PATCH", f"issues/comments/{made['id']}", {"body": body}).value["body"] == body
        (seen,) = world.hub.comments_made()
        assert (seen.author, seen.body, seen.edits, seen.number) == ("bumpbot[bot]", "third", 2, 1)
        assert world.get(f"issues/comments/{made['id']}")["updated_at"] == "2026-09-10T06:05:00Z"

    @pytest.mark.parametrize(("size", "status"), [(65_536, 201), (65_537, 422)])
    def test_the_limit_is_65536_characters_not_bytes(self, world: World, size: int, status: int) -> None:
        assert world.ask("POST", "issues/1/comments", {"body": "图" * size}).status == status

    def test_an_edit_meets_the_same_limit_and_changes_nothing_then(self, world: World) -> None:
        made = world.ask("POST", "issues/1/comments", {"body": "short"}).value
        assert world.ask("PATCH", f"issues/comments/{made['id']}", {"body": "x" * 65_537}).status == 422
        assert world.hub.comments_made()[0].body == "short"

    def test_since_looks_at_the_last_change_and_includes_it(self, world: World) -> None:
        old = world.human.comment(1, "old")
        world.clock.forward(10)
        world.human.comment(1, "new")
        since = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        assert [c["body"] for c in world.get("issues/1/comments", since=since)] == ["new"]
        world.human.edit_comment(old.id, "old, edited")
        assert [c["body"] for c in world.get("issues/comments", since=since)] == ["old, edited", "new"]

    def test_the_repository_wide_list_holds_every_pull_and_can_be_sorted(self, world: World) -> None:
        world.pull("bump/2")
        world.human.comment(1, "one")
        world.clock.forward(1)
        world.human.comment(2, "two")
        assert [c["body"] for c in world.get("issues/comments")] == ["one", "two"]
        assert [c["body"] for c in world.get("issues/comments", sort="created", direction="desc")] == ["two", "one"]

    def test_a_passer_by_comments_but_does_not_edit_others(self, world: World) -> None:
        mine = world.ask("POST", "issues/1/comments", {"body": "/bump stop"}, token=READER)
        theirs = world.human.comment(1, "no")
        assert mine.status == 201
        assert world.ask("PATCH", f"issues/comments/{theirs.id}", {"body": "yes"}, token=READER).status == 403

    def test_a_deleted_one_is_gone(self, world: World) -> None:
        made = world.human.comment(1, "oops")
        assert world.ask("DELETE", f"issues/comments/{made.id}").status == 204
        assert world.ask("GET", f"issues/comments/{made.id}").status == 404
        assert world.get("issues/1/comments") == []

    def test_an_empty_body_and_a_wrong_date_are_refused(self, world: World) -> None:
        assert world.ask("POST", "issues/1/comments", {"body": " "}).status == 422
        assert world.ask("GET", "issues/comments", query={"since": "yesterday"}).status == 422


class TestLabels:
    @pytest.mark.parametrize("shape", [["full-sweep", "x"], {"labels": ["full-sweep", "x"]}])
    def test_both_shapes_of_adding_are_taken(self, world: World, shape: object) -> None:
        answer = world.ask("POST", "issues/1/labels", shape)
        assert answer.status == 200 and [label["name"] for label in answer.value] == ["full-sweep", "x"]

    def test_adding_one_twice_is_one_event(self, world: World) -> None:
        for name in ("x", "X"):
            world.ask("POST", "issues/1/labels", {"labels": [name]})
        assert [label["name"] for label in world.get("issues/1/labels")] == ["x"]
        assert len(world.get("issues/1/events")) == 1

    def test_removing_one_that_is_absent_is_404(self, world: World) -> None:
        world.human.label(1, "needs review/now")
        assert world.ask("DELETE", "issues/1/labels/needs%20review%2Fnow").status == 200
        assert world.ask("DELETE", "issues/1/labels/needs%20review%2Fnow").status == 404

    def test_a_reader_may_not_label(self, world: World) -> None:
        assert world.ask("POST", "issues/1/labels", ["x"], token=READER).status == 403

    def test_the_repository_knows_labels_once_used_or_made(self, world: World) -> None:
        assert world.ask("GET", "labels/x").status == 404
        assert world.ask("POST", "labels", {"name": "x", "color": "ff0000"}).value["color"] == "ff0000"
        assert world.ask("POST", "labels", {"name": "X"}).status == 422
        world.human.label(1, "y")
        assert [label["name"] for label in world.get("labels")] == ["x", "y"]


class TestHistory:
    def test_events_name_the_actor_in_order(self, world: World) -> None:
        world.ask("POST", "issues/1/labels", ["full-sweep"], token=APP)
        world.clock.forward(1)
        world.human.comment(1, "taking over")
        world.clock.forward(1)
        world.ask("DELETE", "issues/1/labels/full-sweep", token=MAINTAINER)
        world.human.close(1)
        assert [
            (e["event"], e["actor"]["login"], e.get("label", {}).get("name")) for e in world.get("issues/1/events")
        ] == [
            ("labeled", "bumpbot[bot]", "full-sweep"),
            ("unlabeled", "maintainer", "full-sweep"),
            ("closed", "maintainer", None),
        ]
        assert [e["event"] for e in world.get("issues/1/timeline")] == ["labeled", "commented", "unlabeled", "closed"]

    def test_issues_are_listed_with_what_marks_them_as_pulls(self, world: World) -> None:
        world.human.label(1, "x")
        assert [i["number"] for i in world.get("issues", labels="x")] == [1] and world.get("issues", labels="y") == []
        assert world.get("issues")[0]["pull_request"]["url"].endswith("/pulls/1")


class TestReactions:
    def test_the_same_one_twice_is_one(self, world: World) -> None:
        comment = world.human.comment(1, "/bump retry").id
        first = world.ask("POST", f"issues/comments/{comment}/reactions", {"content": "eyes"})
        again = world.ask("POST", f"issues/comments/{comment}/reactions", {"content": "eyes"})
        other = world.ask("POST", f"issues/comments/{comment}/reactions", {"content": "eyes"}, token=JOB)
        assert (first.status, again.status, other.status) == (201, 200, 201) and first.value == again.value
        assert len(world.get(f"issues/comments/{comment}/reactions")) == 2
        assert world.ask("POST", "issues/1/reactions", {"content": "shrug"}).status == 422
        assert world.ask("POST", "issues/1/reactions", {"content": "rocket"}).status == 201
        assert len(world.get("issues/1/reactions")) == 1
