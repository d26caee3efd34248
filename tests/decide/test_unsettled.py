"""What a sweep leaves open, as people read it: nothing to compare it with, and suspicions that a repeat cleared or confirmed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import report
from bot.model.bump import Bump, Ended
from bot.model.outcome import Cause, Outcome
from bot.model.result import Absent, Baseline, Cell, Finding, Verdict
from bot.model.run import Run
from bot.verdict.words import CLEARED
from tests.decide.asking import SWEPT
from tests.decide.test_report import GREEN, published, row, said
from tests.fakes.facts import ENTRY, LABEL, bump, job, judged, run


class TestASweepWithNothingToCompareItWith:
    def facts(self, missing: str | None, baseline: Baseline | None = None, family: tuple[str, ...] = ("r",)) -> Bump:
        told = replace(judged(SWEPT), verdict=None, rows=(row("ttft", 2.0),))
        made = bump("proposal", "changelog", runs=(GREEN, SWEPT), judgements=(told,), now=150, labels=(LABEL,))
        members = tuple(replace(made.subject.family[0], key=key) for key in family)
        return replace(made, subject=replace(made.subject, family=members, plan=replace(
            made.subject.plan, baseline=baseline, missing_baseline=missing)))

    @pytest.mark.parametrize(("missing", "mend"), [("other-image:a/b:2", "published"), ("source-refused", "source"),
                                                   ("no-source", "layout"), ("points-unknown", "points"), (None, "published")])
    def test_says_so_and_what_would_mend_it_in_all_that_is_said_of_it(self, missing: str | None, mend: str) -> None:
        facts = self.facts(missing)
        for made in (said(facts, "sweep-0"), said(facts, "stop"), report.last_words(facts, Ended(
                outcome=Outcome.UNCERTAIN, cause=Cause.VERDICT, at=facts.now))):
            assert [(line.recipe, line.why, line.mend) for line in made.lacking] == [("", missing or "not-published", mend)]
        sweep = said(facts, "sweep-0")
        assert (sweep.verdict, sweep.compared) == ("inconclusive", False)

    def test_names_the_recipe_of_a_family_that_alone_has_none(self) -> None:
        absent = (Absent(point=Cell(recipe="s", concurrency=1), why="other-configuration"),)
        facts = self.facts("other-configuration:s", published(row("ttft", 2.0), absent=absent), ("r", "s"))
        assert [(line.recipe, line.why) for line in said(facts, "stop").lacking] == [("s", "other-configuration")]

    def test_but_with_results_that_contradict_each_other_says_that(self) -> None:
        made = said(self.facts(None, published(row("ttft", 2.0))), "stop")
        assert made.lacking == () and made.reasons == ("no-verdict",)


class TestASuspicion:
    AGAIN = run(30, "repeat", ENTRY, job(5, concurrency=2, minutes=170), minutes=160)

    def facts(self, verdict: Verdict, *repeats: Run) -> Bump:
        seen = tuple(replace(judged(one), rows=(row("ttft", 2.0, concurrency=2),)) for one in repeats)
        return bump("proposal", "changelog", runs=(GREEN, SWEPT, *repeats), now=200, labels=(LABEL,),
                    judgements=(replace(judged(SWEPT), verdict=verdict), *seen))

    def found(self, concurrency: int | None, delta: float, finding: str, **more: object) -> Finding:
        point = Cell(recipe="r", concurrency=concurrency) if concurrency else None
        return Finding(metric="tput_per_gpu", point=point, baseline=1.0, new=1.0, delta=delta, unit="tok/s/GPU", finding=finding, **more)

    def test_that_the_repeat_did_not_show_again_is_told_with_its_points_and_the_run(self) -> None:
        verdict = Verdict(verdict="neutral", reasons=(CLEARED,), findings=(self.found(2, -0.1, "neutral", reasons=(CLEARED,)),))
        assert report.sweep(self.facts(verdict, self.AGAIN), SWEPT, passed=True).reasons == (f"{CLEARED}:30:c2",)
        assert report.sweep(self.facts(verdict), SWEPT, passed=True).reasons == (CLEARED,)

    def test_that_was_confirmed_at_one_point_alone_lists_no_curve_that_gained(self) -> None:
        curve = self.found(None, 0.009, "regressed", how="points:c2")
        verdict = Verdict(verdict="regressed", findings=(curve, self.found(2, -0.16, "regressed")))
        assert [one.concurrency for one in report.sweep(self.facts(verdict, self.AGAIN), SWEPT, passed=True).regressions] == [2]
