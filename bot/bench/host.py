"""What every step of a measurement is given: the machine behind ports, and where its files go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.model.bench import Launched
from bot.ports import Clock, Interrupts, Programs, Web


@dataclass
class Undisturbed:
    """Nobody asks this process to end; for tests, and where signals are somebody else's."""

    asked: str = ""

    def at_once(self, do: Callable[[str], None]) -> None:
        """Never done."""

    def hold(self) -> None:
        """Nothing is to be held back."""


@dataclass(frozen=True)
class Host:
    """`env` is this process's own environment, of which a step passes on what it names and nothing else; `say` takes one line
    of progress for the person who watches."""

    programs: Programs
    web: Web
    clock: Clock
    env: Mapping[str, str]
    say: Callable[[str], None] = field(default=lambda line: None)
    interrupts: Interrupts = field(default_factory=Undisturbed)


@dataclass(frozen=True)
class Place:
    """Both folders exist. Into `results` go rows and the tools' own exports, into `logs` what every process printed.
    `repository` is the working repository, in which the trace that a recipe names lies."""

    results: Path
    logs: Path
    repository: Path = Path()


class Server(Protocol):
    """A server that was launched; whoever launched it stops and removes it."""

    launched: Launched

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a slash at the end."""
        ...

    def over(self) -> str | None:
        """Why it no longer runs, in one line; None while it does."""
        ...
