"""What users of other performance gates reported (cases/bugreports, by number), and what this one says there."""

from __future__ import annotations

import random

import pytest
from msgspec import structs

from bot.errors import BadInput
from bot.model.result import Row
from bot.verdict.compare import compare
from bot.verdict.noise import Noise, NoiseSeen, noise
from tests.verdict.made import METRICS, curve


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def shaken(seed: int, by: float, run: int, *, slow: int | None = None) -> list[Row]:
    """The plain sweep, each value off by up to `by`; at the concurrency `slow` a third slower in everything."""
    chance = random.Random(seed)
    made = []
    for row in curve(run=run):
        sign = 1 if row.metric == "tput_per_gpu" else -1
        factor = (1 + chance.uniform(-by, by)) * (0.7 if row.point.concurrency == slow else 1.0) ** sign
        made.append(structs.replace(row, value=row.value * factor))
    return made


class TestNoiseIsNoRegression:
    def test_runs_that_differ_by_their_noise_alarm_nobody(self) -> None:
        """BR128: a limit of 10 % gave too many false alarms and was raised by hand."""
        for seed in range(20):
            assert verdict(shaken(seed, 0.012, 2), shaken(seed + 100, 0.012, 1)).verdict in ("neutral", "improved")

    def test_one_slow_point_is_asked_for_again_and_cleared(self) -> None:
        """BR135: 11 to 30 % slower on untouched code; BR125: most commits of a main branch flagged."""
        first = verdict(shaken(1, 0.01, 2, slow=4), shaken(2, 0.01, 1))
        assert first.verdict == "inconclusive" and {again.point.concurrency for again in first.rerun} == {4}
        again = [row for row in shaken(3, 0.01, 3) if row.point.concurrency == 4]
        assert verdict(shaken(1, 0.01, 2, slow=4), shaken(2, 0.01, 1), repeat=again).verdict == "neutral"

    def test_a_whole_slow_room_needs_a_second_day(self) -> None:
        """BR127: everything twice as slow on another runner. One run cannot tell that from the change; the second does."""
        first = verdict(curve(0.5, run=2), curve(run=1))
        assert first.verdict == "inconclusive" and len(first.rerun) == 5
        assert verdict(curve(0.5, run=2), curve(run=1), repeat=curve(1.0, run=3)).verdict != "regressed"

    def test_what_repeats_have_shown_widens_what_is_believed(self) -> None:
        """BR126: runners vary by half and more; BR129: a label on every result tells nothing."""
        pairs = [NoiseSeen(hardware="h", engine="e", metric="tput_per_gpu", stat=None, workload=None, effects=effects)
                 for effects in ((0.2, -0.25, 0.3, -0.1, 0.22), (-0.2, 0.15, -0.3, 0.26, 0.1), (0.31, -0.2, 0.12, -0.24, 0.2))]
        known = noise(pairs, METRICS)
        assert known["tput_per_gpu"].sigma > 0.1
        new = [row for row in curve(0.88, run=2) if row.metric == "tput_per_gpu"]
        old = [row for row in curve(run=1) if row.metric == "tput_per_gpu"]
        assert verdict(new, old, repeat=[structs.replace(row, run=3) for row in new]).verdict == "regressed"
        told = verdict(new, old, repeat=[structs.replace(row, run=3) for row in new], noise=known)
        assert told.verdict == "inconclusive" and "wide-interval" in told.reasons

    def test_a_quiet_ledger_never_goes_below_the_floor(self) -> None:
        """BR130: a fixed limit of 0.2 % left the noise to reviewers."""
        assert verdict(curve(0.97, run=2), curve(run=1), noise={"tput_per_gpu": Noise(sigma=1e-5, tau=1e-5)}).verdict != "regressed"

    def test_many_points_share_one_chance_of_a_false_alarm(self) -> None:
        """BR137: 5 to 20 % of the benchmarks were flagged on each pull request."""
        concs = tuple(range(1, 60))
        wild = [structs.replace(row, value=row.value * (0.93 if row.point.concurrency % 9 == 0 else 1.0))
                for row in curve(concs=concs, run=2)]
        assert verdict(wild, curve(concs=concs, run=1)).verdict in ("neutral", "inconclusive")


class TestWhatIsCompared:
    def test_the_same_day_is_a_baseline_like_any_other(self) -> None:
        """BR134: measuring A and then B takes a drift for a change. Both of one slow day show none."""
        assert verdict(curve(0.9, run=3), curve(0.9, run=2)).verdict == "neutral"

    def test_the_newest_run_speaks_and_older_ones_of_its_head_repeat_it(self) -> None:
        """BR139: a report showed yesterday's values."""
        older, newest = curve(0.7, run=2, head="a" * 40), curve(1.0, run=5, head="a" * 40)
        assert verdict(newest, curve(run=1)).verdict == "neutral"
        assert verdict([*older, *newest], curve(run=1)) == verdict(newest, curve(run=1), repeat=older)
        with pytest.raises(BadInput, match="two heads"):
            verdict([*curve(0.7, run=2, head="b" * 40), *newest], curve(run=1))

    def test_one_point_twice_in_one_run_is_refused(self) -> None:
        """BR142: two rows of one name with very different latencies, for the key lacked a part."""
        with pytest.raises(BadInput, match="twice in run 2"):
            verdict([*curve(run=2), *curve(0.8, run=2)], curve(run=1))
        other = [structs.replace(row, point=structs.replace(row.point, topology="TP8")) for row in curve(0.8, run=2)]
        one = [structs.replace(row, point=structs.replace(row.point, topology="TP4")) for row in curve(run=2)]
        assert verdict([*one, *other], [structs.replace(row, run=1) for row in (*one, *other)]).verdict == "neutral"

    def test_an_excursion_among_runs_is_no_baseline(self) -> None:
        """BR141: the mean of raw runs follows one that was slow."""
        old = [*curve(run=1), *curve(0.6, run=2), *curve(run=3)]
        assert verdict(curve(0.85, run=4), old, repeat=curve(0.85, run=5)).verdict == "regressed"

    def test_nothing_measured_is_never_good(self) -> None:
        """BR143: a gate that had measured nothing went green."""
        told = verdict([], curve(run=1))
        assert told.verdict == "inconclusive" and "too-few-points" in told.reasons
