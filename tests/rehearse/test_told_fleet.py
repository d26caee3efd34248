"""The machines of a scenario, as they change over its clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.rehearse.clock import VirtualClock
from bot.rehearse.told.fleet import Busy, Fleet, FleetTold, Ready, Registered

START = datetime(2026, 9, 9, 8, 0, tzinfo=UTC)
SOON = START + timedelta(minutes=10)


class TestWhatIsTold:
    def test_what_is_left_out_is_unknown_and_what_is_empty_is_nothing(self) -> None:
        silent, empty = FleetTold(Fleet(), VirtualClock(START)), FleetTold(Fleet(staged=(), loads=()), VirtualClock(START))
        assert (silent.staged(), silent.loads(), silent.registered()) == (None, None, None)
        assert (empty.staged(), empty.loads(), empty.registered()) == ((), (), None)

    def test_a_fleet_fills_up_between_two_looks(self) -> None:
        clock = VirtualClock(START)
        fleet = FleetTold(Fleet(loads=(Busy(cluster="b200", nodes=10, idle=0, at=SOON), Busy(cluster="b200", nodes=10, idle=4))), clock)
        first = fleet.loads()
        clock.advance_to(SOON)
        second = fleet.loads()
        assert first and second and (first[0].idle, second[0].idle) == (4, 0)

    def test_what_is_staged_later_is_not_there_before(self) -> None:
        clock = VirtualClock(START)
        fleet = FleetTold(Fleet(staged=(Ready(runner="b300", images=("a.sqsh",), at=SOON),)), clock)
        assert fleet.staged() == ()
        clock.advance_to(SOON)
        assert [one.images for one in fleet.staged() or ()] == [("a.sqsh",)]

    def test_a_runner_that_is_gone_is_not_listed(self) -> None:
        clock = VirtualClock(START)
        there = Registered(name="b200_0", labels=("b200",), busy=True)
        fleet = FleetTold(Fleet(runners=(there, Registered(name="b200_0", labels=("b200",), gone=True, at=SOON))), clock)
        assert [(one.name, one.busy) for one in fleet.runners() or ()] == [("b200_0", True)]
        clock.advance_to(SOON)
        assert fleet.runners() == ()
