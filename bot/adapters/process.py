"""Other programs, run without a shell, under limits of time and of output."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from bot.errors import BadInput, Missing, Unreachable

_CHUNK = 65_536
_GRACE_S = 5.0
_HELD_S, _LOOK_S = 1.0, 0.05
# Programs that one run may have going at once, looked at each second. A git that fetches what it lacks by a git that lacks the same
# had 3,473 of itself after nine minutes, and its time was not up.
MOST, _COUNT_S = 128, 1.0


class LocalProcess:
    """Satisfies the Process port. `out_limit`, `err_limit` and `memory` are bytes (the last of address space, where the
    system can limit another program's); `path` is the PATH programs are found on."""

    def __init__(self, *, path: str | None = None, out_limit: int = 256_000_000, err_limit: int = 4_000_000,
                 memory: int | None = None) -> None:
        self._path = os.environ.get("PATH", os.defpath) if path is None else path
        self._out_limit, self._err_limit, self._memory = out_limit, err_limit, memory

    def run(self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
            limit_s: float = 60.0, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, stdout, stderr; the environment is exactly `env` plus PATH.

        Once the program itself has ended, what it left behind may hold its outputs open for a second: all of its session is
        killed then, as it is past the limits. What has made a session of its own lives on, and is not waited for.

        Raises Missing when there is no such program, Unreachable past `limit_s` seconds or `MOST` programs at once, BadInput past
        the output limits.
        """
        child = self._start(argv, cwd, env or {})
        _bound(child, self._memory)
        too_much, crowd = threading.Event(), threading.Event()
        out, err = bytearray(), bytearray()
        try:
            threads = [
                *_fed(child, stdin),
                _spawn(_drain, child.stdout, out, self._out_limit, too_much, child),
                _spawn(_drain, child.stderr, err, self._err_limit, too_much, child),
            ]
            late = not _ended(child, threads, limit_s, crowd)
        finally:  # also when a signal is raised while it is waited for
            _kill(child)
        _joined(threads, time.monotonic() + (_GRACE_S if late else _HELD_S))
        if too_much.is_set():
            raise BadInput(f"{argv[0]} wrote more than {self._out_limit} bytes", "look at what it was asked for")
        if crowd.is_set():
            raise Unreachable(f"{argv[0]} started more than {MOST} programs at once and was ended", "look at what it was asked of")
        if late:
            raise Unreachable(f"{argv[0]} did not end within {limit_s:g} s", "a later wake tries again")
        return child.returncode, bytes(out), bytes(err)

    def _start(self, argv: Sequence[str], cwd: Path | None, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                list(argv), cwd=cwd, env={"PATH": self._path, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True)
        except FileNotFoundError as error:
            what = "folder" if cwd is not None and not Path(cwd).is_dir() else "program"
            raise Missing(f"no such {what}: {error.filename}", "install it or correct the name") from None
        except (NotADirectoryError, PermissionError) as error:
            raise Missing(f"cannot run {argv[0]}: {error.strerror}", "look at its permissions") from None


def _bound(child: subprocess.Popen[bytes], memory: int | None) -> None:
    """Set from here and not between fork and exec, where a process with threads may do next to nothing."""
    if memory is not None and hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(child.pid, resource.RLIMIT_AS, (memory, memory))


def _spawn(work, *args) -> threading.Thread:
    thread = threading.Thread(target=work, args=args, daemon=True)
    thread.start()
    return thread


def _fed(child: subprocess.Popen[bytes], stdin: bytes) -> list[threading.Thread]:
    """Most programs are given nothing: those need no thread to give it."""
    if stdin:
        return [_spawn(_feed, child.stdin, stdin)]
    if child.stdin is not None:
        child.stdin.close()
    return []


def _feed(pipe: IO[bytes], data: bytes) -> None:
    # A program may end without reading all of its input; that is its exit code's matter, not an error of ours.
    try:
        pipe.write(data)
        pipe.close()
    except (BrokenPipeError, ValueError, OSError):
        pass


def _drain(pipe: IO[bytes], into: bytearray, limit: int, too_much: threading.Event, child: subprocess.Popen) -> None:
    while chunk := pipe.read1(_CHUNK):  # type: ignore[attr-defined]
        into += chunk
        if len(into) > limit:
            too_much.set()
            _kill(child)
            break
    pipe.close()


def _ended(child: subprocess.Popen, threads: Sequence[threading.Thread], limit_s: float, crowd: threading.Event) -> bool:
    """Whether the program ended in time, and without a crowd of others. A grandchild may hold its outputs open after it, for as
    long as `_HELD_S`: a generator that left one behind took an edit 155 s."""
    until, count = time.monotonic() + limit_s, time.monotonic() + _COUNT_S
    # Its closed outputs tell that it is ending: a wait with a limit polls, and cost 10 ms a call, 1,300 calls a rehearsal.
    while not _joined(threads, min(until, time.monotonic() + _LOOK_S)):
        if child.poll() is not None:
            _joined(threads, min(until, time.monotonic() + _HELD_S))
            return True
        if time.monotonic() >= count:
            count = time.monotonic() + _COUNT_S
            if _beside(child.pid) > MOST:
                crowd.set()
        if crowd.is_set() or time.monotonic() >= until:
            return False
    try:
        child.wait(max(0.001, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _beside(session: int) -> int:
    """How many programs run in a session; 0 where the system does not tell."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            found += file.read_text().rpartition(")")[2].split()[3] == str(session)
    return found


def _joined(threads: Sequence[threading.Thread], until: float) -> bool:
    """Whether all of the threads have ended by then, on the monotonic clock."""
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def _kill(child: subprocess.Popen) -> None:
    """Ends the whole session that `run` started: git leaves helpers behind that would keep the pipes open."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    if child.poll() is None:
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
