"""What the stories about registries begin with: fakes that run, a clock that moves when somebody waits, and every kind of
registry, started when a story first asks for it and shared by all that follow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.adapters.fake_registry import FakeClock, FakeRegistry, serving
from tests.adapters.kinds import KINDS, Kind, Running, of


@pytest.fixture
def registry():
    with serving(FakeRegistry()) as running:
        yield running


@pytest.fixture
def other():
    with serving(FakeRegistry()) as running:
        yield running


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        yield Running(stack, tmp_path_factory.mktemp("registries"))


@pytest.fixture(params=of(*KINDS))
def kind(request: pytest.FixtureRequest, running: Running) -> Kind:
    """Every kind in turn, or those that a class names."""
    return running[request.param]
