"""One artifact as the archive that was uploaded: never unpacked on a disk, each file once, under limits."""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from typing import BinaryIO

from bot.errors import BadInput

PACKED, UNPACKED, ENTRIES = 512 << 20, 4 << 30, 20_000
"""Bytes of an archive, of all files in it, and how many these may be."""
_CHUNK = 1 << 20
_FILE, _KINDS = 0o100000, 0o170000
# zipfile stumbles over a damaged archive in more ways than it documents; an encrypted member is a RuntimeError.
_STUMBLES = (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OverflowError, OSError, EOFError, struct.error)


class Linked(BadInput):
    """A file of the archive is a link or device, or its name leads out of it."""


class Archive:
    """The files of an archive by their names. BadInput for what is none, and for what no upload of ours holds."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self._name = name
        try:
            self._zip = zipfile.ZipFile(stream)
        except _STUMBLES as error:
            raise self._broken(error) from None
        self._members = self._checked(self._zip.infolist())

    def sums(self) -> dict[str, str]:
        """Name -> SHA-256 of each file. What is damaged shows here: every byte is read."""
        return {path: self._sum(path) for path in self._members}

    def read(self, path: str, limit: int) -> bytes | None:
        """A whole file; None when it is not there. BadInput when it holds more than `limit` bytes."""
        if path not in self._members:
            return None
        if self._members[path].file_size > limit:
            raise BadInput(f"{path} is larger than {limit} bytes", "no measurement writes that", file=self._name)
        try:
            return self._zip.read(self._members[path])
        except _STUMBLES as error:
            raise self._broken(error) from None

    def _sum(self, path: str) -> str:
        made = hashlib.sha256()
        try:
            with self._zip.open(self._members[path]) as stream:
                while piece := stream.read(_CHUNK):
                    made.update(piece)
        except _STUMBLES as error:
            raise self._broken(error) from None
        return made.hexdigest()

    def _checked(self, found: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Every file once. Sizes as they are declared: zipfile hands out no byte more."""
        if len(found) > ENTRIES or sum(member.file_size for member in found) > UNPACKED:
            raise BadInput(f"more than {ENTRIES} files or {UNPACKED} bytes", "no measurement writes that", file=self._name)
        made: dict[str, zipfile.ZipInfo] = {}
        for member in found:
            parts = member.filename.rstrip("/").split("/")
            kind = member.external_attr >> 16 & _KINDS
            if kind not in (0, _FILE) and not (member.is_dir() and kind == 0o040000):
                raise Linked("holds a link or a device", "upload files", file=self._name)
            if "\\" in member.filename or ":" in parts[0] or {"", ".", ".."} & set(parts):
                raise Linked("holds a name that leads out of it", "upload files", file=self._name)
            if member.filename in made:
                raise BadInput("holds two files of one name", "upload each once", file=self._name)
            if not member.is_dir():
                made[member.filename] = member
        return made

    def _broken(self, error: Exception) -> BadInput:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        return BadInput(f"not a whole archive: {reason}", "run the job again", file=self._name)
