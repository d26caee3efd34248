"""Answers of registries on disk, so that a second scan asks only whether anything changed.

A body lies under its SHA-256 and is checked again whenever it is read; beside it lies a note for each URL and identity that
says which body it was and how to ask whether it still is. What cannot be read, has another form or does not fit is as if it
were not there, and so is a folder that others can write to: a note of theirs could put their image under our tag.
Nothing that opens a door is written: no token, no password, no query beyond the place in a tag listing.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.adapters.http import Answer, plain
from bot.images.reference import valid_digest

FORMAT = 1
MAX_BYTES = 64_000_000
MAX_BODY, MAX_NOTE = 8_000_000, 16_384
# What a file takes at least; ten thousand notes of a line each are not nothing.
_BLOCK = 4096
# After trimming, so that the next answers do not trim again.
_AFTER_TRIM = 0.75
_HEX = re.compile(r"[0-9a-f]{64}")
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
_PLACE = re.compile(r"[^?#]*(?:\?(?:(?:n|last)=[A-Za-z0-9_.%-]{1,300}(?:&|$))*)?")
_NEXT = re.compile(r'\s*<([^<>]{1,2048})>\s*;\s*rel\s*=\s*"?next"?\s*')


class _Note(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    url: str
    identity: str
    body: str
    at: float
    media: str = ""
    digest: str = ""
    etag: str = ""
    link: str = ""


class Kept(Struct, frozen=True, kw_only=True):
    """An answer as it was given to `identity` at a moment (epoch seconds); `validator` asks whether it still holds, "" where
    the registry gave nothing to ask with."""

    answer: Answer
    identity: str
    at: float
    validator: str


class Cache:
    """One folder, shared with other processes: files appear whole or not at all, and one that vanishes is not there."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max = folder / f"registry-{FORMAT}", max_bytes
        self._usable: bool | None = None
        self._written = 0

    def find(self, url: str, identities: Iterable[str]) -> Kept | None:
        """What was answered to the first of these identities that has an answer here."""
        return next((kept for identity in dict.fromkeys(identities) if (kept := self._find(url, identity))), None)

    def keep(self, url: str, identity: str, answer: Answer, at: float) -> None:
        """Keeps a 200; silently nothing where it cannot be kept, since a full disk is no reason to answer nobody."""
        link, etag = answer.headers.get("link", ""), answer.headers.get("etag", "")
        place = _NEXT.fullmatch(link)
        if answer.status != 200 or len(answer.body) > MAX_BODY or not _PLACE.fullmatch(url):
            return
        if link and not (place and _PLACE.fullmatch(place[1])):
            return  # the way to the next page is somebody's secret, or none that we understand
        direct = answer.url == url
        digest = answer.headers.get("docker-content-digest", "")
        note = _Note(format=FORMAT, url=plain(url), identity=identity, body=hashlib.sha256(answer.body).hexdigest(), at=at,
                     media=answer.headers.get("content-type", "")[:200], link=link,
                     digest=digest if valid_digest(digest) else "", etag=etag if direct and _ETAG.fullmatch(etag) else "")
        with suppress(OSError):
            if self._ready():
                self._put(self._body(note.body), answer.body)
                self._put(self._place(url, identity), msgspec.json.encode(note))

    def touch(self, url: str, kept: Kept) -> None:
        """Says that an answer was of use, so that others go first."""
        with suppress(OSError):
            os.utime(self._place(url, kept.identity))
            os.utime(self._body(hashlib.sha256(kept.answer.body).hexdigest()))

    def trim(self) -> None:
        """Removes what was of no use for the longest time where the folder has grown too large; only after a `keep`."""
        if not self._written:
            return
        self._written, files = 0, []
        with suppress(OSError):
            for place in (self._folder / "notes", self._folder / "bodies"):
                for entry in os.scandir(place):
                    with suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        files.append((found.st_mtime, max(found.st_size, _BLOCK), entry.path))
        total = sum(size for _, size, _ in files)
        if total <= self._max:
            return
        for _, size, path in sorted(files):
            if total <= self._max * _AFTER_TRIM:
                break
            with suppress(OSError):
                os.unlink(path)
            total -= size

    def _find(self, url: str, identity: str) -> Kept | None:
        try:
            if not self._ready():
                return None
            note = msgspec.json.decode(_read(self._place(url, identity), MAX_NOTE), type=_Note)
            if (note.format, note.url, note.identity) != (FORMAT, plain(url), identity) or not _HEX.fullmatch(note.body):
                return None
            body = _read(self._body(note.body), MAX_BODY)
        except (OSError, ValueError):
            return None
        if hashlib.sha256(body).hexdigest() != note.body:
            with suppress(OSError):
                self._body(note.body).unlink()
            return None
        etag = note.etag if _ETAG.fullmatch(note.etag) else ""
        digest = note.digest if valid_digest(note.digest) else ""
        headers = {"content-type": note.media, "docker-content-digest": digest, "link": note.link}
        answer = Answer(url=url, status=200, headers={name: told for name, told in headers.items() if told}, body=body)
        return Kept(answer=answer, identity=identity, at=note.at, validator=etag or (digest and f'"{digest}"'))

    def _ready(self) -> bool:
        """Whether the folder is there and nobody else's; looked at once."""
        if self._usable is None:
            self._usable = False
            for place in (self._folder, self._folder / "notes", self._folder / "bodies"):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                found = place.stat()
                if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                    return False
            self._usable = True
        return self._usable

    def _put(self, place: Path, content: bytes) -> None:
        handle, path = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(path, place)
        except OSError:
            with suppress(OSError):
                os.unlink(path)
            raise
        self._written += max(len(content), _BLOCK)
        if self._written > self._max // 4:
            self.trim()

    def _place(self, url: str, identity: str) -> Path:
        return self._folder / "notes" / hashlib.sha256(f"{identity}\n{url}".encode()).hexdigest()

    def _body(self, name: str) -> Path:
        return self._folder / "bodies" / name


def _read(place: Path, limit: int) -> bytes:
    with open(place, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{place}: longer than anything kept here")
    return content
