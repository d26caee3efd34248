"""A failed eval on a healthy server: cut answers and parser warnings win over the gate."""

from __future__ import annotations

from bot.diagnose.eval_cause import gate_cause
from bot.model.result import Samples, Score
from tests.diagnose.worlds import SIGNATURES

KIMI = {"kimi-k3-incomplete-call": 74}


def score(value: float, *, cut: int | None = None, wrong: int = 29, n: int = 1319, passed: bool | None = False) -> Score:
    samples = (
        None
        if cut is None
        else Samples(concurrency=16, task="gsm8k", n=n, correct=n - cut - wrong, cut=cut, wrong=wrong, median_length=258)
    )
    return Score(
        concurrency=16,
        task="gsm8k",
        metric="exact_match,strict-match",
        value=value,
        n=n,
        threshold=0.9,
        passed=passed,
        samples=samples,
    )


class TestTheSeedsSweep:
    def test_cut_answers_and_the_parsers_warnings_name_the_parser(self):
        found = gate_cause([score(0.8165), score(0.7991), score(0.8120, cut=219)], KIMI, SIGNATURES)
        assert (found.class_, found.signature, found.confidence) == ("tool-parser", "kimi-k3-incomplete-call", "sure")
        assert found.repair == "dynamo-scoped-tool-parsing" and found.others == ("eval-below-threshold",)
        assert "219 of 1319 answers cut" in found.first_error

    def test_warnings_alone_are_likely_while_nobody_read_the_answers(self):
        assert gate_cause([score(0.8165)], KIMI, SIGNATURES).confidence == "likely"

    def test_cut_answers_alone_are_the_serving_path_without_a_known_repair(self):
        found = gate_cause([score(0.8120, cut=219)], {}, SIGNATURES)
        assert (found.class_, found.signature, found.repair, found.confidence) == ("tool-parser", None, None, "likely")


class TestAModelThatGotWorse:
    def test_wrong_answers_leave_the_gate(self):
        found = gate_cause([score(0.81, cut=3, wrong=247)], KIMI, SIGNATURES)
        assert (found.class_, found.signature, found.repair) == ("eval-gate", "eval-below-threshold", None)

    def test_cut_answers_that_do_not_explain_the_score_leave_it_too(self):
        assert gate_cause([score(0.60, cut=100, wrong=428)], {}, SIGNATURES).class_ == "eval-gate"

    def test_what_only_the_load_generator_saw_explains_no_eval(self):
        assert gate_cause([score(0.8)], {"no-content-responses": 7}, SIGNATURES).class_ == "eval-gate"


def test_scores_that_passed_or_were_not_judged_have_no_cause():
    found = gate_cause([score(0.97, passed=True), score(0.5, passed=None)], KIMI, SIGNATURES)
    assert (found.class_, found.first_error, found.warnings) == (None, None, KIMI)
