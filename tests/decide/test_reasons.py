"""What a report must not leave to be guessed: which result was refused, what the budget lacked, what an eval's failure voids."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import decide, report
from bot.model.action import Remember, Say
from bot.model.bump import Bump, Ended, Judged, Refused
from bot.model.event import Scheduled
from bot.model.outcome import Cause, Outcome
from bot.model.record import Record
from bot.model.result import Baseline, Cell, Finding, Row, Verdict
from bot.model.rules import Limits
from tests.decide.asking import GREEN, SWEPT
from tests.fakes.facts import LABEL, bump, later, subject
from tests.render.catalogue import renderer

BAD = Refused(why="bmk_r_conc4/rows.jsonl:17: not JSON", role="throughput", recipe="r", concurrency=4)
EVAL = Finding(metric="eval", point=Cell(recipe="r", concurrency=4), baseline=0.97, new=0.9, delta=-0.07, unit="share",
               finding="regressed", task="gsm8k", stat="strict")
VOID = replace(EVAL, metric="ttft", task=None, stat=None, finding="inconclusive", void=True)


def said(of: Bump) -> dict[str, Record]:
    return {action.slot: action.record for action in decide(of, Scheduled(at=of.now)) if isinstance(action, Say)}


def ended(of: Bump) -> Ended:
    (fact,) = [action.fact for action in decide(of, Scheduled(at=of.now)) if isinstance(action, Remember)]
    return fact


def halves(record: Record) -> tuple[str, str]:
    return renderer().half(record, "en"), renderer().half(record, "zh")


def swept(told: Judged) -> Bump:
    return bump("proposal", "changelog", runs=(GREEN, SWEPT), judgements=(told,), now=150, labels=(LABEL,))


def lacking(*refused: Refused) -> Bump:
    told = Judged(run=SWEPT.id, head=SWEPT.head, seen=(3,), gates=("coverage:c4",), refused=refused)
    return swept(told)


class TestAPointWhoseResultsWereRefused:
    def test_is_not_called_unmeasured(self) -> None:
        assert ended(lacking()).why.en == "Every job passed, but the point c4 was not measured."
        why = ended(lacking(BAD)).why
        assert "results of the point c4 were refused" in why.en and "结果被拒绝" in why.zh

    def test_of_an_eval_leaves_its_point_unmeasured(self) -> None:
        assert "not measured" in ended(lacking(replace(BAD, role="eval"))).why.en

    def test_names_file_and_line_in_the_sweep_and_at_the_stop_in_both_languages(self) -> None:
        records = said(lacking(BAD))
        for slot in ("sweep-0", "stop"):
            assert all("- c4" in text and "bmk_r_conc4/rows.jsonl:17: not JSON" in text for text in halves(records[slot]))

    def test_is_told_of_a_smoke_too(self) -> None:
        of = bump("proposal", runs=(GREEN,), judgements=(Judged(run=GREEN.id, head=GREEN.head, seen=(1,), refused=(BAD,)),), now=150)
        assert all(BAD.why in text for text in halves(report.attempt(of, GREEN, next_="sweep")))

    @pytest.mark.parametrize("name", ["x/@claude.json", "x/reuse-sweep-run.json: /reuse-sweep-run", "x‮y"])
    def test_keeps_no_report_back_by_its_name(self, name: str) -> None:
        (text,) = renderer().parts(said(lacking(replace(BAD, why=name)))["stop"])
        assert name not in text and "not repeated here" in text and "不予复述" in text


class TestABudgetThatDoesNotHoldTheNextStep:
    @pytest.mark.parametrize(("runs", "step"), [((), "smoke"), ((GREEN,), "sweep")])
    def test_names_the_step_its_price_and_what_is_lacking(self, runs: tuple, step: str) -> None:
        heads = ("proposal", "changelog") if runs else ("proposal",)
        of = bump(*heads, runs=runs, limits=Limits(gpu_hours=33.0), now=150)
        unpaid = said(of)["stop"].unpaid
        assert (ended(of).outcome, unpaid.step, unpaid.cap) == (Outcome.BUDGET_EXHAUSTED, step, 33.0)
        assert unpaid.left == max(0.0, 33.0 - of.gpu_hours) and unpaid.lacking == unpaid.forecast - unpaid.left > 0
        for text in halves(said(of)["stop"]):
            assert f"{unpaid.forecast:.2f}" in text and f"{unpaid.lacking:.2f}" in text and "33.00" in text

    def test_says_so_in_the_last_words_too_and_still_proves_nothing(self) -> None:
        over = Ended(outcome=Outcome.BUDGET_EXHAUSTED, cause=Cause.BUDGET, at=later(1), forecast=50.0, step="sweep")
        en, zh = halves(report.last_words(bump("proposal", limits=Limits(gpu_hours=33.0)), over))
        assert "the final full sweep, which needs about 50.00 GPU-h" in en and "does not prove" in en and "最终完整扫描" in zh

    def test_names_the_day_where_no_day_can_hold_it(self) -> None:
        of = bump("proposal", limits=Limits(gpu_hours=None, gpu_hours_per_day=1.0), now=150)
        unpaid = said(of)["stop"].unpaid
        assert (unpaid.day, unpaid.left, unpaid.lacking) == (1.0, None, 0.0)
        assert "a day may hold 1.00" in halves(said(of)["stop"])[0]


class TestAnEvalThatIsWorse:
    OF = swept(Judged(run=SWEPT.id, head=SWEPT.head, seen=(3,), verdict=Verdict(verdict="regressed", findings=(EVAL, VOID))))

    def test_is_told_by_task_and_filter(self) -> None:
        (line,) = said(self.OF)["stop"].regressions
        assert line.task == "gsm8k strict"
        assert all("`gsm8k strict`" in text for text in halves(said(self.OF)["stop"]))

    def test_voids_the_figures_beside_it_and_the_report_says_so(self) -> None:
        for slot in ("sweep-0", "stop"):
            en, zh = halves(said(self.OF)[slot])
            assert "performance findings are void" in en and "性能结论作废" in zh

    def test_voids_nothing_where_no_eval_failed(self) -> None:
        alone = Verdict(verdict="regressed", findings=(replace(VOID, void=False, finding="regressed"),))
        of = swept(Judged(run=SWEPT.id, head=SWEPT.head, seen=(3,), verdict=alone))
        assert "void" not in halves(said(of)["stop"])[0]


class TestTheBaselineBesideIt:
    def of(self, *runs: int, notes: tuple[str, ...] = ()) -> Bump:
        rows = tuple(Row(point=Cell(recipe="r", concurrency=1), metric="tput_per_gpu", value=float(run), unit="x", run=run) for run in runs)
        made = Baseline(date="2026-09-01", image="old", run=runs[0], attempt=1, head=None, pull=None, fingerprint="f", rows=rows, notes=notes)
        new = Row(point=Cell(recipe="r", concurrency=1), metric="tput_per_gpu", value=9.0, unit="x")
        also = replace(new, metric="ttft")
        told = Judged(run=SWEPT.id, head=SWEPT.head, seen=(3,), rows=(new, also), verdict=Verdict(verdict="neutral"))
        return bump("proposal", "changelog", runs=(GREEN, SWEPT), judgements=(told,), now=150, labels=(LABEL,),
                    plan=replace(subject().plan, baseline=made))

    def test_names_how_many_runs_its_medians_are_of(self) -> None:
        for of, said_ in ((self.of(9, 8, 7), True), (self.of(9), False)):
            for record in (report.sweep(of, SWEPT, passed=None), report.proposal(of, ended=None)):
                en, zh = halves(record)
                assert ("and 2 other runs, medians" in en, "另外 2 次运行" in zh) == (said_, said_)

    def test_says_of_a_value_that_was_refused_that_it_was(self) -> None:
        of = self.of(9, notes=("value-negative:1:ttft",))
        for record in (report.sweep(of, SWEPT, passed=None), report.proposal(of, ended=None)):
            en, zh = halves(record)
            assert "the published value cannot be a measurement" in en and "已发布的数值不可能是测量结果" in zh
        assert "cannot be a measurement" not in halves(report.sweep(self.of(9), SWEPT, passed=None))[0]
