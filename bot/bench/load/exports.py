"""The files that AIPerf leaves of one repeat: which lie where, what they say of the run itself, and the raw export packed."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.bench import integrity

PLACE = "aiperf/profile_runs"
SUMMARY = "profile_export_aiperf.json"
RECORDS = "profile_export.jsonl"
_PARTS = "raw_records"
_LEVEL = 1
"""Chunks of one answer are nearly alike: the quickest packing makes a twentieth of them."""


class Info(Struct, frozen=True):
    """What a summary says of its own run."""

    random_seed: int | None = None


class Summary(Struct, frozen=True):
    """What a summary says beside its numbers, which `bot.results` reads."""

    aiperf_version: str = ""
    was_cancelled: bool = False
    is_complete: bool | None = None
    run_info: Info = Info()

    @property
    def whole(self) -> bool:
        """Whether the run came to its end by itself."""
        return not self.was_cancelled and self.is_complete is not False


def folder(results: Path, number: int) -> Path:
    """Where a repeat (from 1) lies; `bot.results` knows repeats by this name."""
    return results / PLACE / f"run_{number:04d}"


def summary(folder: Path) -> Summary | None:
    """The run's own summary; None where there is none: no request went well, or AIPerf was killed."""
    try:
        return msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def raw(folder: Path) -> list[Path]:
    """The raw export; where AIPerf did not come to joining its parts, these."""
    whole = folder / integrity.NAME
    return [whole] if whole.exists() else sorted((folder / _PARTS).glob("*.jsonl"))


def tally(folder: Path, output: int | None) -> integrity.Tally:
    """The requests of a repeat, counted and their answers looked at."""
    return integrity.tally(_records(folder), output)


def pack(folder: Path) -> None:
    """Packs the raw export, the same bytes each time. It has all that was sent and answered: proof of what the tally says, and
    by far the largest file. On a full disk it stays as it is."""
    for path in raw(folder):
        packed = path.with_name(f"{path.name}.gz")
        try:
            with path.open("rb") as stream, packed.open("wb") as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as into:
                shutil.copyfileobj(stream, into, 1 << 20)
        except OSError:
            packed.unlink(missing_ok=True)
            return
        path.unlink()


def _records(folder: Path) -> Iterator[integrity.Record | None]:
    for path in raw(folder):
        with path.open("rb") as stream:
            yield from integrity.records(stream)


class Finished:
    """How many requests a run has written down, counted as its file grows."""

    def __init__(self, folder: Path) -> None:
        self._path, self._at, self._lines = folder / RECORDS, 0, 0

    def count(self) -> int:
        """Lines so far."""
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._at)
                while block := stream.read(1 << 20):
                    self._lines += block.count(b"\n")
                    self._at += len(block)
        except OSError:
            pass
        return self._lines
