"""The scenarios that are shipped: a loaded one is frozen and every world makes its own state of it, so each is read once."""

from __future__ import annotations

from functools import cache

from bot.adapters.assets import PackagedAssets
from bot.rehearse import scenario
from bot.rehearse.scenario import Scenario


@cache
def shipped(name: str, variant: str | None = None) -> Scenario:
    """A shipped scenario in one of its variants."""
    return scenario.load(PackagedAssets().folder(f"rehearse/scenarios/{name}"), variant)
