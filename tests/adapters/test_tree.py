"""Files of one revision: a commit and a folder answer alike."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.adapters.clock import SystemClock
from bot.adapters.tree import CommitTree, FolderTree
from bot.errors import BadInput, Missing
from tests.fakes.git_memory import MemoryGit, MemoryRemote

FILES = {"README.md": b"# hi\n", "recipes/a.yaml": b"image: x\n", "recipes/deep/b.yaml": b"image: y\n",
         "recipes2/c.yaml": b"\xff"}


@pytest.fixture(params=["commit", "folder"])
def tree(request, tmp_path):
    if request.param == "commit":
        git = MemoryGit(MemoryRemote())
        return CommitTree(git, git.commit([], FILES, "files", when=datetime(2026, 7, 28, tzinfo=UTC)))
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return FolderTree(tmp_path)


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
