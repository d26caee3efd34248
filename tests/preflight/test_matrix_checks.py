"""Roster, certifying rules, names and parity: the generated matrix against what others expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.preflight import Certified, Job
from bot.model.recipe import EvalSpec
from bot.model.result import Baseline, Cell, Row
from bot.preflight import certify, names, parity, roster
from bot.recipe import matrix
from tests.preflight.worlds import KEY, LABEL, clean, facts, only, point, recipe


def baseline(*concurrencies: int, notes: tuple[str, ...] = (), **told: Any) -> Baseline:
    rows = tuple(Row(point=Cell(recipe=KEY, concurrency=at, **told), metric="throughput", value=1.0, unit="tok/s") for at in concurrencies)
    return Baseline(date="2026-09-01", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=rows, notes=notes,
                    source="api")


class TestTheRoster:
    def test_that_the_matrix_generates_is_fine(self) -> None:
        assert clean(roster.check(facts(baseline=baseline(1, 4, 16, topology="TP8", workload="8k1k"))))

    @pytest.mark.parametrize("note", ["configuration-gone:TP8 1k1k", "points-gone:32"])
    def test_with_retired_points_asks(self, note: str) -> None:
        """#3313: the producer's roster held 1k/1k points that no recipe generates any more."""
        found = only(roster.check(facts(baseline=baseline(1, notes=(note,)))))
        assert (found.action, found.class_, found.evidence) == ("ask", "baseline-gap", note)

    @pytest.mark.parametrize("told", [{}, {"workload": "1k1k"}, {"topology": "TP4"}])
    def test_with_rows_that_no_point_is_asks(self, told: dict[str, str]) -> None:
        held = baseline(*((1, 64) if not told else (1,)), **told)
        assert only(roster.check(facts(baseline=held))).class_ == "baseline-gap"

    @pytest.mark.parametrize("note", ["eval-not-comparable:gsm8k:gone", "eval-size-changed:gsm8k:1319:50", "points-new:4"])
    def test_whose_evals_are_another_test_is_a_note(self, note: str) -> None:
        assert only(roster.check(facts(baseline=baseline(1, notes=(note,))))).action == "note"

    def test_that_nothing_is_known_of_is_unknown(self) -> None:
        checked = roster.check(facts(missing_baseline="baseline-unreachable"))
        assert checked.findings == () and checked.unknown is not None

    def test_of_a_first_measurement_is_fine(self) -> None:
        assert clean(roster.check(facts(missing_baseline="nothing-published")))


def evals(task: str, framework: str, count: int = 8) -> tuple[Job, ...]:
    return (Job(recipe=KEY, runner=LABEL), *(Job(recipe=KEY, runner=LABEL, task=task, framework=framework) for _ in range(count)))


RULE = Certified(recipe=KEY, task="minimax_m3_smoke", framework="minimax-vendor", points=8, at="utils/evals/manifest.yaml")


