"""The comment of the final full sweep: how its head came about, its runs, its progress, its numbers, its end."""

from __future__ import annotations

from collections.abc import Sequence

from bot.decide.control import controls, standing
from bot.decide.report.parts import COLUMNS, accounting, failures, proofs, refused, regressions, run_line, scores, table, void
from bot.decide.report.unsettled import again, lacking, reasons
from bot.decide.runs import repeats
from bot.model.bump import Bump, Judged, Update
from bot.model.lines import ControlLine, RunLine, Table
from bot.model.record import SweepReport
from bot.model.run import Run

PROFILED = (*COLUMNS, "profiled_requests")


def sweep(bump: Bump, run: Run, *, passed: bool | None, update: Update | None = None) -> SweepReport:
    """The sweep of the present head; `update` is the line of progress this telling adds to the ones told before."""
    judged, rules, baseline = bump.judged(run.id), bump.subject.rules.sweep, bump.subject.plan.baseline
    head, told = bump.memory.heads[-1], bump.told(f"sweep-{bump.memory.repairs_used}")
    second = [one for other in repeats(bump) if other.head == run.head and (one := bump.judged(other.id))]
    points = [job for job in run.latest_jobs if job.role == "throughput"]
    arm = bump.judged(judged.control) if judged and judged.control else None
    cut = baseline.samples if baseline else ()
    return SweepReport(
        head=run.head,
        base_tip=head.contains_base,
        synced=head.why == "sync",
        first_head=_before(bump),
        start=rules.start,
        label=rules.label if rules.start == "label" else None,
        runs=_runs(bump, run),
        points=len(points),
        evals=sum(job.role == "eval" for job in run.latest_jobs),
        concurrencies=tuple(sorted({job.concurrency for job in points if job.concurrency is not None})),
        progress=(*(told.updates if told else ()), *((update,) if update else ())),
        table=table(bump, judged.rows, judged.accounting, PROFILED, (run.id,), arm) if judged else None,
        repeat=_repeat(bump, second, arm),
        accounting=accounting(bump, judged.accounting if judged else ()),
        scores=scores(bump, judged.scores if judged else ()),
        failures=failures(bump, run, judged),
        baseline_cut=cut[0].cut if cut else None, baseline_n=cut[0].n if cut else None,
        verdict=judged.verdict.verdict if judged and judged.verdict else "inconclusive" if passed else None,
        void=void(judged),
        reasons=(*judged.gates, *reasons(bump, judged)) if judged else (),
        passed=passed,
        regressions=regressions(bump, judged),
        proofs=proofs(bump, judged.proofs if judged else (), again=[proof for one in second for proof in one.proofs]),
        again=again(bump, judged),
        refused=refused(bump, (judged, *second)),
        control=_control(bump, run, arm),
        lacking=() if arm else lacking(bump),
        compared=baseline is not None,
    )


def _runs(bump: Bump, run: Run) -> tuple[RunLine, ...]:
    """The sweeps and repeats of this head and the control arms beside this sweep, in the order in which they began."""
    found = [other for other in bump.world.runs if other.stage in ("sweep", "repeat") and other.head == run.head]
    return tuple(run_line(bump, other) for other in sorted([*found, *controls(bump, run)], key=lambda other: other.id))


def _before(bump: Bump) -> str | None:
    """The head with the first changelog entry, where another took its place."""
    first = next((head.sha for head in bump.memory.heads if head.why == "changelog"), None)
    return first if bump.memory.heads[-1].why == "sync" else None


def _repeat(bump: Bump, second: Sequence[Judged], arm: Judged | None) -> Table | None:
    """What was measured twice and counts: a repeat that the old image answered looks like an all-clear, and is none."""
    sound = [(one, [row for row in one.rows if not any(
        (proof.role, proof.recipe, proof.concurrency) == ("throughput", row.point.recipe, row.point.concurrency)
        for proof in one.proofs if not proof.holds)]) for one in second]
    return table(bump, [row for _, rows in sound for row in rows], [], COLUMNS, tuple(one.run for one, rows in sound if rows), arm)


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
