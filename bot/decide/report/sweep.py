"""The comment of the final full sweep: how its head came about, its runs, its progress, its numbers, its end."""

from __future__ import annotations

from bot.decide.control import controls, standing
from bot.decide.report.parts import (
    COLUMNS,
    accounting,
    again,
    failures,
    lacking,
    proofs,
    reasons,
    refused,
    regressions,
    run_line,
    scores,
    table,
    void,
)
from bot.decide.runs import repeats
from bot.model.bump import Bump, Judged, Update
from bot.model.lines import ControlLine
from bot.model.record import SweepReport
from bot.model.run import Run

PROFILED = (*COLUMNS, "profiled_requests")


def sweep(bump: Bump, run: Run, *, passed: bool | None, update: Update | None = None) -> SweepReport:
    """The sweep of the present head; `update` is the line of progress this telling adds to the ones told before."""
    judged, rules, baseline = bump.judged(run.id), bump.subject.rules.sweep, bump.subject.plan.baseline
    head, told = bump.memory.heads[-1], bump.told(f"sweep-{bump.memory.repairs_used}")
    progress = (*(told.updates if told else ()), *((update,) if update else ()))
    repeated = [other for other in repeats(bump) if other.head == run.head]
    sweeps = [other for other in bump.world.runs if other.stage == "sweep" and other.head == run.head]
    second = [one for other in repeated if (one := bump.judged(other.id))]
    points = [job for job in run.latest_jobs if job.role == "throughput"]
    arm = bump.judged(judged.control) if judged and judged.control else None
    cut = baseline.samples if baseline else ()
    first = next((earlier.sha for earlier in bump.memory.heads if earlier.why == "changelog"), None)
    return SweepReport(
        head=run.head,
        base_tip=head.contains_base,
        synced=head.why == "sync",
        first_head=first if head.why == "sync" else None,
        start=rules.start,
        label=rules.label if rules.start == "label" else None,
        runs=tuple(run_line(bump, other) for other in sorted([*sweeps, *repeated, *controls(bump, run)], key=_number)),
        points=len(points),
        evals=sum(job.role == "eval" for job in run.latest_jobs),
        concurrencies=tuple(sorted({job.concurrency for job in points if job.concurrency is not None})),
        progress=progress,
        table=table(bump, judged.rows, judged.accounting, PROFILED, (run.id,), arm) if judged else None,
        repeat=table(bump, [row for one in second for row in one.rows], [], COLUMNS, tuple(one.run for one in second), arm),
        accounting=accounting(bump, judged.accounting if judged else ()),
        scores=scores(bump, judged.scores if judged else ()),
        failures=failures(bump, run, judged),
        baseline_cut=cut[0].cut if cut else None, baseline_n=cut[0].n if cut else None,
        verdict=judged.verdict.verdict if judged and judged.verdict else "inconclusive" if passed else None,
        void=void(judged),
        reasons=(*judged.gates, *reasons(bump, judged)) if judged else (),
        passed=passed,
        regressions=regressions(bump, judged),
        proofs=proofs(bump, [proof for one in (*([judged] if judged else []), *second) for proof in one.proofs]),
        again=again(bump, judged),
        refused=refused(bump, (judged, *second)),
        control=_control(bump, run, arm),
        lacking=lacking(bump),
        compared=baseline is not None,
    )


def _number(run: Run) -> int:
    return run.id


def _control(bump: Bump, run: Run, arm: Judged | None) -> ControlLine | None:
    """How the run of the old image stands, in a word; `arm` is its evidence where the verdict rests on it."""
    found = standing(bump, run)
    if found is None:
        return None
    judged = bump.judged(found.run.id) if found.run else None
    state = {"whole": "used" if arm else "unfit", "retry": "due"}.get(found.state, found.state)
    ended = bump.memory.ended is not None and found.pending
    return ControlLine(
        state="stopped" if ended else state, run=found.run.id if found.run else None, gpu_hours=found.price or None,
        gates=judged.gates if judged and state == "unfit" else (), published=bump.subject.plan.baseline is not None)
