"""What the layout says reaches the facts of a bump."""

from __future__ import annotations

import pytest
from msgspec import structs

from bot.cli.packaged import limits
from bot.cli.upstream import way_of
from bot.errors import BadArguments
from bot.layout.records import Layout
from bot.layout.records import Limits as Said


class TestLimits:
    SAID = Said(repairs=1, infrastructure_retries=3, repeats=4, gpu_hours=50.0, gpu_hours_per_day=60.0, approve_above=7.0, open_bumps=8,
                update_minutes=9)

    def test_of_a_layout_are_those_of_its_bumps(self) -> None:
        """`open-bumps` counts bumps and limits none of them."""
        usual, told = structs.asdict(Said()), structs.asdict(self.SAID)
        assert all(told[name] != usual[name] for name in told), "each is told apart from what is usual"
        found = structs.asdict(limits(Layout(limits=self.SAID)))
        assert {name: found[name] for name in told if name != "open_bumps"} == {
            name: value for name, value in told.items() if name != "open_bumps"}

    def test_of_a_rehearsals_policy_come_first(self) -> None:
        changed = limits(Layout(limits=self.SAID), gpu_hours=5.0, approve_above=None)
        assert (changed.gpu_hours, changed.approve_above, changed.repairs) == (5.0, 7.0, 1)


class TestTheWayToSources:
    """A wake keeps nothing: a clone there would be fetched whole each time."""

    @pytest.mark.parametrize(("said", "kept", "way"), [
        (None, True, "clone"), (None, False, "github"), ("", False, "github"), ("clone", False, "clone"), ("github", True, "github")])
    def test_is_a_clone_where_clones_are_kept_unless_somebody_says_otherwise(self, monkeypatch: pytest.MonkeyPatch, said: str | None,
                                                                            kept: bool, way: str) -> None:
        monkeypatch.delenv("BUMPBOT_UPSTREAM", raising=False)
        if said is not None:
            monkeypatch.setenv("BUMPBOT_UPSTREAM", said)
        assert way_of(kept) == way

    def test_of_an_unknown_word_is_a_wrong_argument(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BUMPBOT_UPSTREAM", "cloned")
        with pytest.raises(BadArguments, match="BUMPBOT_UPSTREAM"):
            way_of(True)
