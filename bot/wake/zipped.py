"""A zip file whose bytes follow from its content: members in the order of their names, one fixed date, no links, and limits.

Written as it comes: of a member no more than a piece is held at a time.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from bot.errors import BadInput

SUMS = "SHA256SUMS"
_DATE = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 20
_LINK, _KIND = 0o120000, 0o170000
_ODD = re.compile(r"[^A-Za-z0-9._+=,@-]+")
# Windows takes no path over 260 letters; what is longer keeps its beginning.
_PART, _PATH = 120, 240
# zipfile has more ways to stumble over a damaged archive than it documents.
STUMBLES = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, RuntimeError, ValueError, OverflowError, EOFError,
            OSError)


class Full(Exception):
    """No room is left for this: more bytes, or more files, than one archive may hold."""


class Zipped:
    """An archive on its way. `files` and `size` (bytes, unpacked) are what it holds so far; `under` tells both of one folder."""

    def __init__(self, into: BinaryIO, *, most: int, entries: int) -> None:
        self._zip = zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED)
        self._most, self._entries = most, entries
        self._sums: dict[str, tuple[str, int]] = {}
        self._folded: set[str] = set()

    @property
    def files(self) -> int:
        return len(self._sums)

    @property
    def size(self) -> int:
        return sum(size for _, size in self._sums.values())

    def under(self, folder: str) -> tuple[int, int]:
        """Files and bytes below a folder."""
        sizes = [size for name, (_, size) in self._sums.items() if name.startswith(f"{folder}/")]
        return len(sizes), sum(sizes)

    def add(self, name: str, data: bytes, *, limited: bool = False) -> None:
        """One file whole; a `limited` one is Full where there is no room for it, our own have it always."""
        if limited:
            self._room(len(data), 1)
        self._write(self._free(name), iter((data,)))

    def unpack(self, folder: str, archive: BinaryIO) -> int:
        """The files of an archive below a folder, as many as are no links and lead nowhere else; how many were left out.

        BadInput for what is no whole archive, Full where there is no room: nothing of it was taken then.
        """
        try:
            with zipfile.ZipFile(archive) as found:
                members = [one for one in found.infolist() if not one.is_dir()]
                taken = sorted((one for one in members if _harmless(one)), key=lambda one: one.filename)
                self._room(sum(one.file_size for one in taken), len(taken))
                if (bad := found.testzip()) is not None:
                    raise BadInput(f"a damaged file: {bad[:80]!r}", "fetch it again")
                for one in taken:
                    with found.open(one) as inner:
                        self._write(self._free(f"{folder}/{_path(one.filename)}"), _pieces(inner))
                return len(members) - len(taken)
        except STUMBLES as error:
            raise BadInput(f"not a whole archive: {error}", "fetch it again") from None

    def abandon(self) -> None:
        """Nothing more is written: what it was written into is thrown away."""
        self._zip.fp = None

    def close(self) -> None:
        """Writes the sums of all that it holds, and the list of its files in the order of their names."""
        told = "".join(f"{digest}  {name}\n" for name, (digest, _) in sorted(self._sums.items()))
        self._write(SUMS, iter((told.encode(),)))
        self._zip.filelist.sort(key=lambda one: one.filename)
        self._zip.close()

    def _room(self, size: int, files: int) -> None:
        if self.size + size > self._most or self.files + files > self._entries:
            raise Full

    def _free(self, name: str) -> str:
        """A name that no other member has, not even on a disk that takes capitals for small letters."""
        made, number, (stem, dot, end) = name, 1, name.rpartition(".")
        while made.casefold() in self._folded:
            number += 1
            made = f"{stem}~{number}.{end}" if dot and "/" not in end else f"{name}~{number}"
        self._folded.add(made.casefold())
        return made

    def _write(self, name: str, pieces: Iterator[bytes]) -> None:
        entry = zipfile.ZipInfo(name, _DATE)
        entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
        digest, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                size += len(piece)
        self._sums[name] = digest.hexdigest(), size


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def _harmless(member: zipfile.ZipInfo) -> bool:
    """No link, no device, no absolute path and none that climbs (SECURITY.md rule 12)."""
    kind = (member.external_attr >> 16) & _KIND
    parts = member.filename.replace("\\", "/").split("/")
    return kind in (0, 0o100000) and bool(parts[0]) and ":" not in parts[0] and ".." not in parts


def _path(name: str) -> str:
    """A path that any disk takes: what a job's author named otherwise keeps what can be kept of it."""
    parts = [_ODD.sub("-", part)[:_PART].rstrip(".") or "-" for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)[-_PATH:].lstrip("/") or "-"
