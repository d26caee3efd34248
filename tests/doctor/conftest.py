"""One healthy repository a test, to spoil."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.clock import SystemClock
from tests.doctor import worlds


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[worlds.World]:
    """Retries come at once, and nothing of the machine's owner is read."""
    monkeypatch.setattr(SystemClock, "sleep", lambda self, seconds: None)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "no-docker"))
    for name in ("BUMPBOT_TOKEN", "GITHUB_TOKEN", "BUMPBOT_MODE", "BUMPBOT_LOGIN", "BUMPBOT_LEDGER", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    with worlds.world(tmp_path) as made:
        yield made
