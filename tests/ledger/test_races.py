"""Wakes that meet, lines that break, branches that somebody meddles with."""

from __future__ import annotations

import json
import threading
from datetime import date

import pytest

from bot.errors import BadInput, Broken, Unreachable
from bot.ledger import (
    BRANCH,
    OPEN_BUMPS,
    canonical,
    check_receipt,
    claim_path,
    day_path,
    memory_path,
    receipt,
    verify,
)
from bot.model.ledger import DaySpent, Lost, OpenBumps, Taken
from tests.ledger.chains import WHEN
from tests.ledger.worlds import Meddling

DAY = day_path("gb200", date(2026, 7, 28))


class TestARace:
    def test_two_wakes_that_saw_the_same_do_not_both_act_and_the_loser_looks_again(self, world):
        one, two = world.writer(), world.writer()
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        step_one, step_two = one.claim(saw_one), two.claim(saw_two)
        assert isinstance(one.ledger.claim(saw_one, [step_one], wake=one.wake), Taken)
        lost = two.ledger.claim(saw_two, [step_two], wake=two.wake)
        assert lost == Lost(changed=("bumps/kimi-1/1.json",), tries=1)

        again = two.ledger.tip()
        [seen] = two.ledger.entries(again, "kimi-1")
        assert seen.entry.wake == one.wake
        assert two.ledger.claim(again, [two.claim(again)], wake=two.wake).bumps == ("kimi-1",)

    def test_at_the_same_second_with_the_same_facts_one_wins(self, world):
        writers = [world.writer(), world.writer()]
        views = [w.ledger.tip() for w in writers]
        steps = [w.claim(view) for w, view in zip(writers, views, strict=True)]
        taken = [w.ledger.claim(view, [step], wake=w.wake)
                 for w, view, step in zip(writers, views, steps, strict=True)]
        assert [type(t) for t in taken] == [Taken, Lost]
        assert writers[0].wake != writers[1].wake

    def test_many_threads_on_one_bump_append_without_a_gap_and_each_entry_has_one_winner(self, world):
        world.writer().live_through("seed")
        wins, barrier = [], threading.Barrier(4)
        writers = [world.writer(seed=100 + k) for k in range(4)]

        def work(writer):
            at = writer.ledger.tip()
            step = writer.claim(at, "kimi-1")
            barrier.wait()
            outcome = writer.ledger.claim(at, [step], wake=writer.wake)
            if isinstance(outcome, Taken):
                wins.append(writer.wake)

        threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        reader = world.writer()
        entries = reader.ledger.entries(reader.ledger.tip(), "kimi-1")
        assert [s.entry.wake for s in entries] == wins and len(wins) == 1

    def test_unrelated_bumps_written_at_once_both_go_through(self, world):
        one, two = world.writer(), world.writer()
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        step_one, step_two = one.claim(saw_one, "kimi-1"), two.claim(saw_two, "glm-2")
        assert isinstance(one.ledger.claim(saw_one, [step_one], wake=one.wake), Taken)
        taken = two.ledger.claim(saw_two, [step_two], wake=two.wake)
        assert isinstance(taken, Taken) and two.ledger.open_bumps(taken.snapshot) == ("glm-2", "kimi-1")
        assert two.clock.slept and all(0 <= s <= 0.05 for s in two.clock.slept)

    @pytest.mark.parametrize("shared", [claim_path("kimi"), DAY, OPEN_BUMPS, memory_path("digest-x")])
    def test_what_two_bumps_can_both_hold_or_spend_is_one_file_and_one_loses(self, world, shared):
        one, two = world.writer(), world.writer()
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        step_one = one.claim(saw_one, "kimi-1", writes={shared: canonical({"by": "one"})})
        step_two = two.claim(saw_two, "glm-2", writes={shared: canonical({"by": "two"})})
        assert isinstance(one.ledger.claim(saw_one, [step_one], wake=one.wake), Taken)
        assert two.ledger.claim(saw_two, [step_two], wake=two.wake) == Lost(changed=(shared,), tries=1)
        assert two.ledger.open_bumps(two.ledger.tip()) == ("kimi-1",)

    def test_a_path_that_was_only_read_must_not_have_moved_either(self, world):
        one, two = world.writer(), world.writer()
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        step_two = two.claim(saw_two, "glm-2", reads=[OPEN_BUMPS])
        step_one = one.claim(saw_one, "kimi-1", writes={OPEN_BUMPS: canonical(OpenBumps(bumps=("kimi-1",)))})
        one.ledger.claim(saw_one, [step_one], wake=one.wake)
        assert isinstance(two.ledger.claim(saw_two, [step_two], wake=two.wake), Lost)

    def test_a_folder_that_was_read_counts_with_all_that_is_in_it(self, world):
        one, two = world.writer(), world.writer()
        saw_one, saw_two = one.ledger.tip(), two.ledger.tip()
        step_two = two.claim(saw_two, "glm-2", reads=["caps/"])
        one.ledger.claim(saw_one, [one.claim(saw_one, "kimi-1", writes={DAY: canonical(DaySpent())})], wake=one.wake)
        assert two.ledger.claim(saw_two, [step_two], wake=two.wake) == Lost(changed=(DAY,), tries=1)

    def test_ten_refusals_by_unrelated_pushes_end_it_with_nothing_done(self, world):
        busy = world.writer()
        busy.live_through("seed")
        calls = []

        def somebody_first(inner, branch, oid):
            calls.append(oid)
            tip = inner.tip(branch)
            assert inner.push(branch, inner.commit([tip], {f"memory/{len(calls)}": b"{}"}, "busy", when=WHEN))
            return inner.push(branch, oid)

        two = world.writer(git=Meddling(world.git(), [somebody_first] * 50))
        at = two.ledger.tip()
        assert two.ledger.claim(at, [two.claim(at)], wake=two.wake) == Lost(changed=(), tries=10)
        assert len(calls) == 10 == len(two.clock.slept) and len(set(two.clock.slept)) == 10
        assert two.ledger.open_bumps(two.ledger.tip()) == ("seed",)


