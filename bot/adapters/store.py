"""Rows in one SQLite file, shared with other processes: a note and a body under a number, and when they were last of use.

Writes wait in memory and go in together at the end of a question, so that nobody holds the file while a registry thinks.
Whatever is wrong with the file (missing, broken, locked, of another form, somebody else's, a full disk) only means that
there are no rows; a broken one is replaced. Nothing is synced to the disk, since a lost row costs one question. The journal
is SQLite's own, a file: with one in memory 14 of 60 writers killed at work left a broken database, and of 1200 that began at
once with write-ahead logging 3 found it locked; this one lost none. A row carries a SHA-256 of all that it says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")

# "bump" in the header of the file: whose it is, so that a database of somebody else's is let alone.
APPLICATION = 0x62756D70
# How long another process may hold the file; it holds it for one write, of milliseconds.
WAIT_S = 0.2
# After trimming, so that the next answers do not trim again.
_AFTER_TRIM = 0.75
# SQLite may be built for no more than 999 values in one question.
_AT_ONCE = 500
_ENDS = ("-journal", "-wal", "-shm", "")
_FORM = """SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
FROM pragma_application_id, pragma_user_version"""
# The vacuum gives back what a trim freed. Uses lie apart, so that to say that four hundred answers were of use is a few pages.
_MAKE = """
PRAGMA auto_vacuum = FULL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answers (place INTEGER PRIMARY KEY, sum BLOB, note BLOB, body BLOB);
CREATE TABLE IF NOT EXISTS uses (place INTEGER PRIMARY KEY, used INTEGER, size INTEGER);
PRAGMA application_id = {application};
PRAGMA user_version = {form};
COMMIT;
"""


class Store:
    """`form` is the version of what is written; `max_bytes` bounds the file, `max_row` what is read of it at once.
    Used from one thread between two calls of `close`."""

    def __init__(self, file: Path, *, form: int, max_bytes: int, max_row: int) -> None:
        self._file, self._form, self._max, self._max_row = file, form, max_bytes, max_row
        self._db: Connection | None = None
        self._off = False  # for the rest of a question: a locked file is waited for once
        self._rows: dict[int, tuple[bytes, bytes, bytes]] = {}
        self._uses: dict[int, None] = {}  # least lately used first
        self._waiting = 0

    def get(self, place: int) -> tuple[bytes, bytes] | None:
        """Note and body as they were put there, or None."""
        row = self._rows.get(place) or self._with(lambda db: self._row(db, place))
        return row[1:] if row else None

    def many(self, places: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        """As `get`, of those that there are: ten thousand questions cost more than their answers."""
        found = {place: row[1:] for place in places if (row := self._rows.get(place))}
        left = [place for place in places if place not in found]
        for at in range(0, len(left), _AT_ONCE):
            some = left[at:at + _AT_ONCE]
            found |= self._with(lambda db, some=some: self._several(db, some)) or {}  # type: ignore[misc]
        return found

    def put(self, place: int, note: bytes, body: bytes) -> None:
        """Takes the place of what was there."""
        self._rows[place] = (checksum(note, body), note, body)
        self.use(place)
        self._waiting += len(note) + len(body)
        if self._waiting > self._max // 4:
            self._save()

    def use(self, place: int) -> None:
        """Says that this was of use last; what was of none for the longest time goes first."""
        self._uses.pop(place, None)
        self._uses[place] = None

    def close(self) -> None:
        """Writes what waits and lets go of the file; the next call looks at it anew."""
        try:
            self._save()
        finally:
            self._disconnect()
            self._off = False

    def _row(self, db: Connection, place: int) -> tuple[bytes, bytes, bytes] | None:
        row = db.execute("SELECT sum, note, body FROM answers WHERE place = ? AND length(note) + length(body) <= ?",
                         (place, self._max_row)).fetchone()
        return row if row and row[0] == checksum(*row[1:]) else None

    def _several(self, db: Connection, places: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        marks = ", ".join("?" * len(places))
        rows = db.execute("SELECT place, sum, note, body FROM answers "
                          f"WHERE place IN ({marks}) AND length(note) + length(body) <= ?", (*places, self._max_row))
        return {place: (note, body) for place, sum_, note, body in rows if sum_ == checksum(note, body)}

    def _save(self) -> None:
        if self._uses:
            self._off = False  # a broken file is gone by now, a locked one free, or waited for once more
            self._with(self._write, create=bool(self._rows))
            self._rows, self._uses, self._waiting = {}, {}, 0

    def _write(self, db: Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        # A count, no clock: whoever writes later was used later, and a clock set back makes nothing old.
        first = db.execute("SELECT coalesce(max(used), 0) + 1 FROM uses").fetchone()[0]
        db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", ((place, *row) for place, row in self._rows.items()))
        db.executemany("INSERT OR REPLACE INTO uses VALUES (?, 0, ?)",
                       ((place, len(note) + len(body)) for place, (_, note, body) in self._rows.items()))
        db.executemany("UPDATE uses SET used = ? WHERE place = ?", ((first + turn, place) for turn, place in enumerate(self._uses)))
        if self._rows and _bytes(db) > self._max:
            _trim(db, int(self._max * _AFTER_TRIM))
        db.execute("COMMIT")

    def _with(self, work: Callable[[Connection], T], *, create: bool = False) -> T | None:
        """What `work` answers; None where the file is not to be had, and then it is not tried again in this question."""
        if self._off:
            return None
        try:
            import sqlite3

            if self._db or self._connect(create):
                return work(self._db)
        except (OSError, ImportError):  # the second: a Python built without it
            pass
        except sqlite3.Error as error:
            self._disconnect()
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE)
            if code & 0xFF in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                self._remove()
        except (TypeError, OverflowError):  # a value of a kind that is never written
            self._disconnect()
            self._remove()
        self._off = True
        return None

    def _connect(self, create: bool) -> bool:
        """Opens the file where it and its folder are nobody else's and it is of our form."""
        import sqlite3

        folder = self._file.parent
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(folder, follow=True):
            return False
        if create:
            with suppress(FileExistsError):
                self._file.touch(mode=0o600, exist_ok=False)
        # SQLite would believe a journal that somebody put beside the file.
        if not self._file.exists() or not all(map(_ours, self._files())):
            return False
        self._db = sqlite3.connect(self._file, timeout=WAIT_S, isolation_level=None)
        self._db.executescript("PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;")
        form = self._db.execute(_FORM).fetchone()
        if form == (0, 0, 0) and create:
            self._db.executescript(_MAKE.format(application=APPLICATION, form=self._form))
        elif form[:2] != (APPLICATION, self._form):
            self._disconnect()
        return self._db is not None

    def _files(self) -> list[Path]:
        return [self._file.with_name(self._file.name + end) for end in _ENDS]

    def _remove(self) -> None:
        for path in self._files():
            with suppress(OSError):
                path.unlink()

    def _disconnect(self) -> None:
        if self._db:
            self._db.close()
            self._db = None


def _ours(path: Path, *, follow: bool = False) -> bool:
    """Whether nobody else owns it or can write to it; true of what is not there."""
    try:
        found = path.stat(follow_symlinks=follow)
    except FileNotFoundError:
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def checksum(note: bytes, body: bytes) -> bytes:
    """SHA-256 of the two and of where the one ends."""
    return hashlib.sha256(b"%d\n%b%b" % (len(note), note, body)).digest()


def _bytes(db: Connection) -> int:
    """What the rows take of the file."""
    pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _trim(db: Connection, limit: int) -> None:
    """Removes what was of no use for the longest time. How much room a row frees depends on its neighbours, so that it is
    measured again."""
    while (excess := _bytes(db) - limit) > 0:
        gone = []
        for place, size in db.execute("SELECT place, size FROM uses ORDER BY used"):
            gone.append((place,))
            excess -= size
            if excess <= 0:
                break
        if not gone:
            break
        db.executemany("DELETE FROM answers WHERE place = ?", gone)
        db.executemany("DELETE FROM uses WHERE place = ?", gone)
