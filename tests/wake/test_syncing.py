"""A bump's branch beside a default branch that moves: what a sync takes, what it leaves, and what is a person's to settle."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.errors import Conflict, Refusal
from bot.recipe import changelog
from bot.rehearse.github.receiving import WORDS
from tests.adapters.gitworlds import raw
from tests.wake.branches import FILES, FLOW, LAYOUT, LOG, MASTER, STYLE, Branch, Guest, entered, entry

NEW = "vllm/vllm-openai:v2"


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    return Guest(tmp_path)


def changed(guest: Guest, one: str, two: str) -> set[str]:
    return set(raw(guest.bare, "diff", "--name-only", one, two).split())


def holds(guest: Guest, branch: Branch) -> None:
    """What must be true of every synced head."""
    main, head = guest.text(guest.main, LOG), guest.text(branch.head, LOG)
    assert head.startswith(main) and changelog.check(main.encode(), head.encode(), STYLE) == ()
    assert branch.state == "present"
    assert guest.git.resolve(f"bumpbot/{branch.key}") == branch.head
    assert guest.merged(branch.head) == {path: guest.text(branch.head, path) for path in FILES}


class TestASync:
    def test_takes_mains_bytes_and_appends_again_beside_a_workflow_that_main_changed(self, guest: Guest) -> None:
        bump = entered(guest)
        before = bump.head
        guest.appends(entry(5), flow="on: [push, pull_request]\n")
        assert guest.merged(before) == {} and bump.state == "behind", "such a head starts no workflow"
        head = bump.does("sync")
        holds(guest, bump)
        assert guest.text(head, FLOW) == guest.text(guest.main, FLOW)
        assert guest.text(head, LOG).count("pull/5\n") == guest.text(head, LOG).count("pull/7\n") == 1
        assert NEW in guest.text(head, MASTER)

    def test_is_a_merge_that_moves_the_branch_on_and_carries_no_workflow(self, guest: Guest) -> None:
        bump = entered(guest)
        before = bump.head
        main = guest.appends(entry(5), flow="on: [push, pull_request]\n")
        head = bump.does("sync")
        assert guest.git.commit(head).parents == (main, before)
        assert changed(guest, main, head) == {MASTER, LOG}, "against main: our own files and the changelog"
        assert changed(guest, before, head) == {FLOW, LOG}, "against our head: what main changed and the changelog"
        assert bump.memory.heads[-1].contains_base == main

    @pytest.mark.parametrize("moves", [
        {FLOW: None}, {".github/workflows/new.yml": "on: push\n"}, {"run.sh": None}, {"docs/new.md": "x\n"},
        {MASTER: FILES[MASTER] + "d:\n  image: x/y:1\n"}, {MASTER: FILES[MASTER].replace("c:\n  image: vllm/vllm-openai:v1", "c:\n  image: x/y:1")},
    ])
    def test_leaves_whatever_main_did_as_main_did_it(self, guest: Guest, moves: dict[str, str | None]) -> None:
        bump = entered(guest)
        guest.moves({LOG: FILES[LOG] + entry(5), **moves})
        head = bump.does("sync")
        holds(guest, bump)
        assert changed(guest, guest.main, head) == {MASTER, LOG}
        assert raw(guest.bare, "diff", "--unified=0", guest.main, head, "--", MASTER).count(f"\n+  image: {NEW}") == 1

    def test_keeps_a_mode_and_a_link_that_main_changed(self, guest: Guest) -> None:
        bump = entered(guest)
        main = guest.appends(entry(5))
        blob = guest.git.entry(main, "run.sh")[1]
        tree = raw(guest.bare, "ls-tree", main).replace(f"100644 blob {blob}", f"100755 blob {blob}")
        tree += f"120000 blob {blob}\tlink\n"
        made = raw(guest.bare, "mktree", stdin=tree.encode()).strip()
        oid = guest.git.make_commit(made, (main,), "modes", ("ann", "ann@example.org"), guest.moment)
        assert guest.git.update_ref("refs/heads/main", oid, main)
        listed = raw(guest.bare, "ls-tree", bump.does("sync"))
        assert f"100755 blob {blob}\trun.sh" in listed and f"120000 blob {blob}\tlink" in listed

    def test_is_the_same_commit_when_another_machine_finishes_it(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.appends(entry(5), flow="on: x\n")
        facts = bump.look()
        first = bump.does("sync", bump=facts)
        guest.appends(entry(6))
        other = Branch(guest, "a", 7)
        assert other.does("sync", bump=facts) == first
        guest.moves({"run.sh": "mine\n"}, "bumpbot/a")
        assert Branch(guest, "a", 7).does("sync", bump=facts) == first, "a person pushed after it, and it was made none the less"

    def test_twice_is_once(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.appends(entry(5))
        head = bump.does("sync")
        assert bump.state == "present"
        assert bump.does("sync") != head and guest.text(bump.head, LOG) == guest.text(head, LOG)

    def test_takes_a_link_that_main_corrected(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.moves({LOG: FILES[LOG].replace("pull/1\n", "pull/2\n")})
        assert bump.state == "behind"
        bump.does("sync")
        holds(guest, bump)
        assert "pull/2\n" in guest.text(bump.head, LOG)

    def test_appends_nothing_that_main_holds_already(self, guest: Guest) -> None:
        bump = entered(guest)
        ours = guest.text(bump.head, LOG).removeprefix(FILES[LOG])
        guest.appends(ours + entry(5))
        bump.does("sync")
        assert guest.text(bump.head, LOG) == guest.text(guest.main, LOG) and bump.state == "present"


    @pytest.mark.parametrize("link", [7, 8])
    def test_brings_back_nothing_that_main_took_back(self, guest: Guest, link: int) -> None:
        """People revert in the middle of the file: 32 commits of the guest's default branch made it shorter."""
        guest.appends(entry(link, "b"))
        guest.appends(entry(5))
        bump = entered(guest)
        guest.moves({LOG: FILES[LOG] + entry(5)})
        assert bump.state == "behind"
        bump.does("sync")
        holds(guest, bump)
        assert "    - b\n" not in guest.text(bump.head, LOG) and guest.text(bump.head, LOG).count("    - a\n") == 2

    def test_appends_beside_another_recipes_entry_under_our_link(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.appends(entry(7, "b"))
        bump.does("sync")
        holds(guest, bump)
        assert guest.text(bump.head, LOG).count("pull/7\n") == 2


class TestAChangelogWithoutAnEntry:
    @pytest.mark.parametrize("none", ["# none yet\n", "", "\n", None])
    def test_takes_the_first_of_two_bumps_and_then_the_seconds(self, guest: Guest, none: str | None) -> None:
        """Our own file begins so, and a bump of it ended with `breaks its own rules`."""
        guest.moves({LOG: none})
        one, two = entered(guest, "a", 7), entered(guest, "b", 8)
        assert (one.state, two.state) == ("present", "present")
        guest.moves({LOG: guest.text(one.head, LOG)})
        assert two.state == "behind"
        two.does("sync")
        holds(guest, two)
        text = guest.text(two.head, LOG)
        assert text.startswith(none or "") and text.index("pull/7\n") < text.index("pull/8\n")

    @pytest.mark.parametrize("text", ["# none yet", "[]\n", "---\n", "\ufeff# none yet\n"])
    def test_that_can_take_none_is_a_persons_to_mend(self, guest: Guest, text: str) -> None:
        guest.moves({LOG: text})
        bump = Branch(guest, "a", 7)
        bump.does("proposal")
        assert bump.state == "broken"


class TestTwoBumps:
    def test_that_append_at_once_both_survive(self, guest: Guest) -> None:
        one, two = entered(guest, "a", 7), entered(guest, "b", 8)
        guest.moves({path: text for path, text in guest.merged(one.head).items()})
        assert guest.merged(two.head) == {} and two.state == "behind"
        two.does("sync")
        holds(guest, two)
        guest.moves({path: text for path, text in guest.merged(two.head).items()})
        final = guest.text(guest.main, LOG)
        assert final.index("pull/7\n") < final.index("pull/8\n")
        assert guest.text(guest.main, MASTER).count(NEW) == 2

    def test_are_each_synced_again_whenever_the_other_gets_in(self, guest: Guest) -> None:
        bumps = [entered(guest, "a", 7), entered(guest, "b", 8)]
        for number in (20, 21):
            guest.appends(entry(number), flow=f"on: {number}\n")
            for bump in bumps:
                bump.does("sync")
                holds(guest, bump)


class TestWhatIsAPersons:
    @pytest.mark.parametrize("moves", [
        {MASTER: FILES[MASTER].replace("vllm/vllm-openai:v1", "vllm/vllm-openai:v3", 1)},
        {MASTER: FILES[MASTER].replace("[1, 2]", "[1, 2, 4]", 1)},
        {MASTER: FILES[MASTER].replace("a:\n", "z:\n", 1)}, {MASTER: None}, {MASTER: "["},
    ])
    def test_is_a_recipe_that_main_changed_too(self, guest: Guest, moves: dict[str, str | None]) -> None:
        bump = entered(guest)
        guest.moves({LOG: FILES[LOG] + entry(5), **moves})
        assert bump.state == "blocked"
        with pytest.raises(Conflict, match="changed on both sides"):
            bump.does("sync")

    def test_is_not_the_very_edit_that_we_made(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.moves({LOG: FILES[LOG] + entry(5), MASTER: guest.text(bump.head, MASTER) + "\n"})
        assert bump.state == "behind"
        bump.does("sync")
        assert changed(guest, guest.main, bump.head) == {LOG}

    @pytest.mark.parametrize("text", [FILES[LOG].replace("\n", "\r\n"), FILES[LOG].rstrip(), FILES[LOG] + "- [\n"])
    def test_is_a_changelog_that_breaks_its_own_rules(self, guest: Guest, text: str) -> None:
        bump, fresh = entered(guest), Branch(guest, "b", 8)
        guest.moves({LOG: text})
        fresh.does("proposal")
        assert (bump.state, fresh.state) == ("broken", "broken")
        assert guest.text(guest.main, LOG) == text

    def test_is_a_branch_that_somebody_pushed_to(self, guest: Guest) -> None:
        bump = entered(guest)
        guest.appends(entry(5))
        facts = bump.look()
        theirs = guest.moves({"run.sh": "mine\n"}, "bumpbot/a")
        with pytest.raises(Conflict, match="moved to"):
            bump.does("sync", bump=facts)
        assert guest.git.resolve("bumpbot/a") == theirs == bump.look().world.foreign_head


class TestARepositoryThatRefuses:
    def test_is_told_with_its_own_words(self, guest: Guest) -> None:
        bump = entered(guest)
        hook = guest.bare / "hooks" / "pre-receive"
        hook.write_text("#!/bin/sh\necho 'GH013: Repository rule violations found' >&2\nexit 1\n")
        guest.appends(entry(5))
        with pytest.raises(Refusal, match="refuses a push to bumpbot/a.*GH013: Repository rule violations found"):
            bump.does("sync")

    def test_is_asked_anew_when_main_moved_meanwhile(self, guest: Guest) -> None:
        bump = entered(guest)
        hook = guest.bare / "hooks" / "pre-receive"
        hook.write_text("#!/bin/sh\nexit 1\n")
        guest.appends(entry(5))
        facts = bump.look()
        guest.appends(entry(6))
        with pytest.raises(Conflict, match="main moved meanwhile"):
            bump.does("sync", bump=facts)

    @pytest.mark.parametrize("order", ["as main is merged by hand", "no merge at all"])
    def test_is_as_github_is_to_an_app_that_pushes_workflows(self, guest: Guest, order: str) -> None:
        bump = entered(guest)
        main, git = guest.appends(entry(5), flow="on: x\n"), guest.writer()
        git.tip("main"), git.tip("bumpbot/a")
        parents = [bump.head, main] if "merged" in order else [bump.head]
        oid = git.commit(parents, {FLOW: b"on: x\n"}, "m", when=guest.moment)
        with pytest.raises(Refusal) as told:
            git.push("bumpbot/a", oid)
        assert WORDS.format(FLOW) in str(told.value)
        assert guest.git.resolve("bumpbot/a") == bump.head


class TestAnyCommitOfOurs:
    def test_holds_no_file_that_the_layout_does_not_give_to_bumps(self, guest: Guest) -> None:
        """Whatever a layout says: a push with a workflow in it is refused whole, and the bump would end there."""
        bump = Branch(guest, "a", 7)
        bump.does("proposal")
        bump.context.layout = replace(LAYOUT, changelog=replace(STYLE, file=".github/workflows/log.yml"))
        with pytest.raises(Refusal, match=r"\.github/workflows/log\.yml is not to be edited by a bump"):
            bump.does("changelog", bump=bump.look())
        assert guest.git.resolve("bumpbot/a") == bump.head
