"""What a clone tells of an upstream: real repositories, served from a folder or over loopback http by git itself."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from msgspec import json

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.files import CloneTree
from bot.adapters.upstream.told import CloneHistory
from bot.errors import BadInput, Missing, Refusal
from tests.fakes.upstream_git import Repository
from tests.fakes.upstream_http import serve

PARSER = "engine/args.py"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "engine.git")


def near(upstream: Repository, tmp_path: Path) -> CloneHistory:
    return CloneHistory(Clone(LocalProcess(), str(upstream.folder), tmp_path / "cache"))


class Story:
    """main: first, option (#2), fast (#3), after; release/1 leaves main after the option and picks the fast path (#4)."""

    def __init__(self, upstream: Repository) -> None:
        self.first = upstream.commit("Begin", {PARSER: "--tp\n", "engine/kernels/fast.py": "slow = 1\n", "README.md": "x\n"})
        self.option = upstream.commit("Add an option (#2)", {PARSER: "--tp\n--ep\n"})
        self.cut = self.option
        self.fast = upstream.commit("[Kernel] Make the fast path fast (#3)", {"engine/kernels/fast.py": "fast = 2\n"})
        self.after = upstream.commit("Take the option back (#5)", {PARSER: "--tp\n"})
        self.picked = upstream.commit("[Kernel] Make the fast path fast (#3) (#4)\n\n(cherry picked from commit "
                                      f"{self.fast})", {"engine/kernels/fast.py": "fast = 2\n"}, branch="release/1", onto=self.cut)
        upstream.tag("v1.0", self.picked, annotated=True)
        upstream.tag("v0.9", self.first)


@pytest.fixture
def story(upstream: Repository) -> Story:
    return Story(upstream)


class TestAHistory:
    def test_names_commits_by_short_ids_tags_and_branches(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        names = (story.fast, story.fast[:9], "v1.0", "v0.9", "main", "release/1")
        assert [history.full(name) for name in names] == [story.fast, story.fast, story.picked, story.first, story.after, story.picked]

    def test_counts_as_git_does(self, upstream, story, tmp_path) -> None:
        found = near(upstream, tmp_path).compare("o/engine", "v1.0", "main")
        assert (found.merge_base, found.ahead, found.behind) == (story.cut, 2, 1)
        assert [(one.sha, one.pull) for one in found.commits] == [(story.fast, 3), (story.after, 5)]
        assert upstream.git("rev-list", "--left-right", "--count", "v1.0...main").split() == ["1", "2"]

    def test_tells_the_files_of_each_commit_and_the_lines_of_some(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        assert history.touched(story.first, "main") == {
            story.after: (PARSER,), story.fast: ("engine/kernels/fast.py",), story.option: (PARSER,)}
        assert history.lines(story.first, "main", [PARSER]) == {story.option: ["--ep"], story.after: ["--ep"]}

    def test_tells_which_commit_took_a_text_away(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        assert [one.sha for one in history.last_touched("main", PARSER, since=story.option, text="--ep")] == [story.after]
        assert [one.sha for one in history.last_touched("main", PARSER)] == [story.after, story.option, story.first]

    def test_finds_pull_requests_behind_a_head_also_as_picks(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        assert [(one and one.sha) for one in (history.merged(3, "main"), history.merged(3, "v1.0"), history.merged(5, "v1.0"),
                                              history.merged(3, None))] == [story.fast, story.picked, None, story.fast]

    def test_sees_the_same_change_under_another_id(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        ids = history.patch_ids([story.fast, story.picked, story.after])
        assert ids[story.fast] == ids[story.picked] != ids[story.after]
        diff = upstream.git("diff-tree", "-p", story.fast)
        assert upstream.git("patch-id", "--stable", data=diff.encode()).split()[0] == ids[story.fast]
        found = history.same_change(ids[story.fast], "v1.0", since=story.fast, files=["engine/kernels/fast.py"])
        assert found and found.sha == story.picked
        assert history.same_change(ids[story.fast], "v0.9") is None

    def test_looks_for_words_in_messages_as_they_are(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        assert [one.sha for one in history.saying(None, ["cherry picked from commit", "[Kernel]"])] == [story.picked, story.fast]
        assert history.saying("main", [".*", "", "nothing"], since=story.first) == []

    def test_tells_the_tags_and_what_lies_behind_them(self, upstream, story, tmp_path) -> None:
        history = near(upstream, tmp_path)
        assert history.tags() == {"v1.0": story.picked, "v0.9": story.first}
        assert [history.holds(story.fast, head) for head in ("main", "v1.0", "v0.9", story.fast)] == [True, False, False, True]


class TestWhatIsWrongWithACommit:
    def test_gone_is_missing(self, upstream, story, tmp_path) -> None:
        with pytest.raises(Missing, match="gone"):
            near(upstream, tmp_path).full("ab" * 20)

    def test_reached_by_no_branch_is_refused_as_an_impostor(self, upstream, story, tmp_path) -> None:
        stray = upstream.commit("A fork's", {"x": "y"}, branch="stray")
        upstream.git("update-ref", "-d", "refs/heads/stray")
        with pytest.raises(Refusal, match="no branch or tag"):
            near(upstream, tmp_path).full(stray)

    def test_a_short_id_of_two_is_bad_input(self, upstream, tmp_path) -> None:
        text = "".join(f"commit refs/heads/b{n}\ncommitter c <c@example.org> {n} +0000\ndata 1\nx\n" for n in range(700))
        upstream.git("fast-import", "--quiet", data=text.encode())
        begun = Counter(sha[:4] for sha in upstream.git("rev-list", "--all").split())
        (twice, count), = begun.most_common(1)
        assert count == 2
        with pytest.raises(BadInput, match="short id of 2"):
            near(upstream, tmp_path).full(twice)

    @pytest.mark.parametrize("name", ["--output=/tmp/x", "a..b", "a b", "", "main^", "x:y", "@{-1}"])
    def test_a_name_that_git_could_read_otherwise_is_bad_input(self, upstream, story, tmp_path, name) -> None:
        with pytest.raises(BadInput):
            near(upstream, tmp_path).full(name)

    def test_a_folder_that_is_no_repository_is_missing(self, tmp_path) -> None:
        (tmp_path / "plain").mkdir()
        with pytest.raises(Missing):
            Clone(LocalProcess(), str(tmp_path / "plain"), tmp_path / "cache")
        with pytest.raises(Missing):
            Clone(LocalProcess(), str(tmp_path / "none"), tmp_path / "cache")


class TestAFolderOfSomebodys:
    def test_is_read_in_place_and_not_written(self, upstream, story, tmp_path) -> None:
        before = {path: path.stat().st_mtime_ns for path in upstream.folder.rglob("*")}
        history = near(upstream, tmp_path)
        history.compare("o/n", "v0.9", "main"), history.touched(story.first, "main"), history.patch_ids([story.fast])
        assert CloneTree(history.clone, story.after).read(PARSER) == b"--tp\n"
        assert {path: path.stat().st_mtime_ns for path in upstream.folder.rglob("*")} == before and not (tmp_path / "cache").exists()

    def test_may_be_a_work_tree_and_shallow(self, upstream, story, tmp_path) -> None:
        work = tmp_path / "work"
        upstream.git("clone", "-q", "--depth=2", f"file://{upstream.folder}", str(work))
        history = CloneHistory(Clone(LocalProcess(), str(work), tmp_path / "cache"))
        found = history.compare("o/n", story.fast, "main")
        assert (found.ahead, found.doubts) == (1, ("shallow",))
        with pytest.raises(Missing):
            history.full(story.first)


class TestACloneOverTheWire:
    def test_holds_no_contents_until_files_are_read_and_then_a_folder_at_once(self, upstream, story, tmp_path) -> None:
        upstream.commit("More files", {f"engine/m{number}.py": f"{number}\n" for number in range(20)})
        with serve(upstream.folder) as (url, asked):
            clone = Clone(LocalProcess(), url, tmp_path / "cache")
            before = len(asked)
            tree = CloneTree(clone, upstream.tip("main"))
            assert len(tree.paths("engine/")) == 22 and len(asked) == before
            assert tree.read("engine/m3.py") == b"3\n" and tree.read("engine/m7.py") == b"7\n" and tree.read("none") is None
            assert 0 < len([one for one in asked[before:] if "upload-pack" in one and one.startswith("POST")]) <= 2
        assert tree.read(PARSER) == b"--tp\n"  # the server is gone: it came with the others

    def test_fetches_what_came_since_and_knows_what_was_rewritten(self, upstream, story, tmp_path) -> None:
        with serve(upstream.folder) as (url, _):
            CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache")).full("main")
            upstream.reset("main", story.option)
            late = upstream.commit("Another way", {"other": "1"})
            history = CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache"))
            assert history.full(late) == late
            with pytest.raises(Refusal, match="rewritten"):
                history.full(story.after)
            assert history.touched(story.option, late) == {late: ("other",)}

    def test_reads_branches_anew_once_they_are_old_and_does_without_where_nobody_answers(self, upstream, story, tmp_path) -> None:
        with serve(upstream.folder) as (url, _):
            clone = Clone(LocalProcess(), url, tmp_path / "cache")
            upstream.tag("v2", upstream.commit("Late"))
            assert CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache")).full("main") == story.after
            os.utime(clone.git.folder / "filled", (0, 0))
            late = CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache"))
            assert (late.full("main"), late.tags()["v2"]) == (upstream.tip("main"), upstream.tip("main"))
        os.utime(clone.git.folder / "filled", (0, 0))
        assert CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache")).full("main") == upstream.tip("main")

    def test_makes_room_for_the_newest_clones(self, upstream, story, tmp_path, monkeypatch) -> None:
        monkeypatch.setattr("bot.adapters.upstream.clone.CLONES", 2)
        with serve(upstream.folder) as (url, _):
            made = []
            for number, name in enumerate(("a.git", "b.git", "c.git")):
                Repository(tmp_path / name).commit("x")
                made.append(Clone(LocalProcess(), url.replace("engine.git", name), tmp_path / "cache").git.folder)
                os.utime(made[-1] / "used", (number, number))
        assert [folder.exists() for folder in made] == [False, True, True]

    def test_keeps_what_many_commits_touched_and_tells_the_same_of_it(self, upstream, tmp_path) -> None:
        first = upstream.commit("Begin", {"a": "0"})
        made = {upstream.commit(f"Change {number}", {f"f{number % 7}": f"{number}"}): (f"f{number % 7}",) for number in range(60)}
        with serve(upstream.folder) as (url, _):
            for _ in range(2):
                history = CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache"))
                assert history.touched(first, "main") == made
            (kept,) = history.clone.git.folder.glob("touched-*.kept")
            kept.write_bytes(b"\0" * 200 + kept.read_bytes()[200:])  # of another question, or damaged: asked anew
            assert CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache")).touched(first, "main") == made

    def test_looks_for_no_content_that_is_here(self, upstream, story, tmp_path) -> None:
        with serve(upstream.folder) as (url, asked):
            clone = Clone(LocalProcess(), url, tmp_path / "cache")
            head, lone = upstream.tip("main"), upstream.git("rev-parse", "main:README.md").strip()
            other = upstream.git("rev-parse", f"main:{PARSER}").strip()
            clone.complete([lone], [head])
            before = len(asked)
            clone.complete([lone], [head])
            assert len(asked) == before
            clone.complete([lone, other], [head])
            assert len(asked) > before and clone.run("cat-file", "blob", other) == b"--tp\n"

    def test_may_hold_names_and_titles_that_are_no_text(self, upstream, story, tmp_path) -> None:
        upstream.git("fast-import", "--quiet", data=b"commit refs/heads/odd\ncommitter c <c@example.org> 1 +0000\ndata 3\n\xff\x01\x02\n"
                     b"M 100644 inline \"a\\377\\n.py\"\ndata 2\n\xff\x00\n")
        history, odd = near(upstream, tmp_path), upstream.git("rev-parse", "odd").strip()
        assert json.encode(history.commit(odd)) and history.patch_ids([odd]) == {}
        tree = CloneTree(history.clone, odd)
        assert json.encode(tree.paths()) and len(tree.paths()) == 1

    def test_runs_nothing_of_the_other_side(self, upstream, story, tmp_path) -> None:
        upstream.commit("Bad", {".gitattributes": "* filter=evil diff=evil\n", ".gitmodules": "[submodule x]\n\turl = ext::sh\n"})
        config = upstream.folder / "config"
        config.write_text(config.read_text() + f"[filter \"evil\"]\n\tsmudge = touch {tmp_path}/ran\n"
                          f"[diff \"evil\"]\n\ttextconv = touch {tmp_path}/ran\n\tcommand = touch {tmp_path}/ran\n"
                          f"[core]\n\tfsmonitor = touch {tmp_path}/ran\n\tpager = touch {tmp_path}/ran\n")
        history = near(upstream, tmp_path)
        head = upstream.tip("main")
        assert history.patch_ids([head, story.fast]) and CloneTree(history.clone, head).read(PARSER) == b"--tp\n"
        assert history.last_touched("main", PARSER, text="--ep") and not (tmp_path / "ran").exists()

    def test_of_a_patch_costs_one_request_for_all_contents(self, upstream, story, tmp_path) -> None:
        with serve(upstream.folder) as (url, asked):
            history = CloneHistory(Clone(LocalProcess(), url, tmp_path / "cache"))
            history.full("main")
            before = len(asked)
            ids = history.patch_ids([story.fast, story.picked, story.after])
            assert ids[story.fast] == ids[story.picked] and len([one for one in asked[before:] if one.startswith("POST")]) <= 2
