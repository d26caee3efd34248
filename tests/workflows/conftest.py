"""One repository a test, behind its own loopback GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workflows.repository import Repository, repository


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Repository]:
    with repository(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """A repository with a bump on its way: pull request 7 is a draft, and its first smoke was dispatched and never ends. The
    tests of a file share it: each looks at what its own wake asks and does."""
    with repository(tmp_path_factory.mktemp("begun")) as made:
        assert made.begin().code == 0
        yield made
