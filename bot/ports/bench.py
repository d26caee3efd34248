"""What the runner's side needs of its machine beside files: programs that keep running, and a server's HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bot.ports.machine import Process


class Running(Protocol):
    """A program that was started and may still run."""

    pid: int

    def ended(self) -> int | None:
        """Its exit code (negative: the signal that ended it); None while it runs."""
        ...

    def interrupt(self) -> None:
        """Asks the program itself to end, as Ctrl-C does, and does not wait; nothing when it has ended. Some write what they
        have only when they are asked so."""
        ...

    def stop(self, grace_s: float = 10.0) -> int:
        """Ends it and all that it started: asked first, killed after the grace. Its exit code; the same again when it had
        ended."""
        ...


class Programs(Process, Protocol):
    """Programs of this machine; `run` waits for one, `start` does not."""

    def start(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str], cwd: Path | None = None) -> Running:
        """Starts a program in a session of its own, its outputs appended to `log`; the environment is exactly `env` plus
        PATH. It dies with this process, however that ends. `Missing` when there is no such program."""
        ...

    def found(self, name: str) -> bool:
        """Whether a program of this name is on the PATH."""
        ...


class Answer(Protocol):
    status: int
    body: bytes


class Web(Protocol):
    """HTTP to one server on this machine; no redirect is followed. `Unreachable` where nobody answers in time."""

    def get(self, url: str, *, limit_s: float = 5.0) -> Answer: ...

    def post(self, url: str, body: Mapping[str, Any], *, limit_s: float = 120.0) -> Answer: ...

    def stream(self, url: str, body: Mapping[str, Any], *, limit_s: float = 120.0) -> tuple[int, Iterator[bytes]]:
        """Status, and the lines of the body as they come (at most 16 MB); `Unreachable` also in the middle."""
        ...


class Interrupts(Protocol):
    """Requests from outside that this process end. The first raises `Stopped`, wherever the process is; every later one, and each
    after `hold`, is only remembered: nothing may break what stops and keeps."""

    asked: str
    """How it was asked first (`SIGINT`); empty while it was not."""

    def at_once(self, do: Callable[[str], None]) -> None:
        """What is done, with how it was asked, before `Stopped` is raised: ten seconds later nothing may be left of us."""
        ...

    def hold(self) -> None: ...
