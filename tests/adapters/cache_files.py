"""The file that the registry adapter keeps answers in, as somebody finds it who opens it by hand."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.adapters.store import checksum
from tests.adapters.fake_registry import document


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def database(folder: Path) -> Path:
    return folder / "registry-1" / "answers.sqlite"


def sql(folder: Path, statement: str, *values) -> list[tuple]:
    """What one statement answers when somebody opens the file by hand."""
    with closing(sqlite3.connect(database(folder), isolation_level=None)) as db:
        return db.execute(statement, values).fetchall()


def rows(folder: Path) -> dict[int, tuple[dict, bytes]]:
    return {place: (json.loads(note), body) for place, note, body in sql(folder, "SELECT place, note, body FROM answers")}


def plant(folder: Path, place: int, note: dict, body: bytes) -> None:
    """A row that its own checksum confirms."""
    told = document(note)
    sql(folder, "UPDATE answers SET sum = ?, note = ?, body = ? WHERE place = ?", checksum(told, body), told, body, place)
