"""One contract for every Git: in memory, over a folder, over file:// without filters."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.errors import BadInput, Missing
from tests.adapters.gitworlds import WHEN, World, raw, start


@pytest.fixture(params=["memory", "folder", "unfiltered"])
def world(request, tmp_path):
    return World(request.param, tmp_path)


class TestEveryGit:
    def test_a_branch_that_is_not_there_has_no_tip(self, world):
        assert world.writer().tip("main") is None

    def test_what_one_writer_pushed_another_reads_byte_for_byte(self, world):
        oid = start(world.writer())
        other = world.writer()
        assert other.tip("main") == oid
        assert other.read(oid, "d/e/c.txt") == b"\x00\xff\n"
        assert other.read(oid, "d") is None and other.read(oid, "nope") is None
        assert sorted(other.entries(oid)) == ["a.txt", "d/b.txt", "d/e/c.txt"]
        assert sorted(other.entries(oid, "d")) == ["d/b.txt", "d/e/c.txt"] == sorted(other.entries(oid, "d/"))
        assert other.entries(oid, "no/such/folder") == {}

    def test_a_commit_changes_the_named_files_and_nothing_else(self, world):
        git = world.writer()
        oid = start(git)
        changes = {"a.txt": b"ONE\n", "d/b.txt": None, "n/e/w.txt": b"", "gone": None}
        new = git.commit([oid], changes, "second", when=WHEN)
        before, after = git.entries(oid), git.entries(new)
        assert sorted(after) == ["a.txt", "d/e/c.txt", "n/e/w.txt"]
        assert after["d/e/c.txt"] == before["d/e/c.txt"] and after["a.txt"] != before["a.txt"]
        assert git.read(new, "n/e/w.txt") == b""

    def test_content_has_the_same_object_id_everywhere(self, world):
        oid = start(world.writer(), files={"x": b"hello\n"})
        git = world.writer()
        assert git.tip("main") == oid
        assert git.entries(oid) == {"x": "ce013625030ba8dba906f756967f9e9ca394464a"}

    def test_a_push_that_is_no_fast_forward_is_refused_and_changes_nothing(self, world):
        one, two = world.writer(), world.writer()
        base = start(one)
        assert two.tip("main") == base
        first = one.commit([base], {"x": b"1"}, "mine", when=WHEN)
        second = two.commit([base], {"y": b"2"}, "theirs", when=WHEN)
        assert one.push("main", first) is True
        assert two.push("main", second) is False
        assert two.tip("main") == first

    def test_two_writers_of_the_first_commit_do_not_both_win(self, world):
        one, two = world.writer(), world.writer()
        first, second = (git.commit([], {"x": data}, "first", when=WHEN) for git, data in ((one, b"1"), (two, b"2")))
        assert (one.push("main", first), two.push("main", second)) == (True, False)

    def test_the_very_same_commit_pushed_twice_is_won_once(self, world):
        one, two = world.writer(), world.writer()
        base = start(one)
        two.tip("main")
        same = [git.commit([base], {"x": b"1"}, "same", when=WHEN) for git in (one, two)]
        assert same[0] == same[1]
        assert (one.push("main", same[0]), two.push("main", same[1])) == (True, False)

    def test_the_time_and_the_message_are_part_of_a_commit(self, world):
        git = world.writer()
        base = start(git)
        made = {git.commit([base], {"x": b"1"}, message, when=when)
                for message, when in (("a", WHEN), ("b", WHEN), ("a", WHEN + timedelta(seconds=1)), ("a", WHEN))}
        assert len(made) == 3

    def test_a_merge_has_two_parents_and_the_tree_of_the_first(self, world):
        git = world.writer()
        base = start(git)
        main = git.commit([base], {"log.yaml": b"main\n"}, "main moves", when=WHEN)
        ours = git.commit([base], {"a.txt": b"ours\n"}, "ours", when=WHEN)
        assert git.push("main", main) and git.push("bump/x", ours)
        later = world.writer()
        head, other = later.tip("bump/x"), later.tip("main")
        merge = later.commit([head, other], {"log.yaml": b"main\nours\n"}, "Merge main", when=WHEN)
        assert later.push("bump/x", merge)
        reader = world.writer()
        assert reader.tip("bump/x") == merge
        assert reader.read(merge, "a.txt") == b"ours\n" and reader.read(merge, "log.yaml") == b"main\nours\n"
        assert all(reader.contains(merge, oid) for oid in (base, main, ours, merge))
        assert not reader.contains(main, ours) and not reader.contains(ours, main)

    def test_a_commit_never_seen_is_contained_in_nothing(self, world):
        git = world.writer()
        assert git.contains(start(git), "1" * 40) is False

    def test_the_author_is_the_committers_address(self, world):
        oid = start(world.writer(email="somebody@example.org"))
        git = world.writer()
        git.tip("main")
        assert git.author(oid) == "somebody@example.org"

    def test_an_unknown_commit_is_missing(self, world):
        git = world.writer()
        start(git)
        with pytest.raises(Missing):
            git.entries("1" * 40)

    @pytest.mark.parametrize("branch", ["-x", "+x", "a..b", "a:b", "x.lock", "a//b", "/a", "a/", "a b", "a\nb", "",
                                        "a/.b", "@{u}", "refs/heads/x~1"])
    def test_a_branch_name_outside_the_grammar_is_refused(self, world, branch):
        git = world.writer()
        for use in (lambda: git.tip(branch), lambda: git.push(branch, "1" * 40)):
            with pytest.raises(BadInput, match="not a branch name"):
                use()

    @pytest.mark.parametrize("path", ["../x", "/x", "a//b", ".git/config", "a/.GIT/x", "a\nb", "", "a/./b", "\ud800"])
    def test_a_path_that_leads_astray_is_refused(self, world, path):
        git = world.writer()
        oid = start(git)
        with pytest.raises(BadInput, match="not a path"):
            git.commit([oid], {path: b"x"}, "m", when=WHEN)
        with pytest.raises(BadInput, match="not a path"):
            git.read(oid, path)

    @pytest.mark.parametrize("oid", ["main", "--all", "1" * 39, "1" * 41, "G" * 40, "HEAD^"])
    def test_only_full_commit_ids_are_taken(self, world, oid):
        git = world.writer()
        for use in (lambda: git.entries(oid), lambda: git.push("main", oid), lambda: git.contains(oid, "1" * 40)):
            with pytest.raises(BadInput, match="not a full commit id"):
                use()

    def test_a_file_cannot_become_a_folder_unless_it_goes(self, world):
        git = world.writer()
        oid = start(git)
        with pytest.raises(BadInput, match="file and a folder"):
            git.commit([oid], {"a.txt/x": b"1"}, "m", when=WHEN)
        with pytest.raises(BadInput, match="file and a folder"):
            git.commit([oid], {"d": b"1"}, "m", when=WHEN)
        new = git.commit([oid], {"a.txt/x": b"1", "a.txt": None}, "m", when=WHEN)
        assert git.read(new, "a.txt/x") == b"1"

    def test_a_message_must_say_something(self, world):
        with pytest.raises(BadInput, match="message"):
            world.writer().commit([], {"x": b"1"}, " \n", when=WHEN)

    def test_a_branch_rewound_by_its_owner_is_read_as_it_now_is(self, world):
        git, other = world.writer(), world.writer()
        base = start(git)
        new = git.commit([base], {"x": b"1"}, "m", when=WHEN)
        git.push("main", new)
        assert other.tip("main") == new
        if world.kind == "memory":
            world.memory.branches["main"] = base
        else:
            raw(world.bare, "update-ref", "refs/heads/main", base)
        assert other.tip("main") == base
