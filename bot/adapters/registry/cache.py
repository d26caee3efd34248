"""Answers of registries on disk, so that a second scan asks only whether anything changed.

For each URL and identity a body and a note that says how to ask whether it still holds; both are checked against their
SHA-256 whenever they are read. What cannot be read, has another form or does not fit is as if it were not there, and so is
a folder or file that others can write to: a note of theirs could put their image under our tag.
Nothing that opens a door is written: no token, no password, no query beyond the place in a tag listing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.adapters.http import Answer, plain
from bot.adapters.store import Store
from bot.images.reference import valid_digest

FORMAT = 1
MAX_BYTES = 64_000_000
MAX_BODY, MAX_NOTE = 8_000_000, 16_384
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
_PLACE = re.compile(r"[^?#]*(?:\?(?:(?:n|last)=[A-Za-z0-9_.%-]{1,300}(?:&|$))*)?")
_NEXT = re.compile(r'\s*<([^<>]{1,2048})>\s*;\s*rel\s*=\s*"?next"?\s*')


class _Note(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: str
    identity: str
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
    """One folder, shared with other processes. `close` ends each question; what was kept in it is on disk only then."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._store = Store(folder / f"registry-{FORMAT}" / "answers.sqlite", form=FORMAT, max_bytes=max_bytes,
                            max_row=MAX_BODY + MAX_NOTE)

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
        note = _Note(url=plain(url), identity=identity, at=at, media=answer.headers.get("content-type", "")[:200], link=link,
                     digest=digest if valid_digest(digest) else "", etag=etag if direct and _ETAG.fullmatch(etag) else "")
        self._store.put(_place(url, identity), msgspec.json.encode(note), answer.body)

    def touch(self, url: str, kept: Kept) -> None:
        """Says that an answer was of use, so that others go first."""
        self._store.use(_place(url, kept.identity))

    def close(self) -> None:
        """Ends a question: writes what it kept, removes what was of no use for the longest time where there is too much, and
        lets go of the folder. The next question may come from another thread."""
        self._store.close()

    def _find(self, url: str, identity: str) -> Kept | None:
        found = self._store.get(_place(url, identity))
        if found is None:
            return None
        try:
            note = msgspec.json.decode(found[0], type=_Note)
        except ValueError:
            return None
        if (note.url, note.identity) != (plain(url), identity):
            return None
        etag = note.etag if _ETAG.fullmatch(note.etag) else ""
        digest = note.digest if valid_digest(note.digest) else ""
        headers = {"content-type": note.media, "docker-content-digest": digest, "link": note.link}
        answer = Answer(url=url, status=200, headers={name: told for name, told in headers.items() if told}, body=found[1])
        return Kept(answer=answer, identity=identity, at=note.at, validator=etag or (digest and f'"{digest}"'))


def _place(url: str, identity: str) -> int:
    """A number for the two, of 64 bits; two that share one put each other out, since the note says whose it is."""
    return int.from_bytes(hashlib.sha256(f"{identity}\n{url}".encode()).digest()[:8], "big", signed=True)
