"""The folder for a command's work is gone afterwards, whatever still writes into it."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bot.cli.writing import scratch, write_all
from bot.errors import Refusal


class TestScratch:
    def test_goes_with_what_is_in_it(self) -> None:
        with scratch() as folder:
            (folder / "a" / "b").mkdir(parents=True)
            (folder / "a" / "b" / "c").write_text("x")
        assert not folder.exists()

    def test_goes_when_the_work_is_stopped(self) -> None:
        with pytest.raises(KeyboardInterrupt), scratch() as folder:
            raise KeyboardInterrupt
        assert not folder.exists()

    def test_outlasts_a_program_that_still_writes(self) -> None:
        """Seen: Ctrl-C in a rehearsal while git started; `objects: Directory not empty` and exit 1 instead of 130."""
        stop = threading.Event()

        def write(into: Path) -> None:
            for number in range(200_000):
                with suppress(OSError):
                    (into / str(number)).mkdir()
                if stop.wait(0.0005):
                    return

        with pytest.raises(KeyboardInterrupt), scratch() as folder:
            writer = threading.Thread(target=write, args=(folder,))
            writer.start()
            threading.Timer(0.3, stop.set).start()
            raise KeyboardInterrupt
        writer.join()
        assert not folder.exists()


class TestWritingSeveralFiles:
    FILES = {"a.yaml": b"new a", "sub/b.yaml": b"new b", "sub/c.yaml": b"new c"}

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        (tmp_path / "sub").mkdir()
        (tmp_path / "a.yaml").write_bytes(b"old a")
        (tmp_path / "a.yaml").chmod(0o640)
        (tmp_path / "sub" / "b.yaml").write_bytes(b"old b")
        return tmp_path

    def left(self, root: Path) -> dict[str, bytes]:
        return {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}

    def test_leaves_nothing_but_them(self, root: Path) -> None:
        write_all(root, self.FILES)
        assert self.left(root) == self.FILES
        assert (root / "a.yaml").stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize("error", [OSError(1, "Operation not permitted"), OSError(16, "Device or resource busy"), KeyboardInterrupt()])
    @pytest.mark.parametrize("name", ["b.yaml", "c.yaml"])
    def test_gives_their_places_back_when_one_cannot_be_taken(self, root: Path, monkeypatch: pytest.MonkeyPatch, name: str,
                                                              error: BaseException) -> None:
        """A file that is mounted by itself is written beside without trouble, and refuses to be replaced."""
        before, real = self.left(root), Path.replace

        def held(path: Path, place: Path) -> Path:
            if place.name == name:
                raise error
            return real(path, place)

        monkeypatch.setattr(Path, "replace", held)
        with pytest.raises((Refusal, KeyboardInterrupt), match=rf"{name} cannot be written: .*nothing was changed|^$"):
            write_all(root, self.FILES)
        assert self.left(root) == before and (root / "a.yaml").stat().st_mode & 0o777 == 0o640