class TestABrokenLine:
    def test_a_push_that_arrived_before_the_line_broke_is_our_own_success(self, world):
        def arrives_then_breaks(inner, branch, oid):
            assert inner.push(branch, oid)
            raise Unreachable("the line broke")

        one = world.writer(git=Meddling(world.git(), [arrives_then_breaks]))
        at = one.ledger.tip()
        taken = one.ledger.claim(at, [one.claim(at)], wake=one.wake)
        assert isinstance(taken, Taken) and taken.bumps == ("kimi-1",)
        assert len(one.ledger.entries(taken.snapshot, "kimi-1")) == 1

    def test_it_is_so_even_when_somebody_wrote_on_top_of_it(self, world):
        def arrives_then_buried(inner, branch, oid):
            assert inner.push(branch, oid)
            other = world.writer()
            other.live_through("glm-2")
            return False

        one = world.writer(git=Meddling(world.git(), [arrives_then_buried]))
        at = one.ledger.tip()
        taken = one.ledger.claim(at, [one.claim(at)], wake=one.wake)
        assert taken.bumps == ("kimi-1",) and one.ledger.open_bumps(taken.snapshot) == ("glm-2", "kimi-1")

    def test_a_push_that_did_not_arrive_is_tried_again(self, world):
        def breaks(inner, branch, oid):
            raise Unreachable("the line broke")

        one = world.writer(git=Meddling(world.git(), [breaks, breaks]))
        at = one.ledger.tip()
        assert isinstance(one.ledger.claim(at, [one.claim(at)], wake=one.wake), Taken)

    def test_a_line_that_stays_broken_is_told_and_nothing_was_done(self, world):
        def breaks(inner, branch, oid):
            raise Unreachable("the line broke")

        one = world.writer(git=Meddling(world.git(), [breaks] * 10))
        at = one.ledger.tip()
        with pytest.raises(Unreachable):
            one.ledger.claim(at, [one.claim(at)], wake=one.wake)
        assert one.ledger.tip().oid is None


