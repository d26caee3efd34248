"""The machine the bot runs on, and the machines that it asks about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from bot.model.preflight import Load, Staged


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, UTC."""
        ...

    def sleep(self, seconds: float) -> None: ...


class Process(Protocol):
    def run(self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
            limit_s: float = 60.0, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, stdout, stderr. The environment is exactly `env` plus PATH."""
        ...


class Generator(Protocol):
    """A guest's own generator of its matrix. Its code is of one revision and given where this is made; data files are handed
    over with each question, and no code is ever taken from them."""

    def options(self, words: Sequence[str]) -> frozenset[str]:
        """The options (`--conc`) that `... WORDS --help` names. `Missing` when there is no such generator or command,
        `BadInput` when it is there and cannot be asked."""
        ...

    def rows(self, files: Mapping[str, bytes], asked: Sequence[Sequence[str]]) -> Sequence[Sequence[Mapping[str, Any]]]:
        """The rows of each command line over these data files. `BadInput` when it cannot be asked,
        refuses them, or prints no rows."""
        ...


class Fleet(Protocol):
    """What the machines are like now, as far as anybody says. None: nobody says."""

    def staged(self) -> Sequence[Staged] | None: ...

    def loads(self) -> Sequence[Load] | None: ...
