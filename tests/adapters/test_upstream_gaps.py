"""Histories with a hole in them, served by somebody else: told, and never fetched after without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.errors import BadInput, Unreachable
from tests.fakes.upstream_git import Repository
from tests.fakes.upstream_http import serve


def where(file: Path) -> str:
    """The folder that a program runs in."""
    try:
        return str(file.readlink())
    except OSError:
        return ""


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "engine.git")
    for number in range(6):
        made.commit(f"Step {number}", {"a.py": f"{number}\n"})
    return made


@pytest.fixture
def cut(upstream: Repository, tmp_path: Path) -> Iterator[str]:
    """The address of a mirror that holds the last two commits."""
    folder = tmp_path / "cut.git"
    upstream.git("clone", "--quiet", "--bare", "--depth=2", f"file://{upstream.folder}", str(folder))
    with (folder / "config").open("a") as config:
        config.write("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
    with serve(folder) as (url, _):
        yield url


class TestAMirrorThatWasCutOff:
    """One of fifty commits made 3,473 gits in nine minutes, each fetching what the one before it missed."""

    def test_is_given_up_in_seconds_and_leaves_no_program_behind(self, cut: str, tmp_path: Path) -> None:
        with pytest.raises(Unreachable, match="programs at once and was ended"):
            Clone(LocalProcess(), cut, tmp_path / "cache")
        assert not [file for file in Path("/proc").glob("[0-9]*/cwd") if str(tmp_path / "cache") in where(file)]


class TestAHistoryWithAHole:
    def test_is_refused_and_its_clone_goes(self, upstream: Repository, tmp_path: Path) -> None:
        with serve(upstream.folder) as (url, _):
            clone = Clone(LocalProcess(), url, tmp_path / "cache")
            tree = clone.run("rev-parse", "main^{tree}").decode().strip()
            lost = f"tree {tree}\nparent {'1' * 40}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"
            made = clone.git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=lost.encode()).decode().strip()
            (clone.git.folder / "refs" / "kept").write_text(made + "\n")
            with pytest.raises(BadInput, match="commits are missing in what it serves: name a mirror"):
                Clone(LocalProcess(), url, tmp_path / "cache").refresh()
            assert Clone(LocalProcess(), url, tmp_path / "cache").known("main") == upstream.tip("main")
