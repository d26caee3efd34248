"""Artifacts: folders zipped once when a job ends, kept as files, never overwritten within an attempt."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path

from bot.rehearse.github.declare import Upload
from bot.rehearse.github.state import Artifact, Run, Store


class Taken(Exception):
    """The name exists in this attempt already: artifacts are immutable since version 4 of the upload action."""


class Shelf:
    """The artifacts' zip files, in a folder of their own until `close`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._folder = tempfile.TemporaryDirectory(prefix="loopback-github-")

    def put(self, run: Run, attempt: int, upload: Upload, now: datetime) -> Artifact:
        held = (kept for kept in self.store.artifacts.values() if kept.run is run and kept.attempt == attempt)
        if any(kept.name == upload.name for kept in held):
            raise Taken(
                "Failed to CreateArtifact: Received non-retryable error: (409) Conflict: an artifact with this name "
                f"already exists on the workflow run: {upload.name}"
            )
        number = self.store.next("artifact")
        path = Path(self._folder.name) / f"{number}.zip"
        zip_folder(upload.folder, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        made = Artifact(id=number, run=run, attempt=attempt, name=upload.name, path=path, size=path.stat().st_size,
                        digest=digest, created=now)
        self.store.artifacts[number] = made
        return made

    def close(self) -> None:
        self._folder.cleanup()


def zip_folder(folder: Path, target: Path) -> None:
    """Files in order of their names, with one fixed date: the same folder gives the same bytes."""
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            made.writestr(entry, path.read_bytes())
