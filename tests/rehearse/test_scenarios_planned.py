"""The stories in which files decide: nothing is opened, or opened and put off, and what was found stands in the result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.assets import PackagedAssets
from bot.cli.rehearse import play
from bot.cli.sound import prove
from bot.rehearse import scenario
from tests.rehearse.openapi.check import Checker

SCENARIOS = Path(scenario.__file__).parent / "scenarios"
CASEBOOK = ("moved-module", "range-clash", "not-staged")
ALL = (*CASEBOOK, "staged-later", "deferred")


class Told:
    """One story that is over: its result, and the world as it was left."""

    def __init__(self, name: str) -> None:
        self.story = scenario.load(SCENARIOS / name)
        self.result = play(self.story, None, narrate=False, observer=self._listen, after=self._look)

    def _listen(self, world: Any) -> None:
        world.hub.exchanges.append(Checker())

    def _look(self, world: Any, bot: Any) -> None:
        self.pulls, self.unforeseen = world.hub.pulls(), world.unforeseen
        self.branches = set(world.hub.git.refs("refs/heads/"))
        self.held = [path for path in bot.ledger.tip().paths if path.startswith("claims/")]

    def found(self, check: str) -> dict[str, Any]:
        (one,) = [one for one in self.result["findings"] if one["check"] == check and one["action"] == "stop"]
        return one


@pytest.fixture(scope="module")
def played() -> Iterator[dict[str, Told]]:
    yield {}


@pytest.fixture
def told(request: pytest.FixtureRequest, played: dict[str, Told]) -> Told:
    name = request.param if hasattr(request, "param") else request.cls.NAME
    if name not in played:
        played[name] = Told(name)
    return played[name]


@pytest.mark.parametrize("name", CASEBOOK)
class TestTheFolders:
    def test_are_small_and_say_where_they_come_from(self, name: str) -> None:
        assert sum(file.stat().st_size for file in (SCENARIOS / name).rglob("*") if file.is_file()) < 60_000
        assert "public record" in scenario.load(SCENARIOS / name).declared.attribution

    def test_can_be_played_by_this_bot(self, name: str) -> None:
        assert prove(scenario.load(SCENARIOS / name), PackagedAssets()) is None


@pytest.mark.parametrize("told", ALL, indirect=True)
class TestEach:
    def test_ends_as_it_says(self, told: Told) -> None:
        assert told.result["as_expected"], (told.result["outcome"], told.result["findings"], told.result["troubles"])
        assert told.unforeseen == ()

    def test_leaves_nothing_held(self, told: Told) -> None:
        assert told.held == [] or told.result["outcome"] in ("incompatible",)


@pytest.mark.parametrize("told", CASEBOOK, indirect=True)
class TestWhatEndsAtPlanning:
    def test_opens_no_branch_and_no_pull_request_and_asks_for_no_gpu(self, told: Told) -> None:
        assert told.branches == {"refs/heads/main"}
        assert (told.pulls, told.result["runs"], told.result["comments"], told.result["gpu_hours"]) == ([], [], [], 0)


class TestMovedModule:
    NAME = "moved-module"

    def test_the_import_that_the_new_engine_lacks_is_named(self, told: Told) -> None:
        finding = told.found("imports")
        assert finding["class"] == "moved-module"
        assert "sglang.srt.server_args_config_parser" in finding["evidence"]


class TestRangeClash:
    NAME = "range-clash"

    def test_the_two_changes_are_named(self, told: Told) -> None:
        finding = told.found("contains")
        assert finding["class"] == "engine-regression"
        assert all(number in finding["evidence"] for number in ("54853", "54819"))


class TestNotStaged:
    NAME = "not-staged"

    def test_fleet_and_checkpoint_are_named_and_what_must_change(self, told: Told) -> None:
        finding = told.found("staging")
        assert (finding["class"], finding["who"]) == ("model-not-staged", "operator")
        assert all(word in finding["evidence"] for word in ("b300-dsxe", "DeepSeek-R1-0528-FP4-V2"))
        assert finding["release"]["of"] == "staging"

    def test_asked_again_it_is_turned_down_from_memory(self, told: Told) -> None:
        assert any(line.startswith("18:30 refused: ") for line in told.result["troubles"])


class TestStagedLater:
    NAME = "staged-later"

    def test_the_first_request_was_stopped_and_the_last_went_on(self, told: Told) -> None:
        assert [one["outcome"] for one in told.result["earlier"]] == ["readiness-blocked"]
        assert any(one["check"] == "staging" and one["action"] == "stop" for one in told.result["earlier"][0]["findings"])
        assert [run["conclusion"] for run in told.result["runs"]] == ["success"]

    def test_what_was_released_is_told(self, told: Told) -> None:
        assert any(one["check"] == "history" and one["action"] == "note" for one in told.result["findings"])


class TestDeferred:
    NAME = "deferred"

    def test_the_smoke_is_kept_and_no_sweep_is_started(self, told: Told) -> None:
        assert [(run["workflow"], run["conclusion"]) for run in told.result["runs"]] == [("smoke.yml", "success")]
        assert told.result["comments"][-1]["kind"] == "final"
