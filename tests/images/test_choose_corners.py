"""Where a rule just holds or just does not, and where two rules meet on one tag."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.images.choose import Choice
from bot.images.offers import Current
from bot.images.policy import policy
from bot.images.reference import parse
from bot.model.outcome import Disposition
from bot.model.policy import Wanted
from tests.images.offered import ago, chosen, current, digest, offer

DAY = timedelta(days=1)
OLD, ONE, OTHER = (f"nightly-dev-cu13-{day}" for day in ("20260801-1a2b3c41", "20260901-1a2b3c42", "20260901-1a2b3c43"))


def rests(found: Choice) -> bool:
    return (found.winner, found.disposition) == (None, Disposition.ALREADY_CURRENT)


class TestARuleAtItsEdge:
    def test_a_turn_comes_on_the_very_moment(self) -> None:
        assert chosen(current("v1.0.0", moved=ago(7)), ["v1.1.0"], cadence=7 * DAY).winner == "v1.1.0"

    def test_an_age_is_reached_on_the_very_moment(self) -> None:
        assert chosen("v1.0.0", [offer("v1.1.0", ("a", 2))], minimum_age=2 * DAY).winner == "v1.1.0"

    def test_bytes_that_came_back_are_as_old_as_their_first_sight_and_not_quiet_yet(self) -> None:
        back = offer("v1.1.0", ("a", 9), ("b", 5), ("a", 1))
        assert chosen("v1.0.0", [back], minimum_age=2 * DAY).winner == "v1.1.0"
        assert chosen("v1.0.0", [back], quiet=2 * DAY).winner is None

    def test_a_push_that_we_see_just_now_breaks_the_quiet(self) -> None:
        moved_now = offer("v1.1.0", ("a", 9), digest=digest("b"))
        assert "pushed again 2026-09-10 12:00 UTC" in chosen("v1.0.0", [moved_now], quiet=3 * DAY).lost["v1.1.0"]


    def test_a_release_of_one_commit_is_no_release(self) -> None:
        assert chosen("v1.2.3-1a2b3c4", ["v1.2.4-9a2b3c4"], channel="stable").lost["v1.2.4-9a2b3c4"] == (
            "a build of one commit or day, and the policy takes releases only")
        assert chosen("v1.2.3-1a2b3c4", ["v1.2.4-9a2b3c4"]).winner == "v1.2.4-9a2b3c4"

    def test_each_wait_that_people_wrote_is_its_own(self) -> None:
        written = Wanted(minimum_age_days=1, quiet_days=2, every_days=3, may_change=("cuda",), must_have=("b" * 40,))
        made = policy(written, allow=("docker.io/a/b",), platform=None, pin=True)
        assert (made.minimum_age, made.quiet, made.cadence) == (DAY, 2 * DAY, 3 * DAY)
        assert (made.free, made.must_have, made.must_not_have, made.channel, made.keep) == ({"cuda"}, ("b" * 40,), (), "lineage", None)
        kept = policy(Wanted(channel="pinned", reason="waits"), allow=(), platform=None, pin=True)
        assert (kept.keep, kept.channel, kept.minimum_age) == ("waits", "lineage", timedelta(0))


class TestTwoRulesOnOneTag:
    def test_the_bytes_that_run_are_no_news_however_young(self) -> None:
        assert rests(chosen(current("v1.0.0", "a"), [offer("v1.1.0", ("a", 1))], minimum_age=9 * DAY))

    def test_what_is_off_the_recipes_line_does_not_wait_for_anything(self) -> None:
        assert rests(chosen("v1.0.0", [offer("v1.1.0rc1", ("a", 1))], minimum_age=9 * DAY))

    def test_what_is_off_the_recipes_line_needs_no_order(self) -> None:
        assert rests(chosen("v0.5.16-rocm720-mi35x-20260730", ["v0.5.16-rocm720-mi35x"]))

    def test_a_tag_without_order_beside_a_newer_name_of_what_runs_is_not_taken(self) -> None:
        found = chosen(current(OLD, "a"), [offer(ONE, ("a", 5)), offer(OTHER, ("b", 5))])
        assert found.winner is None
        assert found.lost[OTHER].startswith("incomparable (commits") and found.lost[OTHER].endswith("which holds the bytes that run")


class TestTwoNamesOfOneBuild:
    @pytest.mark.parametrize(("other", "winner"), [("a", "1.1.0-cu130"), ("b", None)])
    def test_are_taken_where_they_hold_the_same_bytes(self, other: str, winner: str | None) -> None:
        two = [offer("v1.1.0-cu130", ("a", 3)), offer("1.1.0-cu130", (other, 3))]
        assert chosen("v1.0.0-cu130", two).winner == winner

    def test_are_not_taken_where_nobody_looked(self) -> None:
        assert chosen("v1.0.0-cu130", ["v1.1.0-cu130", "1.1.0-cu130"]).winner is None

    def test_without_order_do_not_give_way_to_the_old_tag_pushed_again(self) -> None:
        found = chosen(current(OLD, "a"), [offer(OLD, ("a", 9), ("b", 5)), ONE, OTHER])
        assert found.winner is None and found.lost[OLD] == f"pushed again, and older than {ONE}"

    def test_by_the_thousand_are_said_in_a_few_words(self) -> None:
        found = chosen(OLD, [f"nightly-dev-cu13-20260901-{number:07x}1" for number in range(3000)])
        assert found.winner is None and len(found.lost) == 3000
        assert " and others are newer and do not order among themselves" in found.reasons[0] and len(found.reasons[0]) < 400


class TestWhatRuns:
    def test_is_what_the_reference_pins_whatever_the_tag_holds(self) -> None:
        assert current("v1.0.0", "a", digest=digest("b")).runs == digest("a")
        assert current("v1.0.0", digest=digest("b")).runs == digest("b")

    def test_is_latest_where_no_tag_is_named(self) -> None:
        assert Current(reference=parse("lmsysorg/sglang")).tag == "latest"

    def test_that_nobody_knows_is_not_held_to_have_moved(self) -> None:
        found = chosen("v1.0.0", [offer("v1.0.0", ("a", 3))])
        assert rests(found) and found.unknown == ()

    def test_under_a_tag_of_no_scheme_is_not_called_the_newest(self) -> None:
        found = chosen("kimi-k3", ["kimi-k3"])
        assert found.disposition is None and "whether any tag is newer: no scheme reads kimi-k3" in found.unknown
