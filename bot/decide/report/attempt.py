"""The comment of one attempt: what changed, what ran, what came of it, what comes next."""

from __future__ import annotations

from bot import budget
from bot.decide.progress import named
from bot.decide.report.parts import SMOKE_COLUMNS, accounting, failures, proofs, refused, result, run_line, scores, table
from bot.decide.report.planned import compared
from bot.decide.runs import smokes, steps
from bot.decide.starting import dispatch_smoke
from bot.model.bump import Bump, Judged
from bot.model.lines import StageLine
from bot.model.record import Attempt
from bot.model.run import Run


def attempt(bump: Bump, run: Run, *, next_: str) -> Attempt:
    """The initial attempt or the newest repair; `run` is its newest smoke, `next_` a word of the glossary for what follows."""
    subject, plan, number = bump.subject, bump.subject.plan, bump.memory.repairs_used
    repair = bump.memory.applied[-1] if number and bump.memory.applied else None
    runs = [other for other in bump.world.runs if other.stage == "smoke" and other.head == run.head]
    seen = [judged for other in smokes(bump) if (judged := bump.judged(other.id))][::-1]
    rows = [row for judged in seen for row in judged.rows]
    counted = [one for judged in seen for one in judged.accounting]
    measured = {(one.recipe, one.concurrency) for one in counted}
    return Attempt(
        number=number,
        of=subject.limits.repairs,
        text=subject.candidate.text,
        head=run.head,
        lines_changed=len(plan.sites),
        files=repair.files if repair else tuple(dict.fromkeys(site.file for site in plan.sites)),
        changes=repair.changes if repair else (),
        kept=repair.kept if repair else (),
        why=repair.why if repair else None,
        serving_path_changed=bool(repair and repair.serving_path_changed),
        siblings=repair.siblings if repair else (),
        stages=stages(bump),
        runs=tuple(run_line(bump, smoke) for smoke in runs),
        comparisons=() if number else tuple(map(compared, plan.comparisons)),
        failures=tuple(failed for smoke in runs for failed in failures(bump, smoke, bump.judged(smoke.id))),
        table=table(bump, rows, counted, SMOKE_COLUMNS, tuple(judged.run for judged in seen if _measured(judged))),
        scores=scores(bump, [score for judged in seen for score in judged.scores]),
        accounting=accounting(bump, counted),
        baseline_accounting=accounting(bump, [
            one for one in (plan.baseline.accounting if plan.baseline else ())
            if (one.recipe, one.concurrency) in measured or not one.recipe and one.concurrency in {conc for _, conc in measured}
        ]),
        warnings=_warnings([judged.warnings for judged in seen]),
        next=next_,
        passed={"sweep": True, "repair": False, "stop": False}.get(next_),
        new=None if number else subject.candidate.new,
        repair=repair.id if repair else None,
        proofs=proofs(bump, [proof for judged in seen for proof in judged.proofs]),
        refused=refused(bump, seen),
    )


def stages(bump: Bump) -> tuple[StageLine, ...]:
    """The stages of the smoke of the head under test, those to come too; behind one that failed no other is reached."""
    lines: list[StageLine] = []
    for step in steps(bump):
        broken = any(line.result in ("failed", "cancelled", "not-reached") for line in lines)
        lines.append(_stage(bump, step, "not-reached" if broken else "waiting"))
    return tuple(lines)


def _stage(bump: Bump, step: int, otherwise: str) -> StageLine:
    points, runs = budget.smoke_points(bump, step), smokes(bump, step)
    names = bump.subject.rules.smoke.stages
    limits = [point.eval.limit for point in points if point.eval and point.eval.limit]
    inputs = dispatch_smoke(bump, bump.tested_head or "", step).inputs
    return StageLine(
        number=step, name=names[step - 1] if step <= len(names) else "trim",
        points=tuple(named(bump, point.recipe, point.kind, point.concurrency) for point in points),
        command=next((value for name, value in inputs.items() if "command" in name), None) if runs else None,
        result=result(bump, runs[0]) if runs else otherwise, run=runs[0].id if runs else None,
        sample=min(limits) if limits else None,
    )


def _measured(judged: Judged) -> bool:
    return any(row.metric != "eval" for row in judged.rows)


def _warnings(counted: list[dict[str, int]]) -> dict[str, int]:
    names = sorted({name for one in counted for name in one})
    return {name: sum(one.get(name, 0) for one in counted) for name in names}
