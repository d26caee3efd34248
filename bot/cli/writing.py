"""Files of a repository, written all together or not at all; and a folder for work that leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.errors import Refusal

RMTREE_TRIES = 20
RMTREE_PAUSE_S = 0.05


def write_all(root: Path, files: Mapping[str, bytes]) -> None:
    """Writes each file beside its place first; only when all are there do they take their places, and when one cannot, those
    that have give them back (a file mounted by itself, or one that its system holds fast, refuses only then).

    Refusal names the one that cannot be written: then nothing was changed. Modes of files that exist stay.
    """
    made = {root / path: _beside(root / path, "new") for path in files}
    kept = {place: _beside(place, "old") for place in made if place.exists()}
    taken: list[Path] = []
    try:
        for place, data in zip(made, files.values(), strict=True):
            with _told(place):
                if place in kept:
                    shutil.copy2(place, kept[place])
                made[place].write_bytes(data)
                if place in kept:
                    shutil.copymode(place, made[place])
        for place, new in made.items():
            with _told(place):
                new.replace(place)
            taken.append(place)
    except BaseException:
        for place in reversed(taken):
            with _told(place, "it was changed already and cannot be put back; look at it"):
                kept[place].replace(place) if place in kept else place.unlink()
        raise
    finally:
        for file in (*made.values(), *kept.values()):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _beside(place: Path, which: str) -> Path:
    return place.with_name(f".{place.name}.bumpbot-{os.getpid()}-{which}")


@contextmanager
def _told(place: Path, hint: str = "nothing was changed; look at the rights and the space left") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refusal(f"{place} cannot be written: {error.strerror}", hint) from None


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder, removed at the end. Ctrl-C while git is being started leaves a git that we cannot name and that
    goes on writing for a moment, so removing is tried again; what then remains is the operating system's to clear."""
    folder = Path(tempfile.mkdtemp(prefix="bumpbot-"))
    try:
        yield folder
    finally:
        for _ in range(RMTREE_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(RMTREE_PAUSE_S)
