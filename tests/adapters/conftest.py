"""What the stories about registries begin with: one that runs, another that runs, and a clock that moves when somebody waits."""

from __future__ import annotations

import pytest

from tests.adapters.fake_registry import FakeClock, FakeRegistry, serving


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
