"""Files of a wheel, read from the archive itself: nothing is unpacked, and what an archive could be led astray by is refused."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock

from bot.errors import BadInput, Missing

MAX_FILE = 64_000_000
MAX_ENTRIES = 60_000
MAX_DIRECTORY = 32_000_000
MAX_TOTAL, MAX_RATIO = 40_000_000_000, 300
MAX_DEPTH = 60
SUMMED = 120_000_000
# Below this an archive may be packed as tightly as it likes: an empty file repeated is no bomb.
_SMALL = 512_000_000
_END, _END_BYTES = b"PK\x05\x06", 22 + 65_535
_HINT = "name a wheel as `pip download` writes it"


class WheelTree:
    """Satisfies the Tree port over one wheel. BadInput for what is no wheel, or not one that anybody would build."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock = Path(file), Lock()
        self._sum: str | None = None
        if not self._file.is_file():
            raise Missing(f"no such file: {file}", "correct the path")
        self._check_directory()
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError, struct.error) as error:
            raise self._bad(f"not a wheel ({error})") from None
        self._entries = self._checked(self._zip.infolist())

    def read(self, path: str) -> bytes | None:
        """A file's content; BadInput for one that is damaged or larger than it says."""
        entry = self._entries.get(path)
        if entry is None:
            return None
        if entry.file_size > MAX_FILE:
            raise BadInput(f"larger than {MAX_FILE} bytes", "leave it out", file=f"{self._file.name}/{path}")
        try:
            with self._lock, self._zip.open(entry) as stream:
                data = stream.read(MAX_FILE + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
            raise self._bad(f"{path} is damaged ({error})") from None
        if len(data) != entry.file_size:
            raise self._bad(f"{path} is not as long as the archive says")
        return data

    def paths(self, prefix: str = "") -> Sequence[str]:
        return sorted(path for path in self._entries if path.startswith(prefix))

    def contents(self, paths: Collection[str]) -> Mapping[str, str]:
        """`wheel:`, the sum of the whole archive, and the path: that fixes a file's content. Nothing of a large one, for the sum
        of it costs more than to read its sources."""
        with self._lock:
            if self._sum is None and (stream := self._zip.fp) is not None and stream.seek(0, 2) <= SUMMED:
                stream.seek(0)
                self._sum = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        return {path: f"wheel:{self._sum}:{path}" for path in paths if self._sum and path in self._entries}

    def close(self) -> None:
        """Lets go of the file."""
        self._zip.close()

    def _check_directory(self) -> None:
        """Python reads the whole list of files at once, however long somebody made it."""
        with self._file.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - _END_BYTES))
            tail = stream.read()
        at = tail.rfind(_END)
        if at < 0 or len(tail) - at < 22:
            raise self._bad("not a wheel (no zip archive)")
        count, length = struct.unpack_from("<HI", tail, at + 10)
        if count > MAX_ENTRIES or length > MAX_DIRECTORY:
            raise self._bad(f"more than {MAX_ENTRIES} files in it")

    def _checked(self, infos: Sequence[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        found: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = info.filename
            steps = name.rstrip("/").split("/")
            if name.startswith("/") or "\\" in name or ":" in steps[0] or any(step in ("", ".", "..") for step in steps):
                raise self._bad(f"{name[:200]!r} leads out of the archive")
            if len(steps) > MAX_DEPTH:
                raise self._bad(f"folders deeper than {MAX_DEPTH}")
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise self._bad(f"{name[:200]!r} is a link or a device")
            if info.flag_bits & 0x1:
                raise self._bad(f"{name[:200]!r} is encrypted")
            if not info.is_dir():
                found[name] = info
        total, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
        if packed > self._file.stat().st_size or total > MAX_TOTAL or (total > _SMALL and total > MAX_RATIO * max(1, packed)):
            raise self._bad(f"it would unpack to {total} bytes from {packed}")
        return found

    def _bad(self, reason: str) -> BadInput:
        return BadInput(reason, _HINT, file=str(self._file))
