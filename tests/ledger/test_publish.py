"""Results that a collector brings: written once, beside whoever else writes, under the bump that asked for them."""

from __future__ import annotations

import pytest

from bot.errors import BadInput, Unreachable
from bot.ledger import Published, asked_by, claim_entry, publish, result_path
from bot.model.event import Scheduled
from bot.model.ledger import Measured, Taken
from bot.model.result import Cell, Row
from tests.fakes import facts as made
from tests.ledger.chains import HEAD, WHEN
from tests.ledger.worlds import Meddling


def measured(recipe: str = "toy", value: float = 900.0, run: int = 7) -> Measured:
    row = Row(point=Cell(recipe=recipe, concurrency=1, fingerprint="f"), metric="tput_per_gpu", value=value, unit="tok/s/GPU")
    return Measured(recipe=recipe, date="2026-07-28", image="a/b:1", run=run, attempt=1, head=HEAD, rows=(row,))


class TestResults:
    def test_of_several_recipes_come_in_one_commit_and_are_read_back(self, world):
        one = world.writer()
        done = publish(one.ledger, [measured(), measured("other")], wake=one.wake)
        assert done == tuple(Published(recipe=key, path=result_path(key, 7), state="written") for key in ("toy", "other"))
        tip = world.writer().ledger.tip()
        assert one.ledger.load(tip, result_path("other", 7), Measured) == measured("other")

    def test_that_somebody_wrote_first_stay_and_the_rest_is_written(self, world):
        one, two = world.writer(), world.writer()
        publish(one.ledger, [measured(value=1.0)], wake=one.wake)
        done = publish(two.ledger, [measured(value=2.0), measured("other")], wake=two.wake)
        assert [each.state for each in done] == ["there", "written"]
        held = two.ledger.load(two.ledger.tip(), result_path("toy", 7), Measured)
        assert held and held.rows[0].value == 1.0

    def test_that_somebody_writes_in_the_middle_stay_too(self, world):
        one, two = world.writer(), world.writer()
        seen = two.ledger.tip
        publish(one.ledger, [measured("before", run=6)], wake=one.wake)
        old = seen()
        publish(one.ledger, [measured(value=1.0)], wake=one.wake)
        views = iter([old])
        two.ledger.tip = lambda: next(views, None) or seen()
        assert [each.state for each in publish(two.ledger, [measured(value=2.0)], wake=two.wake)] == ["there"]

    def test_end_as_unreachable_when_others_write_at_every_try(self, world):
        one, seat = world.writer(), world.git()
        two = world.writer(git=Meddling(seat, [lambda git, branch, oid: False] * 3), tries=3)
        with pytest.raises(Unreachable, match="took no results of toy: others wrote at every try"):
            publish(two.ledger, [measured()], wake=two.wake)
        assert one.ledger.tip().oid is None

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
    def test_that_cannot_be_a_measurement_are_refused_before_anything_is_written(self, world, value):
        one = world.writer()
        with pytest.raises(BadInput):
            publish(one.ledger, [measured(value=value)], wake=one.wake)
        assert one.ledger.tip().oid is None


class TestWhoAsked:
    def test_is_the_open_bump_whose_head_it_is_with_its_pull_request(self, world):
        one = world.writer()
        snapshot = one.ledger.tip()
        assert asked_by(one.ledger, HEAD) == {}
        bump = made.bump("proposal")
        entry = claim_entry((), wake=one.wake, version="0.1", at=WHEN, event=Scheduled(at=WHEN), facts=bump, actions=())
        step = one.ledger.step(snapshot, bump.id, entry)
        assert isinstance(one.ledger.claim(snapshot, [step], wake=one.wake), Taken)
        pull = bump.world.pull
        assert asked_by(one.ledger, bump.head or "") == {
            recipe.key: (bump.id, pull.number if pull else None) for recipe in bump.subject.family}
        assert asked_by(one.ledger, "b" * 40) == {}
