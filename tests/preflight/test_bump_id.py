"""The id of a bump is a folder's name and part of a branch's, whatever the recipe is called."""

from __future__ import annotations

import pytest

from bot.ledger.paths import bump_folder
from bot.plan import bump_id

DIGEST = "sha256:" + "c2914767" * 8


@pytest.mark.parametrize("key", ["kimik3-fp4-h200", "A/B c", "配方", "x" * 224, "-" * 90, "x-" * 60])
def test_an_id_is_one_for_any_name(key: str) -> None:
    assert bump_folder(bump_id(key, DIGEST)) and len(bump_id(key, DIGEST)) <= 110


def test_two_long_names_are_two_bumps() -> None:
    assert len({bump_id(key, DIGEST) for key in ("x" * 224 + "a", "x" * 224 + "b", "配方", "配")}) == 4
    assert bump_id("kimik3-fp4-h200", DIGEST) == "kimik3-fp4-h200-c2914767c291"
