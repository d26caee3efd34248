"""One ledger, kept in memory and by git: what holds of the one holds of the other."""

from __future__ import annotations

import pytest

from tests.ledger.worlds import World


@pytest.fixture(params=["memory", "git"])
def world(request, tmp_path):
    return World(request.param, tmp_path)
