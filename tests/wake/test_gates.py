"""The canary of a smoke: a sample of an eval that fell ends the bump before its sweep is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.bump import Judged
from bot.model.result import Baseline, Cell, Row, Samples
from bot.wake.gates import broken
from tests.fakes.facts import PROPOSAL, bump, job, run, subject


def scored(right: int, asked: int, stat: str = "strict", conc: int = 16) -> Row:
    return Row(point=Cell(recipe="r", concurrency=conc), metric="eval", task="gsm8k", stat=stat, value=right / asked, unit="share",
               n=asked, correct=right)


def gates(*rows: Row, stage: str = "smoke", baseline: tuple[Row, ...] = (scored(1283, 1319),), samples: tuple = (), old: tuple = ()) -> Any:
    made = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=baseline, samples=old)
    of = bump("proposal", plan=replace(subject().plan, baseline=made))
    smoke = run(9, stage, PROPOSAL, job(1, role="eval", concurrency=16), status="in_progress")
    return broken(of, smoke, Judged(run=9, head=PROPOSAL, seen=(1,), rows=rows, samples=samples))


class TestASampleOfAHundred:
    """STATS 2.2: the alarm is at 92 right or fewer, where 0.9727 were right before."""

    @pytest.mark.parametrize(("right", "alarm"), [(81, True), (92, True), (93, False), (97, False), (100, False)])
    def test_raises_the_alarm_where_chance_does_not_explain_it(self, right: int, alarm: bool) -> None:
        assert gates(scored(right, 100)) == (("canary:eval c16",) if alarm else ())

    def test_is_told_once_and_by_its_strict_filter(self) -> None:
        assert gates(scored(80, 100), scored(81, 100, "flexible")) == ("canary:eval c16",)
        assert gates(scored(98, 100), scored(81, 100, "flexible")) == ()

    def test_is_held_against_the_nearest_concurrency_that_was_published(self) -> None:
        assert gates(scored(80, 100), baseline=(scored(1283, 1319, conc=1),)) == ("canary:eval c16",)

    def test_passes_without_a_baseline_of_the_same_eval(self) -> None:
        assert gates(scored(80, 100), baseline=()) == ()
        assert gates(scored(80, 100), baseline=(replace(scored(990, 1000), task="mmlu"),)) == ()

    def test_of_too_few_questions_carries_no_verdict(self) -> None:
        assert gates(scored(1, 2)) == () == gates(scored(5, 19))

    def test_is_no_gate_of_a_sweep_whose_verdict_asks_better(self) -> None:
        assert gates(scored(1071, 1319), stage="sweep") == ()

    def test_question_by_question_sees_a_smaller_fall(self) -> None:
        """Ten questions that were answered right before, and none the other way round."""
        prints = "".join(f"{number:04x}" for number in range(100))
        before = Samples(concurrency=16, task="gsm8k", n=100, correct=100, cut=0, wrong=0, median_length=1.0, marks="r" * 100, prints=prints)
        now = replace(before, correct=90, wrong=10, marks="w" * 10 + "r" * 90)
        whole = (scored(1200, 1319),)
        assert gates(scored(90, 100), baseline=whole) == ()
        assert gates(scored(90, 100), baseline=whole, samples=(now,), old=(before,)) == ("canary:eval c16",)
