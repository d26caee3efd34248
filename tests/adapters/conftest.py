"""Registries that stories share: each kind is started when a story first asks for it and lives as long as the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.adapters.kinds import KINDS, Kind, Running, of


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        yield Running(stack, tmp_path_factory.mktemp("registries"))


@pytest.fixture(params=of(*KINDS))
def kind(request: pytest.FixtureRequest, running: Running) -> Kind:
    """Every kind in turn, or those that a class names."""
    return running[request.param]
