"""One rehearsal of the small world, shared by all tests that only look at what it left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.adapters.clock import SystemClock
from tests.cli import worlds
from tests.cli.shell import Done, bumpbot

STORY = """    events:
      - {do: dispatch, at: 2026-01-05T10:10:00Z, by: ada, recipe: toy, image: "registry.example/acme/engine:v1.1.0"}
"""


@dataclass(frozen=True)
class Kept:
    """A rehearsal that is over: how it was asked for, what it printed, what --keep left."""

    scenario: Path
    done: Done
    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.git"

    @property
    def bump(self) -> str:
        return bumpbot("--repo", self.ledger, "ledger", "show", "--format", "json").json[0]["bump"]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The small world's bump: its smoke measures nothing, three times, and it ends uncertain."""
    work = tmp_path_factory.mktemp("kept")
    folder = worlds.scenario_folder(work / "scenario", story=STORY, expect="uncertain")
    return Kept(folder, bumpbot("rehearse", folder, "--keep", work / "kept"), work / "kept")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The files of the small repository; no git."""
    return worlds.write(tmp_path / "repo")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[worlds.Forge]:
    """A GitHub with the small repository, and a registry with its image."""
    with worlds.forge(tmp_path) as found:
        yield found


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Retries come at once, and no login of the machine's owner is read."""
    monkeypatch.setattr(SystemClock, "sleep", lambda self, seconds: None)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "no-docker"))
