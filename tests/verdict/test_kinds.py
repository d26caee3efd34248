"""Evals and errors join the verdict beside performance; and real repetitions, between which nothing changed."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from statistics import mean, variance

import pytest
from msgspec import structs

from bot.model.result import Accounting
from bot.verdict.compare import compare
from bot.verdict.gates import scores
from bot.verdict.judge import Noise
from tests.verdict.made import METRICS, PUBLISHED, PUBLISHED_SCORES, SCORES, SWEPT, curve, row, score, seed


def verdict(new, old, **other):
    return compare(new, old, metrics=METRICS, **other)


def pooled(told, metric):
    return next(found for found in told.findings if found.metric == metric and found.point is None)


def at(told, metric, conc):
    return next(found for found in told.findings if found.metric == metric and found.point and found.point.concurrency == conc)


class TestEvals:
    def test_of_the_seed_regress_and_void_its_gains(self) -> None:
        told = verdict(
            seed(SWEPT) + SCORES, seed(PUBLISHED) + PUBLISHED_SCORES, reasons=["serving-path-changed", "baseline-unverifiable"]
        )
        assert told.verdict == "regressed" and told.rerun == ()
        fall = next(f for f in told.findings if f.metric == "eval" and f.point.concurrency == 16 and f.new < 0.85)
        assert (round(fall.delta, 3), fall.finding, fall.n) == (-0.161, "regressed", 1319)
        assert tuple(round(end, 3) for end in fall.interval) == (-0.184, -0.138)
        performance = [found for found in told.findings if found.metric != "eval"]
        assert performance and all(found.void for found in performance) and pooled(told, "tput_per_gpu").finding == "improved"
        assert {"serving-path-changed", "baseline-unverifiable", "partial-sweep:c16"} <= set(told.reasons)

    def test_below_the_gate_void_the_performance_even_without_a_baseline(self) -> None:
        gated = scores(SCORES, {"gsm8k": 0.90}, [])
        told = verdict(curve(1.5) + SCORES, curve(), scores=gated)
        assert told.verdict == "inconclusive" and all(found.void for found in told.findings)

    def test_of_another_suite_are_a_reason_and_no_finding(self) -> None:
        told = verdict(curve() + [score(16, 1, 2, task="kimi_tool_call_schema")], curve() + PUBLISHED_SCORES)
        assert told.verdict == "neutral" and "eval-not-comparable:kimi_tool_call_schema" in told.reasons
        assert not [found for found in told.findings if found.metric == "eval"]

    @pytest.mark.parametrize(
        "correct, n, expected",
        [
            (1283, 1319, "neutral"),
            (1278, 1319, "neutral"),
            (1270, 1319, "inconclusive"),
            (1240, 1319, "regressed"),
            (97, 100, "inconclusive"),
            (81, 100, "regressed"),
            (1319, 1319, "improved"),
        ],
    )
    def test_speak_as_loudly_as_their_questions(self, correct, n, expected) -> None:
        assert verdict([score(16, correct, n)], PUBLISHED_SCORES).verdict == expected

    def test_of_a_handful_of_questions_are_a_reason_and_no_finding(self) -> None:
        told = verdict([*curve(), score(16, 1, 2)], [*curve(), *PUBLISHED_SCORES])
        assert told.verdict == "neutral" and "too-few-points:gsm8k" in told.reasons

    def test_without_n_cannot_be_tested(self) -> None:
        told = verdict([structs.replace(score(16, 1000), n=None, correct=None)], PUBLISHED_SCORES)
        assert told.verdict == "inconclusive" and "noise-unknown" in told.reasons

    def test_find_the_nearest_published_concurrency_of_their_filter(self) -> None:
        old = [score(16, 1283), score(64, 1000), score(16, 700, stat="flexible")]
        assert verdict([score(8, 1283)], old).findings[0].baseline == pytest.approx(1283 / 1319)

    def test_take_a_score_without_a_filter_as_the_strict_one(self) -> None:
        old = [score(16, 1283, stat=None)]
        assert verdict([score(16, 1283, stat="em_strict")], old).findings[0].finding == "neutral"
        assert verdict([score(16, 1283, stat="flexible")], old).findings == ()


class TestErrors:
    def counted(self, invalid, profiled=234, talks=None, bad=None):
        return Accounting(
            concurrency=1,
            total=252,
            profiled=profiled,
            warmup_invalid=11,
            profiling_invalid=invalid,
            conversations=talks,
            conversations_invalid=bad,
        )

    def told(self, new, old):
        return verdict([], [], accounting=[new], baseline_accounting=[old])

    def test_of_one_conversation_are_a_flag(self) -> None:
        told = self.told(self.counted(7, 234, 40, 2), self.counted(1, 232, 40, 1))
        assert told.findings[0].finding == "inconclusive" and told.reasons == ("too-few-points", "clustered")

    def test_of_many_conversations_are_a_regression(self) -> None:
        assert self.told(self.counted(30, 210, 40, 20), self.counted(1, 232, 40, 1)).verdict == "regressed"

    def test_of_the_seed_are_no_change_between_equal_systems(self) -> None:
        """Smoke and sweep of one image: 7 of 241 against 0 of 241, and 2 conversations against none."""
        found = self.told(self.counted(7, 234, 40, 2), self.counted(0, 241, 40, 0)).findings[0]
        assert found.finding == "inconclusive" and found.reasons == ("clustered",)

    def test_that_nobody_counted_by_conversation_are_a_flag_however_many(self) -> None:
        assert self.told(self.counted(60, 181), self.counted(1, 232)).findings[0].finding == "inconclusive"

    def test_at_warm_up_are_none(self) -> None:
        found = self.told(self.counted(0, 241), self.counted(1, 232)).findings[0]
        assert (found.finding, found.new) == ("neutral", 0.0)


REPETITIONS = Path(__file__).parents[3] / "shared" / "data" / "campaign" / "repetitions.json"


@pytest.mark.skipif(not REPETITIONS.is_file(), reason="the recorded repetitions are not beside the project")
class TestRealRepetitions:
    """Cells of a campaign, three repetitions each, grouped by block as they were run: nothing changed between them."""

    def blocks(self) -> dict[str, list[list[float]]]:
        made: dict[str, list[list[float]]] = {}
        for name, values in json.loads(REPETITIONS.read_text()).items():
            made.setdefault(name.split()[0], []).append(values)
        return made

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_of_equal_configurations_raise_no_alarm_with_the_noise_that_other_blocks_have_shown(self, order) -> None:
        """Cells of few requests jump by 25 log-% here: the floors alone, made for long runs, would raise 4 of these 30."""
        blocks = self.blocks()
        for block, cells in blocks.items():
            others = [variance(map(math.log, values)) for name, rest in blocks.items() if name != block for values in rest]
            noise = {"output_tput": Noise(sigma=math.sqrt(mean(others)), tau=0.01)}
            old, new, again = (
                [row(index + 1, "output_tput", values[which]) for index, values in enumerate(cells)] for which in order
            )
            assert verdict(new, old, repeat=again, noise=noise).verdict != "regressed"
