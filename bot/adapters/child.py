"""What a surveying child process runs: it takes files on its standard input, surveys each, and answers on its standard output.

It holds nothing but the surveys, gets no environment, and limits itself before it reads the first byte: memory, time of the
processor, no new files. One answer a file, in order; `None` for a file that could not be read, with the reason's kind.
"""

from __future__ import annotations

import gc
import resource
import struct
import sys
import warnings
from typing import Any, BinaryIO

import msgspec

from bot.upstream.surveys import SURVEYS

HEAD = struct.Struct(">I")
MEMORY = 1_600_000_000
CPU_S = 900
LARGEST = 256_000_000
"""Bytes of one message."""


def serve(memory: int = MEMORY) -> None:
    """Answers until its input ends. `memory` is the address space that it may take, in bytes."""
    _limit(memory)
    warnings.simplefilter("ignore")  # escapes in other people's strings are no matter of ours
    gc.disable()
    taken, given = sys.stdin.buffer, sys.stdout.buffer
    while (message := receive(taken)) is not None:
        name, path, data = msgspec.msgpack.decode(message, type=tuple[str, str, bytes])
        send(given, msgspec.msgpack.encode(_surveyed(name, path, data)))
        gc.collect(0)


def _surveyed(name: str, path: str, data: bytes) -> tuple[str, Any]:
    """`ok` and the result, or why there is none: `unread` for good, `limit` here and now."""
    try:
        return "ok", SURVEYS[name].read(data, path)
    except (MemoryError, RecursionError):
        return "limit", None
    except Exception:  # whatever a parser makes of bytes that nobody vouches for: the file is unknown
        return "unread", None


def _limit(memory: int) -> None:
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, CPU_S), (resource.RLIMIT_FSIZE, 0),
                       (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def send(stream: BinaryIO, message: bytes) -> None:
    """One message, its length first."""
    stream.write(HEAD.pack(len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message; None where there is no other, or none that is whole."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    size = HEAD.unpack(head)[0]
    message = stream.read(size) if size <= LARGEST else b""
    return message if len(message) == size else None
