"""A large file worked on by several processes, each with a part of whole lines (results' port `Spread`).

JSON is read under Python's one lock: only processes use a second core. They read the file by themselves, so that no byte of
it passes through a pipe; what they say of it comes back once.
"""

from __future__ import annotations

import io
import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, BinaryIO, TypeVar, cast

T = TypeVar("T")
LEAST = 64_000_000
"""Bytes for which another process is worth its start."""
_AHEAD = 1 << 20


class Processes:
    """Up to `most` processes at once (all cores that this one may use), this one among them."""

    def __init__(self, most: int | None = None, *, least: int = LEAST) -> None:
        self._most = most or len(os.sched_getaffinity(0))
        self._least = least

    def __call__(self, stream: BinaryIO, work: Callable[[BinaryIO], T]) -> Iterable[T] | None:
        """What `work` makes of each part, in the order of the file. None for a stream that is no file on a disk, or small."""
        if not isinstance(stream, io.BufferedReader) or not isinstance(stream.raw, io.FileIO):
            return None
        file, start, end = stream.fileno(), stream.tell(), os.fstat(stream.fileno()).st_size
        count = min(self._most, (end - start) // self._least)
        if count < 2:
            return None
        cuts = [start, *(_line(file, start + (end - start) * part // count, end) for part in range(1, count)), end]
        first, *others = [(file, low, high) for low, high in zip(cuts, cuts[1:], strict=False)]
        # Forked, so that they hold the open file; they read and compute, and take no lock that another thread could hold.
        with ProcessPoolExecutor(len(others), mp_context=multiprocessing.get_context("fork")) as pool:
            asked = [pool.submit(_on, work, *part) for part in others]
            made = [_on(work, *first), *(one.result() for one in asked)]
        stream.seek(end)
        return made


def _line(file: int, at: int, end: int) -> int:
    """The first begin of a line from here on."""
    while at < end:
        ahead = os.pread(file, min(_AHEAD, end - at), at)
        found = ahead.find(b"\n")
        if found >= 0 or not ahead:
            return at + found + 1
        at += len(ahead)
    return end


def _on(work: Callable[[BinaryIO], T], file: int, start: int, end: int) -> T:
    return work(cast(BinaryIO, io.BufferedReader(_Part(file, start, end))))


class _Part(io.RawIOBase):
    """Bytes of an open file, read without moving its position, which other processes share."""

    def __init__(self, file: int, start: int, end: int) -> None:
        self._file, self._at, self._end = file, start, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._end - self._at]
        count = os.preadv(self._file, [view], self._at) if len(view) else 0
        self._at += count
        return count
