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
    """Writes each file beside its place first; only when all are there do they take their places.

    Refusal names the one that cannot be written: then nothing was changed. Modes of files that exist stay.
    """
    beside = {root / path: (root / path).with_name(f".{Path(path).name}.bumpbot-{os.getpid()}") for path in files}
    try:
        for (place, made), data in zip(beside.items(), files.values(), strict=True):
            _beside(place, made, data)
        for place, made in beside.items():
            made.replace(place)
    finally:
        for made in beside.values():
            with suppress(OSError):
                made.unlink(missing_ok=True)


def _beside(place: Path, made: Path, data: bytes) -> None:
    try:
        made.write_bytes(data)
        if place.exists():
            shutil.copymode(place, made)
    except OSError as error:
        hint = "nothing was changed; look at the rights and the space left"
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
