"""What stands over a program that keeps running, so that it ends when whoever started it does, however that ends.

Run as a program of its own (this file, by path: it starts in a hundredth of a second and imports nothing of ours). Its standard
input is held open by the starter alone: a first message says what to run, `stop SECONDS` ends it, `interrupt` is its Ctrl-C, and
the end of the input is the starter's own end, which a SIGKILL cannot hide. The kernel's death signal would reach one program
only, when the *thread* that started it ends, and never the workers that a server put into sessions of their own; here every
orphan of the program comes back to this process, which ends them all. It also bounds what they print: a server that printed
without end filled the disk with 771 MB in 13 s.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import signal
import stat
import sys
import time
from contextlib import suppress

ORPHANED_S, REST_S, LAST_S, LOOK_S = 5.0, 1.0, 5.0, 1.0
"""Seconds: the grace when the starter is gone; what a program left behind has to end by itself; the wait for the killed."""
KEPT, HEAD, TAIL = 256 << 20, 64 << 20, 64 << 20
"""Bytes: of a log at most, looked at now and then; and of its beginning and its end, which are kept of a larger one."""
BOUND_S, _LINE, _FAST = 0.25, 65_536, 4 << 20
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_LINUX = sys.platform.startswith("linux")


def main() -> None:
    """Runs what it is told, and tells on the file descriptor of its argument: `pid N` or `missing WORDS`, then `ended CODE`."""
    status = int(sys.argv[1])
    os.set_inheritable(status, False)
    control = _Control()
    told = control.first()
    if told is None:
        return
    if _LINUX:
        _prctl(_SUBREAPER, 1)
    order = marshal.loads(told)
    pid, fault = _started(order)
    _say(status, f"missing {fault}" if fault else f"pid {pid}")
    if not fault:
        _say(status, f"ended {_watched(pid, control, order['log'])}")


def _say(status: int, words: str) -> None:
    """To the starter, who may be gone: a signal that met it between the start and the answer left a server running once, since
    the guardian died of the answer that nobody read."""
    with suppress(OSError):
        os.write(status, f"{words}\n".encode())


class _Control:
    """The starter's words, and whether it is still there."""

    def __init__(self) -> None:
        self._held, self.open, self._parent = b"", True, os.getppid()

    def first(self) -> bytes | None:
        """What to run, its length in four bytes before it; None when the starter ended before it said so."""
        while len(self._held) < 4 or len(self._held) < 4 + int.from_bytes(self._held[:4], "big"):
            more = os.read(0, 65_536)
            if not more:
                return None
            self._held += more
        size = 4 + int.from_bytes(self._held[:4], "big")
        first, self._held = self._held[4:size], self._held[size:]
        return first

    def grace(self, pid: int) -> float | None:
        """Seconds until the program must have ended, if that was said since; 5 s once nobody is left to say it. `interrupt` is
        done here: the program is not buried yet, so that its id is no other's."""
        if self.open and (self._held or select.select([0], [], [], 0)[0]):
            more = os.read(0, 65_536)
            self.open = bool(more)
            self._held += more
        *lines, self._held = self._held.split(b"\n")
        for line in lines:
            if line == b"interrupt":
                _signal(pid, signal.SIGINT)
        asked = [float(line.split()[1]) for line in lines if line.startswith(b"stop ")]
        # A process that was forked from the starter may hold the pipe open after it: the parent tells that it is gone.
        gone = not self.open or os.getppid() != self._parent
        return min(asked) if asked else ORPHANED_S if gone else None


