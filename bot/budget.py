"""What a bump may still spend: repairs, infrastructure retries, GPU-hours. Forecast before a dispatch, counted after."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from statistics import median

from bot.model.bump import Bump
from bot.model.recipe import Point
from bot.model.rules import Limits
from bot.model.run import Job, Run


def minutes(kind: str, runs: Iterable[Run], limits: Limits) -> float:
    """Expected minutes of one job of a kind: the median of the successful jobs of `runs`, else the layout's figure."""
    own = [
        (job.completed - job.started).total_seconds() / 60
        for run in runs
        for job in run.jobs
        if job.role == kind and job.conclusion == "success" and job.started and job.completed
    ]
    return median(own) if own else (limits.point_minutes if kind == "throughput" else limits.eval_minutes)


def _alike(bump: Bump, cell: Point) -> list[Run]:
    """The runs whose jobs tell how long this cell takes: a sample of an eval says nothing of the whole one."""
    sampled = any(point.eval and point.eval.limit for point in bump.subject.plan.smoke)
    if cell.kind == "throughput" or not sampled:
        return list(bump.world.runs)
    return [run for run in bump.world.runs if (run.stage == "smoke") == bool(cell.eval and cell.eval.limit)]


def points(bump: Bump) -> tuple[Point, ...]:
    """Every point and eval of the family: what a full sweep runs."""
    return tuple(point for recipe in bump.subject.family for point in recipe.points)


def smoke_points(bump: Bump, step: int) -> tuple[Point, ...]:
    """What one stage of the smoke runs, over the whole family."""
    return tuple(point for point in bump.subject.plan.smoke if point.stage == step)


def price(bump: Bump, cells: Iterable[Point]) -> float:
    """GPU-hours these points are expected to hold: GPUs x expected hours of each, evals at their own length."""
    limits = bump.subject.limits
    return fsum(cell.gpus * minutes(cell.kind, _alike(bump, cell), limits) / 60 for cell in cells)


def price_smoke(bump: Bump, step: int | None = None) -> float:
    """GPU-hours that a stage of the smoke is expected to hold; without one, the whole smoke."""
    return price(bump, bump.subject.plan.smoke if step is None else smoke_points(bump, step))


def price_sweep(bump: Bump) -> float:
    """GPU-hours that every point and eval of the family is expected to hold."""
    return price(bump, points(bump))


def control_points(bump: Bump) -> tuple[Point, ...]:
    """What a run of the old image beside the sweep measures: every point and no eval; nothing where no policy asks for one."""
    return tuple(point for point in points(bump) if point.kind == "throughput") if bump.subject.plan.control else ()


def price_control(bump: Bump) -> float:
    """GPU-hours that the control arm is expected to hold; 0 where no policy asks for one."""
    return price(bump, control_points(bump))


def rest(bump: Bump, run: Run) -> float:
    """GPU-hours that a sweep is expected to hold beyond those it has held: no other run may take them from it."""
    if run.terminal:
        return 0.0
    done = [job for job in run.latest_jobs if job.conclusion == "success"]
    to_come = price(bump, [cell for cell in points(bump) if not any(measures(job, cell) for job in done)])
    return max(0.0, to_come - fsum(job.gpu_hours(bump.now) for job in run.latest_jobs if job.status != "completed"))


def price_rerun(bump: Bump, run: Run) -> float:
    """GPU-hours of a run's failed jobs once more; of a sweep, what did not pass yet, since jobs that waited for a failed
    one run with it."""
    runs, limits = bump.world.runs, bump.subject.limits
    measuring = [job for job in run.latest_jobs if job.role != "other"]
    failed = [job for job in measuring if job.conclusion not in ("success", "skipped")]
    again = fsum(job.gpus * minutes(job.role, runs, limits) / 60 for job in failed)
    done = [job for job in measuring if job.conclusion == "success"]
    rest = [cell for cell in points(bump) if not any(measures(job, cell) for job in done)]
    return max(again, price(bump, rest)) if run.stage == "sweep" else again


def measures(job: Job, cell: Point) -> bool:
    """Whether a job is this cell's; a job whose name tells no recipe is that of any with its concurrency."""
    return (job.role, job.concurrency) == (cell.kind, cell.concurrency) and job.recipe in ("", cell.recipe)


def price_repair(bump: Bump) -> float:
    """A repair is only worth its push if smoke and sweep after it can be paid too."""
    return fsum(repair_steps(bump))


def repair_steps(bump: Bump) -> tuple[float, ...]:
    """What follows a repair, dispatch by dispatch."""
    stages = sorted({point.stage for point in bump.subject.plan.smoke if point.stage})
    return (*(price_smoke(bump, stage) for stage in stages), price_sweep(bump))


def left(bump: Bump) -> float | None:
    """GPU-hours below the bump's cap; None when there is no cap."""
    cap = bump.subject.limits.gpu_hours
    return None if cap is None else max(0.0, cap - bump.gpu_hours)


def overrun(bump: Bump) -> bool:
    """Whether the runs hold more than the cap already: a forecast stops nothing that hangs."""
    cap = bump.subject.limits.gpu_hours
    return cap is not None and bump.gpu_hours > cap


def affords(bump: Bump, *steps: float, beside: float = 0.0) -> bool:
    """Whether these steps, each so many GPU-hours, fit below what is left of the cap, and each of them into a day: one that
    no day can hold would wait for the next one for ever. `beside` is what a run that goes on will still hold."""
    cap, day = left(bump), bump.subject.limits.gpu_hours_per_day
    return (cap is None or fsum((*steps, beside)) <= cap) and (day is None or max(steps, default=0.0) <= day)


def today(bump: Bump, gpu_hours: float) -> bool:
    """Whether this many GPU-hours fit into what the cluster may still be promised on this day."""
    cap = bump.subject.limits.gpu_hours_per_day
    return cap is None or bump.world.promised_today + gpu_hours <= cap


def repairs_left(bump: Bump) -> int:
    """Repairs that may still be tried; zero and less is none."""
    return bump.subject.limits.repairs - bump.memory.repairs_used
