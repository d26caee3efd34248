"""The folders of a run: new, whole, and nothing of anybody else's."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bot.bench import kept
from bot.errors import Refusal


class TestTheFolders:
    @pytest.mark.parametrize("name", ["results", "logs"])
    @pytest.mark.parametrize("kind", ["folder", "file", "link"])
    def test_that_exist_are_refused_and_left_as_they_are(self, tmp_path: Path, name: str, kind: str) -> None:
        there = tmp_path / name
        {"folder": there.mkdir, "file": there.touch, "link": lambda: there.symlink_to("nowhere")}[kind]()
        before = sorted(tmp_path.iterdir())
        with pytest.raises(Refusal, match=f"{name} exists"):
            kept.opened(tmp_path)
        assert sorted(tmp_path.iterdir()) == before

    def test_are_made_with_those_above_them(self, tmp_path: Path) -> None:
        place = kept.opened(tmp_path / "a" / "b")
        assert place.results.is_dir() and place.logs.is_dir()

    def test_that_cannot_be_filled_are_removed_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(kept.os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as raised:
            kept.opened(tmp_path)
        assert raised.value.filename == str(tmp_path) and list(tmp_path.iterdir()) == []


class TestASum:
    def test_follows_no_link_out_of_the_run(self, tmp_path: Path) -> None:
        place = kept.opened(tmp_path)
        (tmp_path / "secret").write_text("x")
        (place.results / "link").symlink_to(tmp_path / "secret")
        (place.results / "odd name.txt").write_text("x")
        os.mkfifo(place.logs / "pipe")
        assert [one.name for one in kept.files(place)] == ["results/odd name.txt"]
