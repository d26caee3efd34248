"""What must hold of every comparison, whatever the curve: in any order, in any unit, worse, turned round, repeated."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.model.result import Row
from bot.verdict.compare import compare
from bot.verdict.words import REASONS, word, worst
from tests.verdict.made import METRICS, PUBLISHED_SCORES, SCORES, curve


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def pooled(told, metric):
    return next(found for found in told.findings if found.metric == metric and found.point is None)


CURVES = st.lists(st.floats(0.3, 3.0), min_size=5, max_size=5)


def bent(factors: list[float], **other: object) -> list[Row]:
    """A sweep that is so much better at each of its points."""
    return [r for conc, factor in zip((1, 2, 4, 8, 16), factors, strict=True) for r in curve(factor, (conc,), **other)]


class TestAnyOrder:
    @given(st.randoms(use_true_random=False), st.sampled_from([0.7, 0.93, 1.0, 1.1]))
    def test_gives_the_same_verdict(self, random, factor) -> None:
        new, old = curve(factor, run=3, head="a" * 40) + SCORES, curve(run=1) + curve(1.01, run=2) + PUBLISHED_SCORES
        again = curve(factor)[:9]
        plain = verdict(new, old, repeat=again)
        for rows in (new, old, again):
            random.shuffle(rows)
        assert verdict(new, old, repeat=again) == plain

    @given(CURVES, st.sampled_from(["ms", "us"]))
    def test_and_any_unit_gives_the_same_verdict(self, factors, unit) -> None:
        new, old = bent(factors), curve()
        times = {"ms": 1e3, "us": 1e6}[unit]
        other = [structs.replace(r, value=r.value * times, unit=unit) if r.unit == "s" else r for r in new]
        told, plain = verdict(other, old), verdict(new, old)
        assert (told.verdict, told.reasons, told.rerun) == (plain.verdict, plain.reasons, plain.rerun)

    @given(CURVES, st.floats(1.0, 1.5))
    def test_and_any_curve_made_worse_is_not_judged_better(self, factors, worse) -> None:
        again = [factor / 1.02 for factor in factors]
        before = verdict(bent(factors), curve(), repeat=bent(again))
        after = verdict(bent([one / worse for one in factors]), curve(), repeat=bent([one / worse for one in again]))
        assert worst([before.verdict, after.verdict]) == after.verdict

    @given(CURVES)
    def test_and_any_gain_would_be_a_suspect_the_other_way_round(self, factors) -> None:
        if verdict(bent(factors), curve()).verdict == "improved":
            assert verdict(curve(), bent(factors)).rerun

    @given(CURVES)
    def test_and_any_repeat_that_is_the_sweep_again_takes_nothing_back(self, factors) -> None:
        once = verdict(bent(factors), curve(), repeat=bent(factors))
        twice = verdict(bent(factors), curve(), repeat=[*bent(factors, run=1), *bent(factors, run=2)])
        assert twice.verdict == "regressed" if once.verdict == "regressed" else twice.verdict != "regressed"

    @given(CURVES)
    def test_and_any_neutral_verdict_is_shown(self, factors) -> None:
        told = verdict(bent(factors), curve())
        if told.verdict == "neutral":
            low = {metric: pooled(told, metric).interval for metric in ("tput_per_gpu", "ttft", "itl")}
            assert low["tput_per_gpu"][0] > math.expm1(-0.05) and low["ttft"][1] < math.expm1(0.15)
            assert low["itl"][1] < math.expm1(0.05)

    @given(CURVES)
    def test_and_any_curve_keeps_to_the_words(self, factors) -> None:
        told = verdict(bent(factors), curve())
        assert told.verdict != "regressed", "nothing was repeated"
        assert all(word(reason) in REASONS for found in told.findings for reason in found.reasons)
