"""Files of one revision: a commit and a folder answer alike."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime

import pytest

from bot.adapters.clock import SystemClock
from bot.adapters.process import LocalProcess
from bot.adapters.tree import CommitTree, FolderTree, LocalCommit, SubTree, contents, git_id
from bot.errors import BadInput, BumpbotError, Missing
from tests.fakes.git_memory import MemoryGit, MemoryRemote

FILES = {"README.md": b"# hi\n", "recipes/a.yaml": b"image: x\n", "recipes/deep/b.yaml": b"image: y\n",
         "recipes2/c.yaml": b"\xff"}


@pytest.fixture(params=["commit", "folder", "local commit"])
def tree(request, tmp_path):
    if request.param == "local commit":
        return committed(tmp_path, FILES)
    if request.param == "commit":
        git = MemoryGit(MemoryRemote())
        return CommitTree(git, git.commit([], FILES, "files", when=datetime(2026, 7, 28, tzinfo=UTC)))
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return FolderTree(tmp_path)


def committed(root, files):
    """The one commit of a repository at `root`, with these files and nothing of them changed since."""
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    for argv in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "--message=all"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *argv], cwd=root, check=True)
    return LocalCommit.of(LocalProcess(), root, "HEAD")


class TestEveryTree:
    def test_it_gives_bytes_or_none(self, tree):
        assert {path: tree.read(path) for path in FILES} == FILES
        assert tree.read("nope") is None and tree.read("recipes") is None and tree.read("README.md/x") is None

    def test_its_paths_are_sorted_and_cut_by_a_prefix(self, tree):
        assert tree.paths() == sorted(FILES)
        assert tree.paths("recipes/") == ["recipes/a.yaml", "recipes/deep/b.yaml"]
        assert tree.paths("recipes") == ["recipes/a.yaml", "recipes/deep/b.yaml", "recipes2/c.yaml"]
        assert tree.paths("recipes/deep/b") == ["recipes/deep/b.yaml"] and tree.paths("none/") == []

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "./README.md", ""])
    def test_a_path_cannot_leave_it(self, tree, path):
        with pytest.raises(BadInput, match="not a path"):
            tree.read(path)


class TestALocalCommit:
    def test_it_tells_the_ids_of_contents_as_git_makes_them(self, tmp_path):
        tree = committed(tmp_path, FILES)
        told = contents(tree, [*FILES, "nope"])
        assert told == {path: git_id(data, one) for (path, data), one in zip(FILES.items(), told.values(), strict=True)}
        assert contents(SubTree(tree, "recipes"), ["a.yaml"]) == {"a.yaml": told["recipes/a.yaml"]}
        assert contents(FolderTree(tmp_path), list(FILES)) == {}

    def test_holds_what_was_committed_and_not_what_lies_there(self, tmp_path):
        (tmp_path / "link").symlink_to("README.md")
        tree = committed(tmp_path, FILES)
        (tmp_path / "README.md").write_bytes(b"changed")
        (tmp_path / "new").write_bytes(b"x")
        assert tree.read("README.md") == b"# hi\n" and tree.read("new") is None and tree.read("link") is None
        assert tree.paths() == sorted(FILES)

    def test_of_a_ref_that_is_not_there_is_none(self, tmp_path):
        committed(tmp_path, FILES)
        assert LocalCommit.of(LocalProcess(), tmp_path, "refs/heads/other") is None

    def test_of_what_is_no_repository_is_told(self, tmp_path):
        (tmp_path / ".git").mkdir()
        with pytest.raises(BumpbotError, match="not a git repository"):
            LocalCommit.of(LocalProcess(), tmp_path, "HEAD")


class TestAFolder:
    def test_links_are_not_followed_and_git_is_not_seen(self, tmp_path):
        root = tmp_path / "root"
        (root / ".git").mkdir(parents=True)
        (root / ".git" / "config").write_text("secret")
        (tmp_path / "outside").write_text("secret")
        (root / "link").symlink_to(tmp_path / "outside")
        (root / "way").symlink_to(tmp_path)
        (root / "plain").write_text("x")
        tree = FolderTree(root)
        assert tree.paths() == ["plain"]
        assert [tree.read(path) for path in ("link", "way/outside", ".git/config")] == [None, None, None]

    def test_a_prefix_cannot_leave_it(self, tmp_path):
        with pytest.raises(BadInput):
            FolderTree(tmp_path).paths("../")

    def test_a_folder_that_is_not_there_is_missing(self, tmp_path):
        with pytest.raises(Missing, match="no such folder"):
            FolderTree(tmp_path / "nope")


class TestTheClock:
    def test_it_tells_aware_utc_and_does_not_sleep_backwards(self):
        clock = SystemClock()
        assert clock.now().utcoffset().total_seconds() == 0
        clock.sleep(-1)
