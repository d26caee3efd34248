"""The pull request's body: goal, frozen baseline, state, one line an attempt."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from bot import budget
from bot.baseline import medians
from bot.decide.control import controls
from bot.decide.report import planned
from bot.decide.report.parts import COLUMNS, Where, behind, ordered, passed_over, result, scores, spent, state, values
from bot.decide.runs import repeats, smokes, steps
from bot.model.bump import Bump, Ended
from bot.model.lines import AbsentLine, AttemptLine, BaselineBlock, Cell, Line, Table
from bot.model.record import Proposal
from bot.model.result import Baseline, Score
from bot.model.run import Run

# Settings that the body tells by themselves.
TOLD_ELSEWHERE = ("concurrency", "scenario")


def proposal(bump: Bump, *, ended: Ended | None) -> Proposal:
    """The body as it should read now; `ended` is the outcome being decided in this very look, if any."""
    subject, plan = bump.subject, bump.subject.plan
    recipe, (checks, unshown) = subject.family[0], planned.shown(planned.check_lines(bump))
    throughput = [point for point in recipe.points if point.kind == "throughput"]
    return Proposal(
        recipe=recipe.key,
        beside=tuple(member.key for member in subject.family[1:]),
        engine=recipe.framework,
        old=subject.candidate.old,
        new=subject.candidate.new,
        text=subject.candidate.text,
        settings={name: value for name, value in recipe.settings.items() if name not in TOLD_ELSEWHERE},
        concurrencies=tuple(sorted({point.concurrency for point in throughput})),
        evals=tuple(sorted({point.eval.task for point in recipe.points if point.eval})),
        lines_changed=len(plan.sites),
        files_changed=len({site.file for site in plan.sites}),
        only_image=plan.scope.only_image,
        rows_changed=plan.scope.changed_rows,
        rows_by=plan.scope.by,
        repushed=subject.candidate.repushed,
        was=subject.candidate.was,
        comparisons=tuple(map(planned.compared, plan.comparisons)),
        baseline=baseline_block(bump, plan.baseline) if plan.baseline else None,
        missing_baseline=plan.missing_baseline,
        state=state(bump, ended),
        attempts=attempt_lines(bump),
        notes=plan.notes,
        control=budget.price_control(bump) if plan.control else None,
        checks=checks, unshown=unshown, stops=planned.stop_lines(bump), questions=planned.question_lines(bump),
        repairs=planned.repair_lines(bump), hints=planned.hint_lines(subject.candidate),
        siblings=planned.sibling_lines(plan)[:planned.SIBLINGS],
        siblings_more=max(0, len(plan.siblings) - planned.SIBLINGS), carried=planned.carried_lines(plan), pins=plan.pins,
    )


def baseline_block(bump: Bump, baseline: Baseline) -> BaselineBlock:
    """The frozen baseline as a table, with its evals and what could not be verified."""
    old = values(bump, medians(baseline.rows))
    lines = tuple(
        Line(recipe=point[0], concurrency=point[1], cells=tuple(_old(baseline, old, point, metric) for metric in COLUMNS))
        for point in ordered(bump, {point for point, metric in old if metric in COLUMNS})
    )
    published = [
        Score(concurrency=row.point.concurrency, task=row.task or "", metric=row.stat or "", value=row.value, n=row.n or 0,
              recipe=row.point.recipe)
        for row in baseline.rows
        if row.metric == "eval"
    ]
    table = Table(metrics=COLUMNS, lines=lines, baseline_run=baseline.run, baseline_runs=behind(baseline))
    return BaselineBlock(
        date=baseline.date, run=baseline.run, attempt=baseline.attempt, head=baseline.head, pull=baseline.pull,
        fingerprint=baseline.fingerprint, table=table,
        scores=scores(bump, published), notes=baseline.notes, source=baseline.source, absent=_absent(bump, baseline),
    )


def _absent(bump: Bump, baseline: Baseline) -> tuple[AbsentLine, ...]:
    """The points without a baseline, those of one topology and one reason on one line; the recipe stands where a family has
    several. A point that was never published at a configuration that was is a note already."""
    lines: dict[tuple[str, str, str], list[int]] = {}
    several = len(bump.subject.family) > 1
    for one in baseline.absent:
        if one.why != "not-published":
            key = (one.point.recipe if several else "", one.point.topology or "", one.why)
            lines.setdefault(key, []).append(one.point.concurrency)
    return tuple(AbsentLine(recipe=recipe, topology=topology, why=why, concurrencies=tuple(sorted(found)))
                 for (recipe, topology, why), found in lines.items())


def attempt_lines(bump: Bump) -> tuple[AttemptLine, ...]:
    """One line an attempt: the smokes by their number, then the final sweep that ran on the last head."""
    lines: list[AttemptLine] = []
    tested = [head for head in bump.memory.heads if head.why in ("proposal", "repair")]
    for number, head in enumerate(tested):
        runs = [run for run in bump.world.runs if run.stage == "smoke" and run.head == head.sha]
        lines.append(_line(bump, number, head.sha, runs, last=head is tested[-1]))
    sweeps = [run for run in bump.world.runs if run.stage == "sweep" and any(job.role != "other" for job in run.jobs)]
    if sweeps:
        newest = max(sweeps, key=lambda run: (run.created, run.id))
        again = [*(run for run in repeats(bump) if run.head == newest.head), *controls(bump, newest)]
        lines.append(_line(bump, None, newest.head, [newest], beside=again))
    return tuple(lines)


def _line(bump: Bump, number: int | None, head: str, runs: list[Run], *, beside: Sequence[Run] = (),
          last: bool = True) -> AttemptLine:
    run = max(runs, key=lambda run: (run.created, run.id)) if runs else None
    return AttemptLine(
        number=number, head=head, run=run.id if run else None, attempt=run.attempt if run else None,
        result=_word(bump, number, run) if run or last else "replaced", gpu_hours=fsum(spent(run) for run in (*runs, *beside)),
    )


def _word(bump: Bump, number: int | None, run: Run | None) -> str:
    """How the attempt stands: a stage of its smoke that passed is not the smoke, while others are to come; and a bump that is over
    starts nothing more."""
    word = "not-reached" if run is None and bump.memory.ended is not None else result(bump, run)
    to_come = number is not None and run is not None and run.head == bump.tested_head and any(
        not smokes(bump, step) for step in steps(bump))
    return "running" if word == "passed" and to_come and bump.memory.ended is None else word


def _old(baseline: Baseline, old: dict[tuple[Where, str], float], point: Where, metric: str) -> Cell:
    value = old.get((point, metric))
    why = None if value is not None else passed_over(baseline, point, metric) or "not-published"
    return Cell(metric=metric, old=value, missing=why)