def _started(order: dict) -> tuple[int, str]:
    """The program's id, in a session of its own; or why it cannot be run. This process has one thread, so that it may fork."""
    heard, said = os.pipe()
    guardian, pid = os.getpid(), os.fork()
    if pid == 0:
        try:
            os.setsid()
            if _LINUX:
                _prctl(_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != guardian:
                os._exit(127)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what is ignored stays so
                signal.signal(number, signal.SIG_DFL)
            if order["cwd"] is not None:
                os.chdir(order["cwd"])
            os.execvpe(order["argv"][0], order["argv"], order["env"])
        except OSError as error:
            os.write(said, f"{error.strerror}".encode())
        finally:
            os._exit(127)
    os.close(said)
    fault = os.read(heard, 1000).decode()
    os.close(heard)
    return pid, fault


def _watched(pid: int, control: _Control, limits: tuple[int, int, int]) -> int:
    """Waits for the program, ends it where that is asked, then all that it left behind; its exit code."""
    wake, awake = os.pipe()
    for end in (wake, awake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(awake, warn_on_full_buffer=False)
    asked: list[int] = []
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    for number in (signal.SIGINT, signal.SIGHUP):  # for the starter, which decides
        signal.signal(number, lambda *_: None)
    until, log = None, _Log(*limits)
    while (code := _reaped(pid)) is None:
        grace = control.grace(pid)
        if asked:
            grace = ORPHANED_S if grace is None else grace
        if grace is not None and (until is None or time.monotonic() + grace < until):
            if until is None:
                _signal(pid, signal.SIGTERM, session=True)
            until = time.monotonic() + grace
        rest = LOOK_S if until is None else until - time.monotonic()
        if rest <= 0:
            break
        select.select([wake, *([0] if control.open else [])], [], [], min(rest, LOOK_S, log.bound()))
        with suppress(BlockingIOError):
            os.read(wake, 512)
    code = _cleared(pid, code)
    log.bound()
    return code


class _Log:
    """The file that the program's output is appended to. Whoever appends goes on at the new end of one that was cut."""

    def __init__(self, kept: int, head: int, tail: int) -> None:
        self._most, self._head, self._tail, self._left_out, self._told = kept, head, tail, 0, 0
        self._size = 0

    def bound(self) -> float:
        """Leaves out the middle of a log that has grown too large, and says so there. Seconds until the next look."""
        grown = 0
        with suppress(OSError):
            if _LINUX and stat.S_ISREG((seen := os.fstat(1)).st_mode):
                grown, self._size = seen.st_size - self._size, seen.st_size
                if self._size > self._most:
                    self._cut()
        return BOUND_S if grown < _FAST else BOUND_S / 10

    def _cut(self) -> None:
        with open("/proc/self/fd/1", "rb") as file:
            if not self._told:  # the beginning ends with a line
                file.seek(max(0, self._head - _LINE))
                self._head -= len(file.read(self._head - file.tell()).rpartition(b"\n")[2])
            begun = self._head + self._told
            size = file.seek(0, 2)
            file.seek(max(begun, size - self._tail))
            end = file.read(self._tail)
        end = end[end.find(b"\n", 0, _LINE) + 1:]
        self._left_out += size - begun - len(end)
        words = f"\n[bumpbot: at least {self._left_out} bytes are left out here: of this log {self._most} are kept at most]\n"
        self._told = len(words)
        os.ftruncate(1, self._head)
        self._size = self._head
        _write(words.encode() + end)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest):]


def _cleared(pid: int, code: int | None) -> int:
    """Ends every descendant that is left: asked first where the program ended by itself, as a server's workers may be writing."""
    for number, patience in ((signal.SIGTERM, REST_S if code is not None else 0.0), (signal.SIGKILL, LAST_S)):
        until = time.monotonic() + patience
        told: set[int] = set()
        while time.monotonic() < until:
            ended = _reaped(pid)
            code = ended if code is None else code
            left = set(_below(os.getpid())) | ({pid} if code is None else set())
            if not left:
                return -signal.SIGKILL if code is None else code
            for each in left - told:
                _signal(each, number)
            told |= left
            time.sleep(0.01)
        if not _LINUX:
            _signal(pid, number, session=True)
    return -signal.SIGKILL if code is None else code


def _reaped(pid: int) -> int | None:
    """Buries who ended; the program's exit code if it is among them."""
    code = None
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == pid:
                code = os.waitstatus_to_exitcode(found[1])
    return code


def _signal(pid: int, number: int, *, session: bool = False) -> None:
    every = [pid] if not session else [each for each, (_, of) in _family().items() if of == pid]
    for each in every:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, number)
    if session and not every:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


def _below(root: int) -> list[int]:
    """Descendants of a process that still run."""
    family, found = _family(), [root]
    for parent in found:
        found += [pid for pid, (of, _) in family.items() if of == parent]
    return found[1:]


def _family() -> dict[int, tuple[int, int]]:
    """Parent and session of every process that is no zombie; empty where the system does not tell."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc") if _LINUX else ()):
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
            state, parent, _, session, *_ = file.read().rpartition(b")")[2].split()
            if state not in b"ZX":
                found[int(name)] = int(parent), int(session)
    return found


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


if __name__ == "__main__":
    main()
