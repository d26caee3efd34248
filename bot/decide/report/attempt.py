"""The comment of one attempt: what changed, what ran, what came of it, what comes next."""

from __future__ import annotations

from bot.decide.report.parts import SMOKE_COLUMNS, failures, run_line, table
from bot.decide.starting import dispatch
from bot.model.bump import Bump
from bot.model.record import Attempt
from bot.model.run import Run


def attempt(bump: Bump, run: Run, *, next_: str) -> Attempt:
    """The initial attempt or the newest repair; `next_` is a word of the glossary for what follows."""
    subject, plan, number = bump.subject, bump.subject.plan, bump.memory.repairs_used
    repair = bump.memory.applied[-1] if number and bump.memory.applied else None
    judged = bump.judged(run.id)
    smokes = [other for other in bump.world.runs if other.stage == "smoke" and other.head == run.head]
    concurrencies = {row.point.concurrency for row in judged.rows} if judged else set()
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
        command=_command(bump),
        runs=tuple(run_line(bump, smoke) for smoke in smokes),
        comparisons=() if number else plan.comparisons,
        failures=failures(bump, run, judged),
        table=table(bump, judged.rows, judged.accounting, SMOKE_COLUMNS, run.id) if judged else None,
        scores=judged.scores if judged else (),
        accounting=judged.accounting if judged else (),
        baseline_accounting=tuple(
            counted for counted in (plan.baseline.accounting if plan.baseline else ()) if counted.concurrency in concurrencies
        ),
        warnings=judged.warnings if judged else {},
        next=next_,
        passed={"sweep": True, "repair": False, "stop": False}.get(next_),
        new=None if number else subject.candidate.new,
        repair=repair.id if repair else None,
    )


def _command(bump: Bump) -> str | None:
    """The generator command of the smoke, as the workflow was given it."""
    inputs = dispatch(bump, bump.tested_head or "").inputs
    return next((value for name, value in inputs.items() if "command" in name), None)
