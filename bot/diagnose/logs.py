"""Streams of lines from what a job uploaded: plain logs, and the archives they come in, opened under limits.

Nothing is written to disk and no name is followed: links, devices, absolute paths and paths that climb are left out and
said so (SECURITY.md rule 12). Archives are read as they come; an archive bomb ends as BadInput, not as memory.
"""

from __future__ import annotations

import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

from bot.errors import BadInput

LINE_LIMIT = 64 * 1024
_CHUNK = 1 << 18
_TAR = (".tar.gz", ".tgz", ".tar", ".tar.xz", ".txz")
# Data beside the logs: answers of an eval quote every error there is.
_DATA = re.compile(
    r"\.(?:jsonl?|csv|tsv|parquet|png|jpe?g|svg|pdf|html?|ya?ml|toml|py|so|whl|np[yz]|pt|bin|safetensors|pkl|db|pb|nsys-rep)$",
    re.IGNORECASE,
)


# NotImplementedError is a RuntimeError: an encrypted member, a method that zipfile does not know.
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError, RuntimeError, ValueError)


def _broken(error: Exception, name: str) -> BadInput:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return BadInput(f"not a whole archive: {reason}", "fetch it again", file=name)


class Limits(Struct, frozen=True, kw_only=True):
    """What one call may unpack: bytes in all, entries in all, archives inside archives, and bytes out per byte in."""

    bytes: int = 4 << 30
    entries: int = 20_000
    depth: int = 3
    ratio: int = 400
    ratio_from: int = 32 << 20


class Line(Struct, frozen=True):
    """One line of a log. `number` counts from 1; `cut` when only its first 64 KiB are here."""

    number: int
    text: str
    cut: bool = False


class Opened:
    """The logs within some files, one after another: each stream is read before the next is asked for.

    Iterate for (name, stream); `notes` then tells what was left out and why. `everything` opens result files too.
    """

    def __init__(self, files: Iterable[tuple[str, BinaryIO]], limits: Limits = Limits(), *, everything: bool = False) -> None:
        self._files, self._limits, self._everything = files, limits, everything
        self._bytes = self._entries = 0
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        for name, stream in self._files:
            yield from self._open(name, stream, 0)

    def _open(self, name: str, stream: BinaryIO, depth: int) -> Iterator[tuple[str, BinaryIO]]:
        lower = name.lower()
        if depth > self._limits.depth:
            raise BadInput("archives inside archives, too deep", f"at most {self._limits.depth} levels are opened", file=name)
        try:
            if lower.endswith(_TAR):
                yield from self._tar(name, stream, depth)
            elif lower.endswith(".zip"):
                yield from self._zip(name, stream, depth)
            elif lower.endswith((".gz", ".xz")):
                yield from self._open(name[: -len(".gz")], self._inflate(name, stream), depth + 1)
            elif _DATA.search(name) and not self._everything:
                return
            else:
                yield name, stream
        except _BROKEN as error:
            raise _broken(error, name) from None

    def _tar(self, name: str, stream: BinaryIO, depth: int) -> Iterator[tuple[str, BinaryIO]]:
        plain = name.lower().endswith(".tar")
        source = _Metered(stream, self, name, None) if plain else self._inflate(name, stream)
        with tarfile.open(fileobj=source, mode="r|") as archive:
            for member in archive:
                self._count(name)
                if member.isdir() or not self._harmless(name, member.name, regular=member.isreg()):
                    continue
                inner = archive.extractfile(member)
                if inner is not None:
                    yield from self._open(f"{name}/{member.name.removeprefix('./')}", inner, depth + 1)

    def _zip(self, name: str, stream: BinaryIO, depth: int) -> Iterator[tuple[str, BinaryIO]]:
        source = stream if stream.seekable() else io.BytesIO(stream.read(self._limits.bytes + 1))
        with zipfile.ZipFile(source) as archive:
            for member in archive.infolist():
                self._count(name)
                link = (member.external_attr >> 16) & 0o170000 == 0o120000
                if member.is_dir() or not self._harmless(name, member.filename, regular=not link):
                    continue
                with archive.open(member) as inner:
                    metered = _Metered(inner, self, name, _Fixed(member.compress_size))
                    yield from self._open(f"{name}/{member.filename}", io.BufferedReader(metered), depth + 1)

    def _inflate(self, name: str, stream: BinaryIO) -> BinaryIO:
        counted = _Counted(stream)
        opened = lzma.open(counted) if name.lower().endswith((".xz", ".txz")) else gzip.GzipFile(fileobj=counted)
        return io.BufferedReader(_Metered(opened, self, name, counted))

    def _harmless(self, archive: str, name: str, *, regular: bool) -> bool:
        parts = name.replace("\\", "/").split("/")
        why = "a link or device" if not regular else "an absolute path" if not parts[0] or ":" in parts[0] else ""
        why = why or ("a path that climbs" if ".." in parts else "")
        if why:
            self.notes.append(f"{archive}: {why} was left out")
        return not why

    def _count(self, name: str) -> None:
        self._entries += 1
        if self._entries > self._limits.entries:
            raise BadInput("too many entries", f"at most {self._limits.entries} are read", file=name)

    def grew(self, name: str, out: int, total: int, read: int | None) -> None:
        """Called for each piece unpacked: `out` bytes now, `total` of this member, from `read` bytes of the archive."""
        self._bytes += out
        if self._bytes > self._limits.bytes:
            raise BadInput("unpacks to too much", f"at most {self._limits.bytes} bytes are read", file=name)
        if read is not None and total > self._limits.ratio_from and total > self._limits.ratio * max(read, 1):
            raise BadInput("unpacks to far more than it holds", "this looks like an archive bomb", file=name)


