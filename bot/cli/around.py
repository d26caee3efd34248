"""What a rehearsed bot may ask about the machines and people around it: what its scenario tells, and the guest's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bot.adapters.fleet import LayoutFleet
from bot.adapters.git import CommandGit
from bot.adapters.neighbours import GitHubNeighbours
from bot.layout import Layout
from bot.layout.upstream import Capacity
from bot.model.preflight import Load, Staged
from bot.ports import Fleet, Neighbours, Tree
from bot.rehearse.world import World


class RehearsedFleet:
    """Satisfies the Fleet port: what the scenario tells, beside what a file of the guest's default branch says is staged.

    An address of the layout is not asked: a rehearsal reaches nothing beyond this machine, and the scenario tells what it says.
    """

    def __init__(self, world: World, layout: Layout, tree: Callable[[], Tree]) -> None:
        staging = replace(layout.preflight.staging, url="")
        own = replace(layout.preflight, staging=staging, capacity=Capacity())
        self._told, self._own = world.fleet, LayoutFleet(own, tree, world.clock)

    def staged(self) -> Sequence[Staged] | None:
        """None where neither says anything; BadInput and Missing for a file that does not hold."""
        told, own = self._told.staged(), self._own.staged()
        return None if told is None and own is None else (*(told or ()), *(own or ()))

    def loads(self) -> Sequence[Load] | None:
        """What the scenario says at this moment."""
        return self._told.loads()


def fleet(world: World, layout: Layout, tree: Callable[[], Tree]) -> Fleet:
    """The machines as the rehearsed bot hears of them."""
    return RehearsedFleet(world, layout, tree)


def neighbours(world: World, layout: Layout, git: CommandGit, tree: Callable[[], Tree]) -> Neighbours:
    """Other people's work by the real adapter, from the loopback forge and its git repository."""
    return GitHubNeighbours(world.github_url, world.repository, world.tokens["bot"], world.clock, git=git, tree=tree, layout=layout,
                            me=world.scenario.declared.accounts.bot)
