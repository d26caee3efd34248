"""What other programs can see of the environment that we were started with, in which tokens may stand."""

from __future__ import annotations

import ctypes
import sys
import threading
from pathlib import Path

_SET_DUMPABLE = 4
_STAT = Path("/proc/self/stat")
_ENV_START = 50  # fields of proc(5)'s stat, counted from 1; the next is where it ends
_BEFORE = 2  # those before the name's closing bracket: a name may hold blanks and brackets itself
_LARGEST = 64_000_000
_lock = threading.Lock()
_moved: list[ctypes.Array[ctypes.c_char]] = []  # the C library points into these from then on


def shut() -> None:
    """From now on `/proc/<our id>/environ` is blank, to root as well, and no other program of this user may look into our
    memory. Our own environment stays what it is, to us and to what we start. Linux only, and nothing elsewhere.

    It is never opened again: a guest's program may leave a child behind in a session of its own, which no limit ends and
    which could read there later. What stays open, and no process can shut for itself: root reads any memory, and what
    started us (a shell, a runner) may hold the same variables, for every program of the same user to read.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    with _lock:
        library.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        start, end = _block()
        if 0 < end - start < _LARGEST and any(ctypes.string_at(start, end - start)):
            _move(library, start, end)
            ctypes.memset(start, 0, end - start)


def _block() -> tuple[int, int]:
    """Where the first environment lies in our memory; nowhere, where the system does not tell."""
    try:
        fields = _STAT.read_text().rpartition(")")[2].split()
        return int(fields[_ENV_START - _BEFORE - 1]), int(fields[_ENV_START - _BEFORE])
    except (OSError, ValueError, IndexError):
        return 0, 0


def _move(library: ctypes.CDLL, start: int, end: int) -> None:
    """Lets `environ`, by which getenv and exec find the variables, point to copies of those that lie in the block."""
    variables = ctypes.POINTER(ctypes.c_void_p).in_dll(library, "environ")
    at = 0
    while variables and (address := variables[at]):
        if start <= address < end:
            _moved.append(ctypes.create_string_buffer(ctypes.string_at(address)))
            variables[at] = ctypes.addressof(_moved[-1])
        at += 1
