"""Rows that say themselves that a gate of their run did not hold: never evidence of anything good."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec import structs

from bot.model.result import Finding, Row, Verdict
from bot.verdict.compare import compare
from tests.verdict.made import METRICS, curve


def flagged(rows: Sequence[Row], *flags: str, conc: int | None = None) -> list[Row]:
    return [structs.replace(one, flags=flags) if conc in (None, one.point.concurrency) else one for one in rows]


def verdict(new: Sequence[Row], old: Sequence[Row], again: Sequence[Row] = ()) -> Verdict:
    return compare(new, old, repeat=again, metrics=METRICS)


def gates(told: Verdict) -> list[Finding]:
    return [found for found in told.findings if found.metric == "gates"]


NEW, OLD, AGAIN = curve(run=2), curve(), curve(run=3)
STREAM, EVAL = "gate-failed:stream", "gate-failed:eval"


class TestAFailedGate:
    def test_of_one_point_is_worse_than_a_baseline_that_held(self) -> None:
        assert verdict(NEW, OLD).verdict == "neutral" and not gates(verdict(NEW, OLD))
        told = verdict(flagged(NEW, STREAM, "gate-failed:json", conc=4), OLD)
        (found,) = gates(told)
        assert (told.verdict, found.finding, found.point.concurrency if found.point else 0) == ("regressed", "regressed", 4)
        assert (found.baseline, found.new, found.delta, found.how) == (0.0, 2.0, 2.0, "gates:json,stream")

    def test_voids_what_was_measured_beside_it(self) -> None:
        told = verdict(flagged(NEW, STREAM, conc=4), OLD)
        assert {found.void for found in told.findings if found.metric != "gates"} == {True} and told.rerun == ()

    @pytest.mark.parametrize(("bent", "reasons"), [
        (lambda: verdict(flagged(NEW, STREAM), flagged(OLD, STREAM)), ("baseline-unverifiable",)),
        (lambda: verdict(NEW, flagged(OLD, STREAM, conc=4)), ()),
        (lambda: verdict(flagged(NEW, STREAM), OLD, AGAIN), ("not-confirmed",)),
        (lambda: verdict(NEW, OLD, flagged(AGAIN, STREAM)), ("not-confirmed",)),
        (lambda: verdict(flagged(NEW, EVAL), OLD), ()),
        (lambda: verdict(flagged(NEW, STREAM), [one for one in OLD if one.point.concurrency > 4]), ())])
    def test_of_which_nobody_knows_that_it_is_worse_leaves_it_open(self, bent: Callable[[], Verdict], reasons: tuple[str, ...]) -> None:
        told = bent()
        assert "inconclusive" in {found.finding for found in gates(told)} and told.verdict not in ("improved", "neutral")
        assert set(reasons) <= set(told.reasons)

    def test_that_a_second_measurement_has_too_is_worse(self) -> None:
        assert verdict(flagged(NEW, STREAM), OLD, flagged(AGAIN, STREAM)).verdict == "regressed"

    def test_with_a_name_of_more_than_letters_is_shown_as_another(self) -> None:
        (found,) = gates(verdict(flagged(NEW, "gate-failed:@x <b>", conc=4), OLD))
        assert found.how == "gates:other"
