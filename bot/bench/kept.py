"""The folders of one run, and what is written into them: whole or not at all, also on a disk that fills up in the middle.

`bench.json` is replaced in one step and is on the disk before the call returns: who is killed a second later leaves the last
whole one. A little of the disk is held back from the start, so that the end of a run that filled it can still be told.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from bot.bench.host import Place
from bot.errors import Refusal
from bot.model.bench import Report
from bot.model.result import Filed, Row

REPORT, ROWS, SUMS, LOG = "bench.json", "rows.jsonl", "SHA256SUMS", "bench.log"
_RESERVE, _HELD = ".reserve", 256 << 10
_OURS = (REPORT, ROWS, SUMS, _RESERVE)


def opened(out: Path, repository: Path = Path()) -> Place:
    """`out/results` and `out/logs`, made now; traces are files of `repository`. Refusal where either folder is there already;
    OSError where they cannot be made, and then neither is left behind."""
    place = Place(out / "results", out / "logs", repository)
    for folder in (place.results, place.logs):
        if os.path.lexists(folder):
            raise Refusal(f"{folder} exists: results of two runs are never mixed", "move it away, or give another folder as --out")
    out.mkdir(parents=True, exist_ok=True)
    place.results.mkdir()
    try:
        place.logs.mkdir()
        _written(place.results / _RESERVE, b"\0" * _HELD)
    except BaseException as error:
        closed(place)
        for folder in (place.logs, place.results):
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError) and error.filename is None:  # of a write, no name is told
            raise OSError(error.errno, error.strerror, str(out)) from None
        raise
    return place


def closed(place: Place) -> None:
    """Gives back what was held of the disk. From here on the end is written."""
    (place.results / _RESERVE).unlink(missing_ok=True)


def report(place: Place, told: Report, *, sync: bool = True) -> None:
    """`bench.json` in place of the one before. On the way it need not outlive the machine (`sync`), only this process."""
    _replaced(place.results / REPORT, msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n", sync=sync)


def rows(place: Place, told: Iterable[Row]) -> None:
    """`rows.jsonl`, a row a line."""
    _replaced(place.results / ROWS, b"".join(msgspec.json.encode(row) + b"\n" for row in told))


def log(place: Place, lines: Iterable[str]) -> None:
    """`logs/bench.log` in place of the one before; on the way it need not outlive the machine."""
    _replaced(place.logs / LOG, "".join(f"{line}\n" for line in lines).encode(), sync=False)


def files(place: Place) -> tuple[Filed, ...]:
    """Every file of both folders but `bench.json` and the sums, with its size and SHA-256."""
    return tuple(Filed(name=name, size=path.stat().st_size, sha256=_sha256(path)) for name, path in _all(place)
                 if name not in (f"results/{REPORT}", f"results/{SUMS}"))


def sums(place: Place, known: Iterable[Filed]) -> None:
    """`SHA256SUMS` of `known` and of `bench.json`, as `sha256sum --check` reads it in the folder above both."""
    lines = {one.name: one.sha256 for one in known} | {f"results/{REPORT}": _sha256(place.results / REPORT)}
    _replaced(place.results / SUMS, "".join(f"{lines[name]}  {name}\n" for name in sorted(lines)).encode())


def exports(place: Place) -> Iterator[tuple[str, Path]]:
    """What the tools wrote: every file below `results` that is none of ours, named from there."""
    for name, path in _all(place):
        inner = name.removeprefix("results/")
        if inner != name and inner not in _OURS:
            yield inner, path


def _all(place: Place) -> Iterator[tuple[str, Path]]:
    """Files, and no links: what a link names is not of this run."""
    for word, folder in (("results", place.results), ("logs", place.logs)):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name != _RESERVE and not path.name.endswith(".part"):
                yield f"{word}/{path.relative_to(folder).as_posix()}", path


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replaced(path: Path, data: bytes, *, sync: bool = True) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        _written(part, data, sync=sync)
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if sync:
        _synced(path.parent)


def _written(path: Path, data: bytes, *, sync: bool = True) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def _synced(folder: Path) -> None:
    """A new name is on the disk only once its folder is."""
    with suppress(OSError):  # some file systems do not sync folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
