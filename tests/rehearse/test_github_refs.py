"""The refs that the loopback GitHub reads from files are those that git tells of, however they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.github.reffiles import refs_of
from tests.adapters.gitworlds import raw

FOLDERS = ((), ("refs/heads/",), ("refs/heads/", "refs/tags/"), ("refs/heads/a",), ("refs/heads/a/",), ("refs/nothing/",), ("refs/tags/v1",))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    raw(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "r.git")
    place = tmp_path / "r.git"
    tree = raw(place, "mktree", stdin=b"").strip()
    for number, ref in enumerate(("refs/heads/main", "refs/heads/a/b", "refs/heads/ab", "refs/pull/1/head", "refs/tags/v1")):
        raw(place, "update-ref", ref, raw(place, "commit-tree", tree, "-m", str(number)).strip())
    raw(place, "tag", "-m", "with a message", "v2", "refs/heads/main")
    return place


def told(place: Path, folders: tuple[str, ...]) -> dict[str, str]:
    return dict(line.split(" ") for line in raw(place, "for-each-ref", "--format=%(refname) %(objectname)", *folders).splitlines())


@pytest.mark.parametrize("folders", FOLDERS)
class TestTheRefs:
    def test_are_read_where_each_has_its_file(self, repo: Path, folders: tuple[str, ...]) -> None:
        self._same(repo, folders)

    def test_are_read_where_they_are_packed_and_some_have_moved_since(self, repo: Path, folders: tuple[str, ...]) -> None:
        raw(repo, "pack-refs", "--all")
        raw(repo, "update-ref", "refs/heads/main", "refs/heads/ab")
        raw(repo, "update-ref", "-d", "refs/heads/a/b")
        raw(repo, "update-ref", "refs/heads/a", "refs/heads/ab")
        self._same(repo, folders)

    def test_on_their_way_are_not_there_yet(self, repo: Path, folders: tuple[str, ...]) -> None:
        (repo / "refs/heads/new.lock").write_text("")
        self._same(repo, folders)

    def _same(self, repo: Path, folders: tuple[str, ...]) -> None:
        found = refs_of(repo, folders or ("refs/",))
        assert found is not None and list(found.items()) == list(told(repo, folders).items()) and GitRepo(repo).refs(*folders) == found


class TestWhatFilesDoNotSay:
    def test_a_ref_that_points_to_another_is_asked_of_git(self, repo: Path) -> None:
        raw(repo, "symbolic-ref", "refs/heads/other", "refs/heads/main")
        assert refs_of(repo, ("refs/heads/",)) is None
        assert GitRepo(repo).refs("refs/heads/") == told(repo, ("refs/heads/",))

    def test_refs_that_are_kept_in_another_way_are_asked_of_git(self, repo: Path) -> None:
        (repo / "reftable").mkdir()
        assert refs_of(repo, ("refs/",)) is None
