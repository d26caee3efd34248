"""The Forge port over HTTP against the loopback GitHub: pull requests, labels, comments, people.

Each exchange is held against GitHub's own description when a test ends (`served`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from bot.errors import BadInput, Conflict, Missing, Refusal
from tests.adapters.githubs import LOGIN, Reply, Sent, forge_of, odd, pull_json
from tests.rehearse.github_world import JOB, MAINTAINER, READER, START, World, served


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with served(tmp_path) as made, warnings.catch_warnings():
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("error", kind)
        yield made


class TestOpening:
    def test_a_draft_is_opened_with_what_was_said(self, world: World) -> None:
        head = world.branch("bump/1")
        made = forge_of(world).open_pull(branch="bump/1", base="main", title="Bump", body="why", draft=True)
        assert (made.number, made.title, made.body) == (1, "Bump", "why")
        assert (made.head, made.branch, made.base) == (head, "bump/1", "main")
        assert (made.draft, made.open, made.merged, made.mergeable) == (True, True, False, None)
        assert (made.labels, made.author) == ((), LOGIN)

    def test_the_second_for_one_branch_is_a_conflict_and_opens_nothing(self, world: World) -> None:
        world.pull("bump/1")
        with pytest.raises(Conflict, match="already exists"):
            forge_of(world).open_pull(branch="bump/1", base="main", title="Again", body="", draft=True)
        assert len(world.hub.pulls()) == 1

    @pytest.mark.parametrize(("branch", "base", "said"), [("nowhere", "main", "head"), ("bump/1", "nowhere", "base")])
    def test_one_from_or_to_nowhere_is_bad_input(self, world: World, branch: str, base: str, said: str) -> None:
        world.branch("bump/1")
        with pytest.raises(BadInput, match=f"422.*{said}"):
            forge_of(world).open_pull(branch=branch, base=base, title="t", body="", draft=True)

    def test_one_without_a_change_is_bad_input(self, world: World) -> None:
        world.human.push("same", {}, "nothing", base="main")
        with pytest.raises(BadInput, match="422"):
            forge_of(world).open_pull(branch="main", base="main", title="t", body="", draft=True)


class TestFinding:
    def test_mergeable_is_unknown_first_and_then_known(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        assert [forge.pull(number).mergeable for _ in range(2)] == [None, True]

    def test_one_that_is_not_there_is_missing(self, world: World) -> None:
        with pytest.raises(Missing):
            forge_of(world).pull(77)

    def test_by_branch_the_newest_is_found_open_or_not(self, world: World) -> None:
        forge = forge_of(world)
        assert forge.pull_of_branch("bump/1") is None
        first = world.pull("bump/1")
        world.human.close(first)
        assert (forge.pull_of_branch("bump/1").number, forge.pull_of_branch("bump/1").open) == (first, False)
        world.clock.forward(1)
        second = world.human.open("bump/1", "Again")
        world.pull("bump/10")
        assert forge.pull_of_branch("bump/1").number == second

    def test_a_merged_one_is_found_as_merged(self, world: World) -> None:
        number = world.pull("bump/1", draft=False)
        world.human.merge(number)
        found = forge_of(world).pull_of_branch("bump/1")
        assert (found.open, found.merged) == (False, True)

    def test_a_fork_s_branch_of_the_same_name_is_not_ours(self) -> None:
        fork = {"ref": "bump/1", "sha": "c" * 40, "repo": {"full_name": "mallory/recipes"}}
        gone = {**fork, "repo": None}
        other = pull_json(number=7)
        listed = [pull_json(number=9, head=fork), pull_json(number=8, head=gone), other]
        ours = pull_json(number=3)
        ours["head"]["ref"] = "bump/1"
        with odd(lambda asked: Reply(value=ours if asked.path.endswith("/3") else [*listed, ours])) as server:
            assert server.forge().pull_of_branch("bump/1").number == 3
        with odd(lambda asked: Reply(value=listed)) as server:
            assert server.forge().pull_of_branch("bump/1") is None


class TestEditing:
    def test_only_what_is_named_changes(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        assert forge.edit_pull(number, body="new").title == "Bump bump/1"
        assert forge.edit_pull(number, title="T").body == "new"
        assert forge.edit_pull(number, body="").body == ""

    def test_closing_twice_and_reopening(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        assert [forge.edit_pull(number, open=False).open for _ in range(2)] == [False, False]
        assert forge.edit_pull(number, open=True).open is True

    def test_nothing_named_sends_nothing(self, world: World) -> None:
        number, sent = world.pull(), Sent(world)
        assert forge_of(world).edit_pull(number).number == number and sent.writes() == 0

    def test_a_body_over_the_limit_is_bad_input_and_changes_nothing(self, world: World) -> None:
        number = world.pull()
        with pytest.raises(BadInput, match="too long"):
            forge_of(world).edit_pull(number, body="x" * 65_537)
        assert world.hub.pulls()[0].body == ""
        assert len(forge_of(world).edit_pull(number, body="x" * 65_536).body) == 65_536


class TestDrafts:
    def test_there_and_back_through_graphql(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        forge.set_draft(number, False)
        assert forge.pull(number).draft is False
        forge.set_draft(number, True)
        assert forge.pull(number).draft is True

    def test_what_is_so_already_sends_nothing(self, world: World) -> None:
        number, sent = world.pull(), Sent(world)
        forge_of(world).set_draft(number, True)
        assert sent.writes() == 0

    def test_one_that_is_not_there_is_missing(self, world: World) -> None:
        with pytest.raises(Missing):
            forge_of(world).set_draft(77, True)

    def test_an_error_in_a_200_is_an_error(self, world: World) -> None:
        number = world.pull(draft=False)
        with pytest.raises(Refusal, match="Resource not accessible"):
            forge_of(world, READER).set_draft(number, True)
        assert world.hub.pulls()[0].draft is False


class TestLabels:
    def test_a_label_put_on_twice_is_there_once(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        for _ in range(2):
            forge.label(number, "full-sweep")
        assert forge.pull(number).labels == ("full-sweep",)
        assert [said.added for said in forge.labellings(number)] == [True]

    def test_one_that_is_absent_is_taken_off_without_a_word(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        forge.unlabel(number, "full-sweep")
        forge.label(number, "full-sweep")
        forge.unlabel(number, "full-sweep")
        forge.unlabel(number, "full-sweep")
        assert forge.pull(number).labels == ()
        assert [said.added for said in forge.labellings(number)] == [True, False]

    @pytest.mark.parametrize("name", ["a/b", "needs review?", "..a", "100%", "héllo", "a&b=c#d", "[x]"])
    def test_any_name_comes_and_goes(self, world: World, name: str) -> None:
        number, forge = world.pull(), forge_of(world)
        forge.label(number, name)
        assert forge.pull(number).labels == (name,)
        forge.unlabel(number, name)
        assert forge.pull(number).labels == ()

    @pytest.mark.parametrize("name", ["", ".", ".."])
    def test_a_name_that_is_a_path_is_refused_before_it_is_sent(self, world: World, name: str) -> None:
        number, sent = world.pull(), Sent(world)
        with pytest.raises(BadInput):
            forge_of(world).unlabel(number, name)
        assert sent.writes() == 0

    def test_on_a_pull_request_that_is_not_there_both_are_missing(self, world: World) -> None:
        for act in (forge_of(world).label, forge_of(world).unlabel):
            with pytest.raises(Missing):
                act(77, "x")

    def test_the_history_says_who_and_when_oldest_first(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        at = world.clock.forward(5)
        forge_of(world).unlabel(number, "full-sweep")
        world.clock.forward(5)
        world.human.draft(number, False)
        world.human.close(number)
        said = forge_of(world).labellings(number)
        assert [(one.label, one.by, one.added, one.ready) for one in said] == [
            ("full-sweep", "maintainer", True, False), ("full-sweep", LOGIN, False, False), ("", "maintainer", True, True)]
        assert [one.at for one in said] == [START, at, at + timedelta(minutes=5)]


class TestComments:
    def test_one_is_written_and_edited_in_place(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        made = forge.comment(number, "first")
        world.clock.forward(1)
        edited = forge.edit_comment(made.id, "second")
        assert (edited.id, edited.body, edited.author, edited.bot) == (made.id, "second", LOGIN, True)
        assert edited.updated == made.created + timedelta(minutes=1)
        assert [comment.body for comment in forge.comments(number)] == ["second"]

    def test_two_hundred_and_fifty_are_read_in_three_pages_in_order(self, world: World) -> None:
        number, sent = world.pull(), Sent(world)
        for n in range(250):
            world.human.comment(number, f"{n}")
        found = forge_of(world).comments(number)
        assert [comment.body for comment in found] == [f"{n}" for n in range(250)] and sent.reads() == 3
        assert {(comment.author, comment.bot) for comment in found} == {("maintainer", False)}

    def test_since_is_a_moment_whatever_its_zone(self, world: World) -> None:
        number = world.pull()
        world.human.comment(number, "old")
        at = world.clock.forward(60)
        world.human.comment(number, "new")
        east = at.astimezone(timezone(timedelta(hours=9)))
        assert [comment.body for comment in forge_of(world).comments(number, since=east)] == ["new"]

    @pytest.mark.parametrize("size", [0, 65_537])
    def test_none_and_too_much_are_bad_input(self, world: World, size: int) -> None:
        number = world.pull()
        with pytest.raises(BadInput, match="422"):
            forge_of(world).comment(number, "x" * size)
        assert world.hub.comments_made() == []

    def test_exactly_the_limit_is_taken(self, world: World) -> None:
        assert len(forge_of(world).comment(world.pull(), "é" * 65_536).body) == 65_536

    def test_one_that_is_gone_is_missing(self, world: World) -> None:
        number, forge = world.pull(), forge_of(world)
        for act in (lambda: forge.edit_comment(5, "x"), lambda: forge.react(5, "eyes"), lambda: forge.comment(number + 1, "x")):
            with pytest.raises(Missing):
                act()

    def test_another_s_may_not_be_edited_by_a_reader(self, world: World) -> None:
        made = world.human.comment(world.pull(), "mine")
        with pytest.raises(Refusal, match="403"):
            forge_of(world, READER).edit_comment(made.id, "yours")

    def test_a_reaction_twice_is_one(self, world: World) -> None:
        made = world.human.comment(world.pull(), "please")
        for _ in range(2):
            forge_of(world).react(made.id, "eyes")
        assert len(world.get(f"issues/comments/{made.id}/reactions")) == 1

    def test_a_reaction_that_does_not_exist_is_bad_input(self, world: World) -> None:
        made = world.human.comment(world.pull(), "please")
        with pytest.raises(BadInput, match="422"):
            forge_of(world).react(made.id, "applause")


class TestPeople:
    def test_the_role_is_told_not_what_it_folds_into(self, world: World) -> None:
        assert [forge_of(world).permission(login) for login in ("maintainer", "passer-by", LOGIN)] == ["maintain", "read", "write"]

    @pytest.mark.parametrize("login", ["nobody", "weird[bot]", "a/b", "a?b", "a#b", "ключ", "%2e%2e", "x" * 300])
    def test_somebody_unknown_may_do_nothing(self, world: World, login: str) -> None:
        assert forge_of(world).permission(login) == "none"

    @pytest.mark.parametrize("login", ["", ".", ".."])
    def test_a_name_that_would_ask_another_question_is_not_asked(self, world: World, login: str) -> None:
        sent = Sent(world)
        assert forge_of(world).permission(login) == "none" and sent.reads() == 0

    @pytest.mark.parametrize(("told", "role"), [
        ({"permission": "write", "role_name": "release-captain"}, "write"), ({"permission": "admin", "role_name": None}, "admin"),
        ({"permission": "read"}, "read"), ({"permission": "owner", "role_name": "emperor"}, "none")])
    def test_a_role_of_one_s_own_counts_as_what_it_amounts_to(self, told: dict, role: str) -> None:
        with odd(lambda asked: Reply(value=told)) as server:
            assert server.forge().permission("x") == role

    def test_me_is_the_account_of_the_token(self, world: World) -> None:
        assert forge_of(world, JOB, login="github-actions[bot]").me() == "github-actions[bot]"
        assert forge_of(world, MAINTAINER).comment(world.pull(), "x").author == "maintainer"
