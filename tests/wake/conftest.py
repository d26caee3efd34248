"""The seed's world, played as far as a story needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.cli.payload import event_of
from bot.cli.rehearse import RehearsedBot
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import Delivery, World
from bot.wake import loop
from bot.wake.context import Context
from tests.fakes.shipped import shipped


@dataclass
class Stage:
    """A world and the bots in it. `deliveries` are those the first bot has not been given yet."""

    world: World
    story: Scenario
    work: Path
    deliveries: Iterator[Delivery]
    bots: dict[str, RehearsedBot] = field(default_factory=dict)

    def bot(self, name: str) -> RehearsedBot:
        if name not in self.bots:
            self.bots[name] = RehearsedBot(self.world, self.story, self.work, name=name, narrate=print)  # shown where a test fails
        return self.bots[name]

    def play(self, until: Callable[[World], bool], bot: str = "first") -> None:
        """Gives the bot its deliveries until the world is as wanted."""
        while not until(self.world):
            self.bot(bot).woken(*next(self.deliveries))

    def wake(self, bot: str = "first") -> list:
        return self.bot(bot).woken("schedule", {})

    def give(self, context: Context, name: str, payload: dict[str, Any]) -> tuple[loop.Report, ...]:
        """One wake over a context of the test's own, which nothing troubles: a fault of this world is told as itself, and not as
        the pull request that it kept from being opened."""
        reports = loop.wake(context, event_of(name, payload, self.world.clock.now()))
        assert [report.trouble for report in reports] == [None] * len(reports)
        return reports

    @property
    def bump(self) -> str:
        ledger = self.bot("first").ledger
        snapshot = ledger.tip()
        return (*ledger.open_bumps(snapshot), *(name for _, name in ledger.ended_bumps(snapshot)))[0]

    def entries(self) -> tuple:
        ledger = self.bot("first").ledger
        return ledger.entries(ledger.tip(), self.bump)


def smokes(world: World) -> list:
    return [run for run in world.hub.runs_made() if run.workflow == "e2e-tests.yml"]


def begun(world: World) -> bool:
    """The first smoke was dispatched."""
    return bool(smokes(world))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    story = shipped("kimi-k3-gb200", "as-it-happened")
    with ExitStack() as stack:
        world = stack.enter_context(World(story, tmp_path))
        yield Stage(world, story, tmp_path, world.deliveries())
