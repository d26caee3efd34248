"""What a step of the measurement reads of a server's log: bounded, whatever stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

LINE, FILE, TAIL, SHOWN = 64 * 1024, 256 << 20, 256 * 1024, 300
"""Bytes: of a line, and of a file, the rest is not read; of a file's end, where the last words are looked for; of a line shown."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TELLING = re.compile(r"(?i)(?:error|exception|fatal|killed)\b|out of memory|address already in use|no such file|not found")


def lines(path: Path) -> Iterator[str]:
    """The lines of a file without their ends and colours, each cut at 64 KiB; none where there is no file."""
    try:
        with path.open("rb") as file:
            left = FILE
            while left > 0 and (line := file.readline(min(LINE, left))):
                left -= len(line)
                whole = line.endswith(b"\n")
                yield _plain(line)
                while not whole and left > 0 and (rest := file.readline(min(LINE, left))):
                    left -= len(rest)
                    whole = rest.endswith(b"\n")
    except OSError:
        return


def last_words(path: Path) -> str:
    """The last line that tells why a program ended, else its last line; cut for one line of a terminal, empty where none is."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            found = [line for part in file.read(TAIL).splitlines() if (line := _plain(part[:LINE]).strip())]
    except OSError:
        return ""
    telling = next((line for line in reversed(found) if _TELLING.search(line)), found[-1] if found else "")
    return telling if len(telling) <= SHOWN else f"{telling[:SHOWN]} ..."


def _plain(line: bytes) -> str:
    return _ESCAPES.sub("", line.decode("utf-8", "replace").rstrip("\r\n"))