class TestMeddling:
    def test_a_branch_reset_to_an_older_commit_is_found_through_the_receipt(self, world):
        one = world.writer()
        old = one.live_through(rounds=1)
        new = one.live_through(rounds=1)
        mark = receipt(one.ledger.entries(new, "kimi-1"))
        world.rewind(old.oid)
        later = world.writer()
        entries = later.ledger.entries(later.ledger.tip(), "kimi-1")
        assert verify(entries) is None
        broken = check_receipt(entries, mark.n, mark.sha256)
        assert isinstance(broken, Broken) and "shortened" in str(broken)

    def test_a_wake_that_read_the_longer_chain_puts_it_back_whole(self, world):
        one = world.writer()
        old = one.live_through(rounds=1)
        new = one.live_through(rounds=1)
        step = one.claim(new)
        world.rewind(old.oid)
        at = one.ledger.claim(new, [step], wake=one.wake).snapshot
        entries = one.ledger.entries(at, "kimi-1")
        assert len(entries) == 5 and verify(entries) is None

    def test_it_cannot_once_somebody_wrote_on_the_shorter_one(self, world):
        one = world.writer()
        old = one.live_through(rounds=1)
        new = one.live_through(rounds=1)
        step = one.claim(new)
        world.rewind(old.oid)
        world.writer().live_through("glm-2")
        lost = one.ledger.claim(new, [step], wake=one.wake)
        assert lost == Lost(changed=("bumps/kimi-1/3.json", "bumps/kimi-1/4.json"), tries=1)

    def test_an_entry_removed_in_the_middle_is_found(self, world):
        one = world.writer()
        at = one.live_through(rounds=2)
        git = world.git()
        tip = git.tip(BRANCH)
        assert git.push(BRANCH, git.commit([tip], {"bumps/kimi-1/2.json": None}, "oops", when=WHEN))
        entries = one.ledger.entries(one.ledger.tip(), "kimi-1")
        assert at.oid == tip and "entry 2 is missing" in str(verify(entries))

    def test_a_bad_entry_is_told_by_file_and_key_and_other_bumps_go_on(self, world):
        one = world.writer()
        one.live_through("kimi-1")
        one.live_through("glm-2")
        git = world.git()
        value = json.loads(git.read(git.tip(BRANCH), "bumps/kimi-1/1.json"))
        value["facts"]["subject"]["limits"]["repairs"] = "many"
        git.push(BRANCH, git.commit([git.tip(BRANCH)], {"bumps/kimi-1/1.json": canonical(value)}, "x", when=WHEN))
        at = one.ledger.tip()
        with pytest.raises(BadInput, match=r"^bumps/kimi-1/1\.json: facts\.subject\.limits\.repairs: Expected `int`"):
            one.ledger.entries(at, "kimi-1")
        assert verify(one.ledger.entries(at, "glm-2")) is None

    def test_a_file_that_is_no_entry_is_told(self, world):
        one = world.writer()
        one.live_through()
        git = world.git()
        git.push(BRANCH, git.commit([git.tip(BRANCH)], {"bumps/kimi-1/01.json": b"{}"}, "x", when=WHEN))
        with pytest.raises(BadInput, match=r"^bumps/kimi-1/01\.json: not the name of an entry"):
            one.ledger.entries(one.ledger.tip(), "kimi-1")

    def test_a_bad_cap_file_is_told(self, world):
        git = world.git()
        git.push(BRANCH, git.commit([], {OPEN_BUMPS: b'{"bumps":["a"],"extra":1}'}, "x", when=WHEN))
        ledger = world.writer().ledger
        with pytest.raises(BadInput, match=r"^caps/open\.json: extra: unknown key"):
            ledger.load(ledger.tip(), OPEN_BUMPS, OpenBumps)
