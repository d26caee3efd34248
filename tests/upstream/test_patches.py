"""Carried patches: what they name, their id, and when a candidate makes them needless."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.model.uses import Written
from bot.upstream.patches import carried, read
from bot.upstream.patchid import patch_id
from tests.fakes.upstream_git import Repository

NAME = "o/engine"
AT = Written(file="patches/fix.diff")
OLD, NEW = "".join(f"line {n}\n" for n in range(30)), "".join(f"line {n}\n" if n != 12 else "better\n" for n in range(30))


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "engine.git")
    made.commit("Begin", {"python/engine/fast.py": OLD, "python/engine/other.py": "1\n"})
    return made


def history(upstream: Repository) -> CloneHistory:
    return CloneHistory(Clone(LocalProcess(), str(upstream.folder), upstream.folder.parent / "cache"))


class TestAPatchId:
    def test_is_gits_own(self, upstream) -> None:
        many = upstream.commit("Many files", {"a.py": "x = 1\n", "python/engine/fast.py": NEW, "python/engine/other.py": None,
                                              "tail.txt": "no end"})
        more = upstream.commit("On", {"tail.txt": "no end at all", "a.py": "x  =\t1\n\n"})
        for commit in (many, more):
            diff = upstream.git("diff-tree", "-p", commit).encode()
            assert patch_id(diff) == upstream.git("patch-id", "--stable", data=diff).split()[0]

    def test_stays_where_lines_and_blanks_moved(self) -> None:
        one = b"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ def x\n-a b\n+a c\n d\n"
        assert patch_id(one) == patch_id(one.replace(b"@@ -1,2 +1,2 @@ def x", b"@@ -90,2 +91,2 @@").replace(b"a b", b"a  b"))
        assert patch_id(one) != patch_id(one.replace(b"a c", b"a d"))

    @pytest.mark.parametrize("text", [b"", b"hello\n", b"diff --git a/f b/f\nindex 1..2\nBinary files a/f and b/f differ\n"])
    def test_of_what_is_no_diff_of_text_is_none(self, text) -> None:
        assert patch_id(text) is None


class TestWhatAPatchNames:
    def test_is_read_from_a_mail_of_git(self, upstream) -> None:
        fix = upstream.commit("Make it better (#30)\n\nBecause of #29.", {"python/engine/fast.py": NEW})
        mail = upstream.git("format-patch", "-1", "--stdout", fix)
        found = read(mail.encode(), AT, NAME)
        assert (found.pulls, found.commits, found.files) == ((30,), (fix,), ("python/engine/fast.py",))
        assert found.patch_id == history(upstream).patch_ids([fix])[fix]

    def test_may_be_a_file_with_blanks_in_its_name(self, upstream) -> None:
        name = "python/engine/configs/block_shape=[128, 128].json"
        made = upstream.commit("Tune", {name: "{}\n", "python/engine/fast.py": NEW})
        assert set(read(upstream.git("show", made).encode(), AT, NAME).files) == {name, "python/engine/fast.py"}

    def test_is_read_from_a_plain_diff_of_the_installed_files(self, upstream) -> None:
        fix = upstream.commit("Make it better (#30)", {"python/engine/fast.py": NEW})
        diff = upstream.git("diff-tree", "-p", fix).split("\n", 1)[1]
        place = "/usr/local/lib/python3.12/dist-packages/engine/fast.py"
        lines = [line for line in diff.split("\n") if not line.startswith(("diff ", "index "))]
        plain = "\n".join(lines).replace("--- a/python/engine/fast.py", f"--- {place}.orig\t2026-09-01 00:00:00")
        plain = plain.replace("+++ b/python/engine/fast.py", f"+++ {place}\t2026-09-01 00:00:00")
        found = read(f"#!/bin/bash\npatch -p0 <<'EOF'\n{plain}EOF\n".encode(), AT, NAME, folder="python")
        assert found.files == ("python/engine/fast.py",)
        assert found.patch_id == history(upstream).patch_ids([fix])[fix]

    @pytest.mark.parametrize(("line", "pulls", "commits"), [
        ("# https://github.com/o/engine/pull/54853", (54853,), ()),
        ("# backport of engine#54853 and o/engine#7", (54853, 7), ()),
        ("# from https://github.com/o/engine/commit/0123456789ab", (), ("0123456789ab",)),
        ("(cherry picked from commit " + "ab" * 20 + ")", (), ("ab" * 20,)),
        ("# works around a regression introduced by o/engine#54819", (), ()),
        ("# see #2930, https://github.com/o/engine/issues/5, other/engine#6, x/engine#7", (), ()),
        ("+# o/engine#5 is what the patch itself writes", (), ()),
    ])
    def test_is_what_it_brings_and_not_what_it_mends(self, line, pulls, commits) -> None:
        found = read(f"{line}\nsed -i 's/a/b/' /sgl-workspace/engine/python/engine/fast.py\n".encode(), AT, NAME)
        assert (found.pulls, found.commits, found.patch_id) == (pulls, commits, None)
        assert found.files == ("python/engine/fast.py",)

    def test_of_bytes_that_are_no_text_is_nothing(self) -> None:
        found = read(b"\xff\x00--- \xff\n+++ \n@@ -1 +1 @@\n-x\n+y", AT, NAME)
        assert (found.pulls, found.commits) == ((), ())


class TestAPatchThatTheCandidateHolds:
    def test_is_seen_by_its_change_though_it_names_nothing(self, upstream) -> None:
        before = upstream.tip("main")
        fix = upstream.commit("Make it better, under any name", {"python/engine/fast.py": NEW})
        found = read(upstream.git("diff-tree", "-p", fix).split("\n", 1)[1].encode(), AT, NAME)
        told = history(upstream)
        assert [carried(told, [found], head, NAME)[0].holds for head in ("main", before)] == [True, None]

    def test_is_seen_by_the_pull_request_that_it_names(self, upstream) -> None:
        before = upstream.tip("main")
        upstream.commit("Make it better (#30)", {"python/engine/fast.py": NEW + "and more\n"})
        patch = read(b"# o/engine#30\nsed -i s/a/b/ python/engine/fast.py\n", AT, NAME)
        told = history(upstream)
        assert [carried(told, [patch], head, NAME)[0].holds for head in ("main", before)] == [True, False]
        upstream.commit('Revert "Make it better (#30)"', {"python/engine/fast.py": OLD})
        assert carried(history(upstream), [patch], "main", NAME)[0].holds is False

    def test_that_names_two_needs_both(self, upstream) -> None:
        upstream.commit("Make it better (#30)", {"python/engine/fast.py": NEW})
        half = upstream.tip("main")
        upstream.commit("And the other (#31)", {"python/engine/other.py": "2\n"})
        patch = read(b"# o/engine#30 o/engine#31\nsed -i s/a/b/ python/engine/fast.py\n", AT, NAME)
        told = history(upstream)
        assert [carried(told, [patch], head, NAME)[0].holds for head in (half, "main")] == [False, True]

    def test_is_unknown_without_history_or_candidate(self, upstream) -> None:
        patch = read(b"# o/engine#30\n", AT, NAME)
        assert carried(None, [patch], "main", NAME)[0].holds is carried(history(upstream), [patch], None, NAME)[0].holds is None
        assert carried(history(upstream), [read(b"sed -i s/a/b/ x/y.py\n", AT, NAME)], "main", NAME)[0].holds is None