class _Fixed:
    def __init__(self, count: int) -> None:
        self.count = count


class _Counted(io.RawIOBase):
    """Counts what is read through it."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner, self.count = inner, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(size if size and size > 0 else _CHUNK)
        self.count += len(data)
        return data


class _Metered(io.RawIOBase):
    """Reads through, telling its owner how much came out of how much."""

    def __init__(self, inner: BinaryIO, owner: Opened, name: str, source: _Counted | _Fixed | None) -> None:
        self._inner, self._owner, self._name, self._source, self._total = inner, owner, name, source, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        try:
            data = self._inner.read(len(buffer))
        except _BROKEN as error:
            raise _broken(error, self._name) from None
        buffer[: len(data)] = data
        self._total += len(data)
        self._owner.grew(self._name, len(data), self._total, self._source.count if self._source else None)
        return len(data)


def lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a stream, as text; a line over 64 KiB is cut there, a carriage return ends a line like a newline.

    Progress bars redraw with carriage returns; memory stays bounded whatever the stream holds.
    """
    number, held, overflow = 1, bytearray(), False
    while data := stream.read(_CHUNK):
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            _take(held, data[start:end])
            yield _line(number, held, overflow or end - start > LINE_LIMIT or len(held) > LINE_LIMIT)
            number, held, overflow, start = number + 1, bytearray(), False, end + 1
        overflow = overflow or len(held) + len(data) - start > LINE_LIMIT
        _take(held, data[start:])
    if held:
        yield _line(number, held, overflow)


def _take(held: bytearray, piece: bytes) -> None:
    held += piece[: max(0, LINE_LIMIT + 1 - len(held))]


_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _line(number: int, held: bytearray, cut: bool) -> Line:
    text = bytes(held[:LINE_LIMIT]).decode("utf-8", "replace").rstrip("\r\n")
    if "\r" in text:
        text = text.rsplit("\r", 1)[1] or text.replace("\r", " ")
    if not text.isprintable():
        text = _CONTROL.sub("", _ESCAPE.sub("", text))
    return Line(number, text.rstrip(), cut)
