"""Tags that hold other bytes than they did: what we saw ourselves, what is told, and what may follow from it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.images.sights import KEPT, first_seen, moved, noted, retold, sighted
from bot.model.image import Sight
from bot.model.ledger import Seen
from bot.model.outcome import Disposition
from tests.images.offered import NOW, ago, chosen, current, digest, offer, seen

LOOKS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=8)


class TestSights:
    def test_a_first_look_is_kept_and_a_second_of_the_same_bytes_changes_nothing(self) -> None:
        once = sighted(Seen(), "v1", digest("a"), ago(9))
        assert once.tags == {"v1": seen(("a", 9))}
        assert sighted(once, "v1", digest("a"), ago(1)) is once
        assert sighted(once, "v2", digest("a"), ago(1)).tags["v2"] == seen(("a", 1))

    def test_bytes_that_come_back_are_a_push_again_and_keep_their_first_sight(self) -> None:
        looks = noted(noted(seen(("a", 9)), digest("b"), ago(5)), digest("a"), ago(2))
        assert looks == seen(("a", 9), ("b", 5), ("a", 2))
        assert (first_seen(looks, digest("a")), moved(looks)) == (ago(9), ago(2))
        assert first_seen(looks, digest("c")) is None and moved(looks[:1]) is None and moved(()) is None

    @given(LOOKS, st.randoms(use_true_random=False))
    def test_say_the_same_when_a_look_is_told_twice(self, looks: list, random) -> None:
        told: tuple[Sight, ...] = ()
        for name, day in looks:
            told = noted(told, digest(name), ago(day))
            assert noted(told, digest(name), ago(day)) == told
        assert [sight.at for sight in told] == sorted(sight.at for sight in told)
        assert all(one.digest != next_.digest for one, next_ in zip(told, told[1:], strict=False))

    @given(st.lists(st.sampled_from("abc"), min_size=2, max_size=6))
    def test_of_two_wakes_that_each_saw_a_change_come_out_the_same_whoever_writes_first(self, names: list) -> None:
        before = noted((), digest("x"), ago(9))
        one, other = ((digest(name), ago(place)) for name, place in zip(names, (5, 3), strict=False))
        assert noted(noted(before, *one), *other) == noted(noted(before, *other), *one)

    def test_of_a_tag_that_never_holds_still_do_not_grow_for_ever(self) -> None:
        told: tuple[Sight, ...] = ()
        for number in range(KEPT + 50):
            told = noted(told, f"sha256:{number:064x}", ago(0) + timedelta(hours=number))
        assert len(told) == KEPT and told[-1].digest.endswith(f"{KEPT + 49:x}")


class TestWhatIsTold:
    def test_names_both_digests_and_their_dates(self) -> None:
        # BR007
        assert retold("v1", seen(("a", 9), ("b", 5))) == (
            f"v1 was pushed again: was {digest('a')} (first seen 2026-09-01), is {digest('b')} since 2026-09-05")
        assert retold("v1", seen(("a", 9))) is None

    @pytest.mark.parametrize(("measured", "verifiable"), [
        (date(2026, 9, 3), False), (date(2026, 9, 5), True), (date(2026, 9, 7), True), (None, True),
    ])
    def test_says_whether_a_baseline_measured_between_can_be_verified(self, measured: date | None, verifiable: bool) -> None:
        told = retold("v1", seen(("a", 9), ("b", 5)), measured)
        assert told is not None and ("the baseline's bytes cannot be verified" in told) is not verifiable

    def test_says_that_bytes_came_back_and_counts_several_pushes_as_one(self) -> None:
        told = retold("v1", seen(("a", 9), ("b", 5), ("a", 2)))
        assert told == (f"v1 was pushed again: was {digest('b')} (first seen 2026-09-05), is {digest('a')} since 2026-09-08, "
                        "which it had held before; 2 pushes since 2026-09-05 are taken as one")


class TestTheRecipesOwnTag:
    def test_under_other_bytes_is_the_candidate_when_nothing_is_newer(self) -> None:
        moved_on = offer("v1.0.0", ("a", 9), ("b", 5))
        found = chosen(current("v1.0.0", "a"), [moved_on])
        assert found.winner == "v1.0.0"
        assert found.reasons[0] == f"v1.0.0 holds {digest('b')} now, the recipe runs {digest('a')}, and no tag is newer"
        newer = chosen(current("v1.0.0", "a"), [moved_on, offer("v1.1.0", ("c", 4))])
        assert newer.winner == "v1.1.0" and newer.lost["v1.0.0"] == "pushed again, and older than v1.1.0"

    def test_waits_until_it_holds_still(self) -> None:
        # BR002
        found = chosen(current("latest", "a"), [offer("latest", ("a", 9), ("b", 1))], quiet=timedelta(days=3))
        assert (found.winner, found.disposition) == (None, None)
        assert found.reasons[0].startswith("latest holds other bytes now: pushed again 2026-09-09 12:00 UTC; it waits 3 days")

    def test_set_back_to_earlier_bytes_is_older_and_not_taken(self) -> None:
        found = chosen(current("v1.0.0", "b"), [offer("v1.0.0", ("a", 9), ("b", 5), ("a", 1))])
        assert found.winner is None
        assert found.lost["v1.0.0"] == f"v1.0.0 was set back to {digest('a')}, which we saw before the bytes that run"

    def test_that_we_never_saw_under_the_bytes_that_run_has_no_order(self) -> None:
        found = chosen(current("v1.0.0", "a"), [offer("v1.0.0", ("b", 5))])
        assert (found.winner, found.disposition) == (None, None)
        assert any(digest("a") in line and "is not known" in line for line in found.unknown)

    def test_is_not_written_again_where_the_fleet_takes_no_digest(self) -> None:
        found = chosen(current("v1.0.0", "a"), [offer("v1.0.0", ("a", 9), ("b", 5))], pin=False)
        assert found.winner is None and "takes no digest" in found.lost["v1.0.0"]

    def test_is_no_news_where_the_recipe_runs_what_it_holds(self) -> None:
        unpinned = current("v1.0.0", digest=digest("b"), measured=date(2026, 9, 3))
        found = chosen(unpinned, [offer("v1.0.0", ("a", 9), ("b", 5))])
        assert (found.winner, found.disposition) == (None, Disposition.ALREADY_CURRENT)
        assert any("the baseline's bytes cannot be verified" in reason for reason in found.reasons)

    def test_pinned_to_bytes_leaves_its_baseline_verifiable(self) -> None:
        pinned = current("v1.0.0", "a", measured=date(2026, 9, 3))
        assert not any("verified" in reason for reason in chosen(pinned, [offer("v1.0.0", ("a", 9), ("b", 5))]).reasons)


class TestTheSameBytes:
    def test_under_a_new_tag_are_no_news_and_nothing_older_than_that_tag_is_taken(self) -> None:
        found = chosen(current("v1.0.0", "a"), [offer("v1.0.0", ("a", 9)), offer("v1.2.0", ("a", 3)), offer("v1.1.0", ("b", 9))])
        assert (found.winner, found.disposition) == (None, Disposition.ALREADY_CURRENT)
        assert found.reasons[0] == "v1.2.0 holds the bytes that run already"
        assert found.lost["v1.2.0"] == f"is {digest('a')}, which the recipe already runs"
        assert found.lost["v1.1.0"] == "older (version: 1.1.0, 1.2.0) beside v1.2.0, which holds the bytes that run"

    def test_on_the_platform_that_runs_are_no_news_either(self) -> None:
        # BR018
        new = offer("v1.1.0", ("b", 3))
        ours = next(one for one in new.platforms or () if one.architecture == "arm64")
        child = current("v1.0.0", digest=digest("a"), platforms=(ours,))
        assert chosen(child, [new], platform="linux/arm64").disposition is Disposition.ALREADY_CURRENT
        assert chosen(child, [new], platform="linux/amd64").winner == "v1.1.0"

    def test_of_a_pinned_platform_image_are_found_inside_the_index(self) -> None:
        # BR012
        index = offer("v1.1.0", ("b", 3))
        ours = next(one.digest for one in index.platforms or () if one.architecture == "arm64")
        pinned = current("v1.0.0", digest=ours)
        assert chosen(pinned, [index], platform="linux/arm64").disposition is Disposition.ALREADY_CURRENT

    def test_as_a_newer_tag_that_waits_say_that_it_waits(self) -> None:
        found = chosen(current("v1.0.0", "a"), [offer("v1.1.0", ("a", 3)), offer("v1.2.0", ("b", 1))],
                       minimum_age=timedelta(days=2), at=NOW)
        assert (found.winner, found.disposition) == (None, None)
        assert found.reasons[0].startswith("v1.2.0 is newer and not taken: first seen by us")
