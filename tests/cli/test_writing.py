"""The folder for a command's work is gone afterwards, whatever still writes into it."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bot.cli.writing import scratch


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