class TestCertifyingRules:
    def test_that_the_jobs_keep_are_fine(self) -> None:
        assert clean(certify.check(facts(certified=(RULE,), jobs=evals("minimax_m3_smoke", "minimax-vendor"))))

    def test_that_expect_another_eval_stop(self) -> None:
        """#2953: 8 expected minimax_m3_smoke identities missing, 8 unexpected gsm8k, after a green sweep."""
        found = only(certify.check(facts(certified=(RULE,), jobs=evals("gsm8k", "lm-eval"))))
        assert (found.action, found.class_, found.where) == ("stop", "shared-ci-bug", "utils/evals/manifest.yaml")
        assert found.evidence == f"{KEY}: 0 of 8 jobs for minimax-vendor/minimax_m3_smoke; 8 eval jobs in all: lm-eval/gsm8k"

    def test_that_expect_it_at_more_points_say_so(self) -> None:
        """It runs, and not often enough: "make the jobs run it" would be no help."""
        found = only(certify.check(facts(certified=(RULE,), jobs=evals("minimax_m3_smoke", "minimax-vendor", 7))))
        assert found.what and "on 8 points" in found.what.en and "on 7" in found.what.en and "8 个测点" in found.what.zh
        assert found.next.en.startswith("make the jobs run minimax-vendor/minimax_m3_smoke on 8 points")
        assert found.release and found.release.says.en.endswith("on 8 points")

    @pytest.mark.parametrize(("jobs", "stops"), [
        (evals("minimax_m3_smoke", "lm-eval"), True), (evals("minimax_m3_smoke", "minimax-vendor", 7), True),
        (evals("minimax_m3_smoke", "minimax-vendor", 9), False),
    ])
    def test_are_compared_by_task_harness_and_count(self, jobs: tuple[Job, ...], stops: bool) -> None:
        assert bool(certify.check(facts(certified=(RULE,), jobs=jobs)).findings) is stops

    @pytest.mark.parametrize("jobs", [evals("minimax_m3_smoke", ""), (), (Job(recipe=KEY, runner=LABEL),)])
    def test_are_unknown_where_nobody_says_what_runs(self, jobs: tuple[Job, ...]) -> None:
        checked = certify.check(facts(certified=(RULE,), jobs=jobs))
        assert checked.findings == () and checked.unknown is not None

    def test_of_other_recipes_say_nothing(self) -> None:
        assert clean(certify.check(facts(certified=(replace(RULE, recipe="other"),), jobs=evals("gsm8k", "lm-eval"))))

    def test_without_a_count_are_kept_by_a_sibling(self) -> None:
        """A guest picks evals over a family, so that one recipe's may stand for another's."""
        jobs = (Job(recipe=f"{KEY}-mtp", runner=LABEL, task="gsm8k", framework="lm-eval"),)
        family = (recipe(), recipe(key=f"{KEY}-mtp"))
        rule = Certified(recipe=KEY, task="gsm8k")
        assert clean(certify.check(facts(*family, certified=(rule,), jobs=jobs)))


class TestArtifactNames:
    def check(self, *names_: str) -> Any:
        return names.check(facts(jobs=(Job(recipe=KEY, runner=LABEL, artifacts=names_),)))

    def test_of_255_bytes_are_fine(self) -> None:
        assert clean(self.check("a" * 255, "模" * 85))

    @pytest.mark.parametrize(("name", "size"), [("a" * 256, 256), ("模" * 86, 258)])
    def test_that_are_longer_stop(self, name: str, size: int) -> None:
        found = only(self.check("fine", name))
        assert (found.action, found.class_) == ("stop", "shared-ci-bug")
        assert found.evidence.startswith(f"{size} bytes, at most 255") and "File name too long" in found.what.en

    @pytest.mark.parametrize("sign", list('":<>|*?\\/') + ["\r", "\n"])
    def test_with_what_uploads_refuse_stop(self, sign: str) -> None:
        assert only(self.check(f"eval{sign}x")).evidence.startswith(f"U+{ord(sign):04X}")

    def test_that_nobody_tells_are_unknown(self) -> None:
        assert names.check(facts()).unknown is not None


@dataclass
class Smoke:
    """A sweep and what is asked of it first."""

    sweep: Any

    def staged(self, *stages: str) -> Any:
        return facts(self.sweep, smoke=matrix.smoke(self.sweep.points, sample=100, stages=stages))


class TestParity:
    SMOKE = Smoke(recipe(point(1), point(4), point(16), point(16, task="gsm8k"), point(16, task="gpqa")))

    def test_of_the_staged_smoke_is_whole(self) -> None:
        assert clean(parity.check(self.SMOKE.staged("evals", "lowest", "highest")))

    def test_that_lacks_a_gate_asks(self) -> None:
        found = only(parity.check(replace(self.SMOKE.staged("lowest", "highest"), smoke=(*self.SMOKE.sweep.points[:4],))))
        assert (found.action, found.evidence) == ("ask", f"not in the smoke: {KEY}:gpqa")

    def test_with_another_threshold_asks(self) -> None:
        told = self.SMOKE.staged("evals", "lowest", "highest")
        lax = tuple(replace(one, eval=EvalSpec(task=one.eval.task, threshold=0.5)) if one.eval else one for one in told.smoke)
        assert "threshold" in only(parity.check(replace(told, smoke=lax))).evidence

    def test_without_the_ends_of_a_curve_is_told(self) -> None:
        found = only(parity.check(self.SMOKE.staged("evals", "lowest")))
        assert (found.action, found.evidence) == ("note", "not in the smoke: TP8 8k1k c16")

    def test_without_a_smoke_is_unknown(self) -> None:
        assert parity.check(facts()).unknown is not None
