"""Pieces that several records share: state, run lines, failures as people may read them, tables of points."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from bot.decide.phase import SweepDue, needs_approval, phase_of
from bot.model.bump import Bump, Ended, JobFailure, Judged
from bot.model.outcome import ENDINGS, Mover
from bot.model.record import Cell, Failure, Line, RunLine, State, Table
from bot.model.result import Accounting, Row
from bot.model.run import Run

# What people compare first, in the order of the seed's tables.
COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty")
SMOKE_COLUMNS = ("tput_per_gpu", "output_tput", "input_tput", "ttft", "itl", "intvty", "profiled_requests")


# Which statistic stands for a metric where a file gives several.
STATS = {"p50": 0, None: 1, "mean": 2}


def spent(run: Run) -> float:
    """GPU-hours of the finished jobs: a figure that does not change while nothing happens."""
    return fsum(job.gpus * (job.completed - job.started).total_seconds() / 3600
               for job in run.jobs if job.started and job.completed)


def state(bump: Bump, ended: Ended | None) -> State:
    """The state line; the phase is a word of the glossary."""
    phase = phase_of(bump)
    waits: Mover = "maintainer" if isinstance(phase, SweepDue) and needs_approval(bump) else "bot"
    mover: Mover = waits if ended is None else ENDINGS[ended.outcome].next
    limits = bump.subject.limits
    return State(
        phase=ended.outcome.value if ended else PHASE_WORDS[type(phase).__name__],
        next=mover,
        repairs=bump.memory.repairs_used,
        repairs_max=limits.repairs,
        gpu_hours=fsum(spent(run) for run in bump.world.runs),
        cap=limits.gpu_hours,
    )


PHASE_WORDS = {
    "Opening": "proposed",
    "Taken": "handed-off",
    "SmokeDue": "smoke-due",
    "Smoking": "smoke-running",
    "SmokeBroken": "smoke-failed",
    "ChangelogDue": "smoke-passed",
    "Settling": "smoke-passed",
    "Blocked": "blocked",
    "SweepDue": "smoke-passed",
    "Sweeping": "sweep-running",
    "SweepBroken": "sweep-failed",
    "Swept": "sweep-passed",
    "Finishing": "finishing",
    "Over": "over",
}


def run_line(bump: Bump, run: Run) -> RunLine:
    """A run with its reason, its link and the GPU-hours of its finished jobs."""
    web = bump.world.pull.url.rpartition("/pull/")[0] if bump.world.pull else ""
    url = f"{web}/actions/runs/{run.id}"
    return RunLine(
        id=run.id, attempt=run.attempt, workflow=run.workflow, reason=run.reason, created=run.created,
        conclusion=run.conclusion, gpu_hours=spent(run), url=url,
    )


def failure(bump: Bump, failed: JobFailure, newest: int) -> Failure:
    """One failed job. The node is named as the layout's `publish.hosts` allows, the file by its role alone."""
    triage = failed.triage
    return Failure(
        job=f"{'eval ' if failed.role == 'eval' else ''}c{failed.concurrency}",
        minutes=failed.minutes,
        class_=triage.class_,
        excerpt=triage.excerpt,
        file=_role(triage.file, triage.node),
        node=_node(bump, triage.node, failed.nodes),
        cause=triage.cause,
        retried=failed.attempt < newest,
    )


def failures(bump: Bump, run: Run, judged: Judged | None) -> tuple[Failure, ...]:
    """Every failed job of a run as people may read it, the oldest first."""
    told = judged.failures if judged else ()
    if bump.memory.ended is not None:  # what we stopped ourselves did not fail, and no other run took its place
        told = tuple(failed for failed in told if failed.triage.class_ != "cancelled-by-concurrency")
    return tuple(failure(bump, failed, run.attempt) for failed in told)


def table(bump: Bump, rows: Iterable[Row], accounting: Iterable[Accounting], columns: tuple[str, ...], run: int) -> Table | None:
    """New values beside the frozen baseline's, one line a concurrency that was measured; None when nothing was."""
    baseline = bump.subject.plan.baseline
    old = values(baseline.rows, baseline.accounting) if baseline else {}
    new = values(rows, accounting)
    measured = sorted({concurrency for concurrency, metric in new if metric in columns})
    if not measured:
        return None
    lines = tuple(
        Line(concurrency=concurrency, cells=tuple(_cell(metric, concurrency, old, new) for metric in columns))
        for concurrency in measured
    )
    return Table(metrics=columns, lines=lines, runs=(run,), baseline_run=baseline.run if baseline else None)


def values(rows: Iterable[Row], accounting: Iterable[Accounting] = ()) -> dict[tuple[int, str], float]:
    """One value a point and metric: the median where there is one, since that is what the tables say they show."""
    found = {(counted.concurrency, "profiled_requests"): float(counted.profiled) for counted in accounting}
    chosen: dict[tuple[int, str], int] = {}
    for row in rows:
        key, rank = (row.point.concurrency, row.metric), STATS.get(row.stat, len(STATS))
        if row.metric != "eval" and rank < chosen.get(key, len(STATS) + 1):
            found[key], chosen[key] = row.value, rank
    return found


def _cell(metric: str, concurrency: int, old: dict[tuple[int, str], float], new: dict[tuple[int, str], float]) -> Cell:
    before, after = old.get((concurrency, metric)), new.get((concurrency, metric))
    missing = "no-baseline" if before is None else "not-measured" if after is None else None
    return Cell(metric=metric, old=before, new=after, missing=missing)


def _role(file: str | None, node: str | None) -> str | None:
    """`<node>_frontend_0.out` is told as frontend_0: the name of a host is nobody's business on the forge."""
    if file is None:
        return None
    name = file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return name.removeprefix(f"{node}_") if node else name


def _node(bump: Bump, node: str | None, nodes: tuple[str, ...]) -> str | None:
    hosts = bump.subject.rules.hosts
    if node is None or hosts == "none":
        return None
    if hosts == "full":
        return node
    known = sorted({*nodes, node})
    return f"{known.index(node) + 1}/{len(known)}"
