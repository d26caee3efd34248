"""A wake in a guest's repository that has a generator: its rows prove the scope, and the proposal says so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.adapters.assets import PackagedAssets
from bot.rehearse import scenario
from bot.rehearse.world import World
from tests.fakes.guests import SCRIPT, program
from tests.wake.conftest import Stage


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """The seed's world with a generator on its default branch, as `request.param` meddled with it."""
    folder = shutil.copytree(PackagedAssets().folder("rehearse/scenarios/kimi-k3-gb200"), tmp_path / "story")
    (folder / "repo" / SCRIPT).parent.mkdir(parents=True, exist_ok=True)
    (folder / "repo" / SCRIPT).write_bytes(program(getattr(request, "param", "pass")))
    story = scenario.load(folder, "as-it-happened")
    with ExitStack() as stack:
        world = stack.enter_context(World(story, tmp_path / "world"))
        yield Stage(world, story, tmp_path / "world", world.deliveries())


class TestAProposal:
    def test_says_that_the_guests_generator_proved_it(self, opened: Stage) -> None:
        opened.play(lambda world: bool(world.hub.pulls()))
        subject = opened.entries()[0].entry.facts.subject
        assert (subject.plan.scope.changed_rows, subject.plan.scope.only_image, subject.plan.scope.by) == (5, True, "generator")
        body = opened.world.hub.pulls()[0].body
        assert "5 rows of the matrix changed, in `image` only, by the repository's own generator" in body
        assert "（由仓库自己的生成器得出）" in body

    def test_has_the_smoke_that_this_generator_can_be_asked_for(self, opened: Stage) -> None:
        opened.play(lambda world: bool(world.hub.pulls()))
        subject = opened.entries()[0].entry.facts.subject
        assert subject.rules.smoke.stages == ("evals", "lowest"), "it knows no --trim-conc, which the scenario asks for"
        assert [(point.stage, point.kind, point.concurrency) for point in subject.plan.smoke] == [
            (1, "eval", 16), (2, "throughput", 1)]


class TestARefusal:
    @pytest.mark.parametrize(("opened", "said"), [
        ("if asked.conc: rows = []", "would run nothing"),
        ("raise ValueError('runner: Field required')", "ended with 1: ValueError: runner: Field required"),
    ], indirect=["opened"])
    def test_comes_before_anything_is_opened(self, opened: Stage, said: str) -> None:
        for event, payload in opened.deliveries:
            opened.bot("first").woken(event, payload)
            if opened.bot("first").refused:
                break
        assert any(said in line for line in opened.bot("first").refused), opened.bot("first").refused
        assert opened.world.hub.pulls() == []
