"""One ledger, over a real bare repository and over git in memory: written, read, ended."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest

from bot.errors import BadInput, Broken
from bot.ledger import (
    OPEN_BUMPS,
    canonical,
    claim_path,
    day_path,
    memory_path,
    result_path,
    unfinished,
    verify,
)
from bot.model.ledger import DaySpent, Held, Lost, OpenBumps, Taken
from tests.fakes.git_memory import MemoryGit, MemoryRemote
from tests.ledger.chains import WHEN, FakeClock, Writer
from tests.ledger.worlds import Meddling

DAY = day_path("gb200", date(2026, 7, 28))


class TestOneBump:
    def test_a_ledger_that_does_not_exist_yet_is_empty(self, world):
        one = world.writer()
        at = one.ledger.tip()
        assert at.oid is None and one.ledger.open_bumps(at) == () and one.ledger.entries(at, "kimi-1") == ()
        assert one.ledger.load(at, OPEN_BUMPS, OpenBumps) is None

    def test_claims_and_records_are_read_back_as_one_chain(self, world):
        world.writer().live_through(rounds=2)
        later = world.writer()
        at = later.ledger.tip()
        entries = later.ledger.entries(at, "kimi-1")
        assert later.ledger.open_bumps(at) == ("kimi-1",) and verify(entries) is None
        assert [(s.entry.n, s.entry.kind, s.entry.of) for s in entries] == [
            (1, "claim", None), (2, "record", 1), (3, "claim", None), (4, "record", 3)]
        assert sorted(at.paths) == [f"bumps/kimi-1/{n}.json" for n in (1, 2, 3, 4)]

    def test_ten_entries_and_more_are_in_order_of_their_numbers(self, world):
        one = world.writer()
        at = one.live_through(rounds=6)
        assert [s.entry.n for s in one.ledger.entries(at, "kimi-1")] == list(range(1, 13))

    def test_an_idle_wake_writes_nothing(self, world):
        one = world.writer()
        before = one.live_through()
        assert one.ledger.claim(before, [], wake=one.wake) == Taken(snapshot=before, bumps=())
        assert one.ledger.tip().oid == before.oid

    def test_a_claim_without_results_is_finished_by_a_later_wake(self, world):
        dead = world.writer()
        at = dead.ledger.tip()
        assert isinstance(dead.ledger.claim(at, [dead.claim(at, run="9/1")], wake=dead.wake), Taken)

        later = world.writer()
        at = later.ledger.tip()
        entries = later.ledger.entries(at, "kimi-1")
        [left] = unfinished(entries, WHEN, lambda run: run == "9/1")
        assert left.entry.wake == dead.wake
        taken = later.ledger.record(at, [later.results(at, of=left.entry.n)], wake=later.wake)
        assert isinstance(taken, Taken)
        entries = later.ledger.entries(taken.snapshot, "kimi-1")
        assert verify(entries) is None and unfinished(entries, WHEN, lambda run: True) == ()

    def test_the_first_wake_coming_back_late_does_not_record_a_second_time(self, world):
        slow, other = world.writer(), world.writer()
        at = slow.ledger.tip()
        mine = slow.ledger.claim(at, [slow.claim(at)], wake=slow.wake).snapshot
        theirs = other.ledger.tip()
        other.ledger.record(theirs, [other.results(theirs, of=1)], wake=other.wake)
        lost = slow.ledger.record(mine, [slow.results(mine, of=1)], wake=slow.wake)
        assert isinstance(lost, Lost) and lost.changed == ("bumps/kimi-1/2.json",)

    def test_a_claim_is_not_recorded_and_a_record_not_claimed(self, world):
        one = world.writer()
        at = one.ledger.tip()
        with pytest.raises(BadInput):
            one.ledger.record(at, [one.claim(at)], wake=one.wake)


class TestManyBumps:
    def test_a_wake_claims_all_its_bumps_in_one_commit(self, world):
        one = world.writer()
        at = one.ledger.tip()
        steps = [one.claim(at, bump) for bump in ("a", "b", "c")]
        taken = one.ledger.claim(at, steps, wake=one.wake)
        assert taken.bumps == ("a", "b", "c") and taken.dropped == ()
        one.ledger.prepare(taken.snapshot)
        assert all(len(one.ledger.entries(taken.snapshot, bump)) == 1 for bump in "abc")

    def test_those_that_changed_meanwhile_are_dropped_and_the_others_go_on(self, world):
        one, two = world.writer(), world.writer()
        saw = one.ledger.tip()
        steps = [one.claim(saw, bump) for bump in ("a", "b", "c")]
        two.live_through("b")
        taken = one.ledger.claim(saw, steps, wake=one.wake)
        assert taken.bumps == ("a", "c") and taken.dropped == ("b",)
        assert [s.entry.wake for s in one.ledger.entries(taken.snapshot, "b")] == [two.wake] * 2

    def test_two_that_spend_from_one_cap_do_not_share_a_commit(self, world):
        one = world.writer()
        at = one.ledger.tip()
        steps = [one.claim(at, bump, writes={DAY: canonical(DaySpent(gpu_hours={bump: 5.0}))}) for bump in ("a", "b")]
        taken = one.ledger.claim(at, [*steps, one.claim(at, "c")], wake=one.wake)
        assert taken.bumps == ("a", "c") and taken.dropped == ("b",)
        assert one.ledger.load(taken.snapshot, DAY, DaySpent) == DaySpent(gpu_hours={"a": 5.0})


class TestAnEnd:
    def test_the_folder_moves_byte_for_byte_and_the_recipe_is_free(self, world):
        one = world.writer()
        at = one.ledger.tip()
        held = canonical(Held(recipe="kimi", bump="kimi-1", at=WHEN))
        at = one.ledger.claim(at, [one.claim(at, writes={claim_path("kimi"): held})], wake=one.wake).snapshot
        assert one.ledger.load(at, claim_path("kimi"), Held).bump == "kimi-1"
        before = dict(at.paths)
        last = one.results(at, year=2026, writes={claim_path("kimi"): None})
        at = one.ledger.record(at, [last], wake=one.wake).snapshot
        assert sorted(at.paths) == ["ended/2026/kimi-1/1.json", "ended/2026/kimi-1/2.json"]
        assert at.paths["ended/2026/kimi-1/1.json"] == before["bumps/kimi-1/1.json"]
        later = world.writer()
        entries = later.ledger.entries(later.ledger.tip(), "kimi-1")
        assert len(entries) == 2 and verify(entries) is None
        assert later.ledger.open_bumps(at) == () and later.ledger.ended_bumps(at) == ((2026, "kimi-1"),)

    def test_two_that_end_the_same_bump_do_not_both_succeed(self, world):
        one, two = world.writer(), world.writer()
        start = one.ledger.tip()
        one.ledger.claim(start, [one.claim(start)], wake=one.wake)
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        last_one, last_two = one.results(saw_one, year=2026), two.results(saw_two, year=2027)
        assert isinstance(one.ledger.record(saw_one, [last_one], wake=one.wake), Taken)
        assert isinstance(two.ledger.record(saw_two, [last_two], wake=two.wake), Lost)


class TestOnce:
    def test_memory_and_results_are_written_once(self, world):
        one = world.writer()
        at = one.ledger.tip()
        path = memory_path("first-seen/docker.io/x/y:1")
        at = one.ledger.claim(at, [one.claim(at, writes={path: b"{}\n"})], wake=one.wake).snapshot
        same = one.claim(at, writes={path: b"{}\n", result_path("r", 1): b"[]\n"})
        assert path not in same.writes and result_path("r", 1) in same.writes
        with pytest.raises(Broken, match="written once"):
            one.claim(at, writes={path: b"[]\n"})

    def test_names_of_recipes_become_files_whatever_they_hold(self):
        names = ["a/b", "..", ".", ".git", "x y", "基准", "a%2Fb", "a"]
        paths = [claim_path(name) for name in names]
        assert len(set(paths)) == len(names) and all(path.count("/") == 1 and "/." not in path for path in paths)

    @pytest.mark.parametrize("bump", ["", "../x", "a/b", ".x", "a..b", "a b", "-x", "x" * 200])
    def test_an_id_that_cannot_be_a_folder_is_refused(self, world, bump):
        one = world.writer()
        with pytest.raises(BadInput, match="not the id of a bump"):
            one.claim(msgspec.structs.replace(one.ledger.tip(), oid=None), bump)

    def test_waits_are_jittered_by_the_seed_and_bounded(self):
        clocks = []
        for seed in (1, 1, 2):
            def refused(inner, branch, oid):
                return False
            clock = FakeClock()
            one = Writer(Meddling(MemoryGit(MemoryRemote()), [refused] * 10), seed=seed, clock=clock)
            at = one.ledger.tip()
            assert isinstance(one.ledger.claim(at, [one.claim(at)], wake=one.wake), Lost)
            clocks.append(clock.slept)
        assert clocks[0] == clocks[1] != clocks[2] and max(map(max, clocks)) <= 5.0
