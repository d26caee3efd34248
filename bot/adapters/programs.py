"""Programs that keep running beside this one, each under a guardian that ends it when this process ends."""

from __future__ import annotations

import marshal
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bot.adapters import guardian
from bot.adapters.process import LocalProcess
from bot.errors import Missing

_LATER_S = guardian.REST_S + guardian.LAST_S + 5.0
_RUNNING: set[Started] = set()
"""Held here, since a program must not end because nobody keeps its handle."""


class LocalPrograms(LocalProcess):
    """Satisfies the Programs port: `run` is LocalProcess's, `start` puts a guardian over what it starts."""

    bounds = (guardian.KEPT, guardian.HEAD, guardian.TAIL)
    """Bytes that a log may have at most, and of its beginning and its end what is kept of a larger one."""

    def found(self, name: str) -> bool:
        """Whether a program of this name is on the PATH, or is there under this path."""
        return shutil.which(name, path=self._path) is not None

    def start(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str], cwd: Path | None = None) -> Started:
        """The program, started: a session of its own, no input, both outputs appended to `log`, the environment exactly `env`
        plus PATH. Missing when there is no such program or folder, or it cannot be executed."""
        heard, said = os.pipe()
        over: subprocess.Popen[bytes] | None = None
        order = {"argv": list(argv), "env": {"PATH": self._path, **env}, "cwd": None if cwd is None else str(cwd),
                 "log": self.bounds}
        told = marshal.dumps(order)
        try:
            with log.open("ab") as file:
                over = subprocess.Popen(
                    [sys.executable, "-I", "-S", guardian.__file__, str(said)], stdin=subprocess.PIPE, stdout=file,
                    stderr=file, env={}, pass_fds=(said,), start_new_session=True)
            os.close(said)
            said = -1
            return Started(over, heard, len(told).to_bytes(4, "big") + told, argv[0])
        except BaseException:  # a signal may raise anywhere here, and what was started is nobody's yet
            if said >= 0:
                os.close(said)
            _let_go(over, heard)
            raise


def _let_go(over: subprocess.Popen[bytes] | None, heard: int) -> None:
    """Leaves a program that nobody has a handle of to its guardian, and waits until that has ended it."""
    if over is None:
        os.close(heard)
        return
    with suppress(OSError, ValueError):
        assert over.stdin is not None
        over.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        over.wait(guardian.ORPHANED_S + _LATER_S)
    if over.poll() is None:
        over.kill()
        over.wait()


class Started:
    """Satisfies the Running port; safe to ask from several threads."""

    def __init__(self, over: subprocess.Popen[bytes], heard: int, order: bytes, name: str) -> None:
        self._over, self._lock = over, threading.Lock()
        self._code: int | None = None
        self._status = os.fdopen(heard, "rb")
        self._tell(order)
        word, _, rest = self._status.readline().decode().strip().partition(" ")
        if word != "pid":
            self._tell(b"stop 0\n")
            self._close()
            over.wait()
            raise Missing(f"cannot run {name}: {rest or 'its guardian ended'}", "install it or correct the name")
        self.pid = int(rest)
        _RUNNING.add(self)

    def ended(self) -> int | None:
        """Its exit code once it and all that it left behind have ended (negative: the signal); None while it runs."""
        with self._lock:
            if self._code is None and self._over.poll() is not None:
                self._code = self._read()
            return self._code

    def interrupt(self) -> None:
        """SIGINT to the program itself, if it still runs; nothing is waited for."""
        if self.ended() is None:
            self._tell(b"interrupt\n")

    def stop(self, grace_s: float = 10.0) -> int:
        """Asks the session to end, and kills the program and every descendant after `grace_s` seconds; its exit code."""
        code = self.ended()
        if code is not None:
            return code
        self._tell(f"stop {max(0.0, grace_s)}\n".encode())
        with suppress(subprocess.TimeoutExpired):
            self._over.wait(grace_s + _LATER_S)
        if self._over.poll() is None:  # stopped itself, or the system stands still: then at least its session ends
            self._over.kill()
            self._over.wait()
        return self.ended() or 0

    def _tell(self, line: bytes) -> None:
        with suppress(BrokenPipeError, ValueError, OSError):
            assert self._over.stdin is not None
            self._over.stdin.write(line)
            self._over.stdin.flush()

    def _read(self) -> int:
        word, _, code = self._status.readline().decode().strip().partition(" ")
        self._close()
        if word == "ended":
            return int(code)
        # Somebody killed the guardian: the kernel has killed the program with it, and its session is ended here.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        return -signal.SIGKILL

    def _close(self) -> None:
        _RUNNING.discard(self)
        self._status.close()
        with suppress(BrokenPipeError, OSError):
            assert self._over.stdin is not None
            self._over.stdin.close()
