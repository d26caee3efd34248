"""What a bump may still spend: repairs, infrastructure retries, GPU-hours. Forecast before a dispatch, counted after."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from statistics import median

from bot.model.bump import Bump, Limits
from bot.model.recipe import Point
from bot.model.run import Run


def minutes(kind: str, runs: Iterable[Run], limits: Limits) -> float:
    """Expected minutes of one job of a kind: the median of this bump's own successful jobs, else the layout's figure."""
    own = [
        (job.completed - job.started).total_seconds() / 60
        for run in runs
        for job in run.jobs
        if job.role == kind and job.conclusion == "success" and job.started and job.completed
    ]
    return median(own) if own else (limits.point_minutes if kind == "throughput" else limits.eval_minutes)


def points(bump: Bump) -> tuple[Point, ...]:
    """Every point and eval of the family: what a full sweep runs."""
    return tuple(point for recipe in bump.subject.family for point in recipe.points)


def smoke_points(bump: Bump) -> tuple[Point, ...]:
    """The lowest concurrency of each recipe and one eval beside it: the targeted smoke of a guest."""
    chosen: list[Point] = []
    for recipe in bump.subject.family:
        for kind in ("throughput", "eval"):
            cells = [point for point in recipe.points if point.kind == kind]
            if cells:
                chosen.append(min(cells, key=lambda point: point.concurrency))
    return tuple(chosen)


def price(bump: Bump, cells: Iterable[Point]) -> float:
    """GPU-hours these points are expected to hold: GPUs x expected hours of each, evals at their own length."""
    runs, limits = bump.world.runs, bump.subject.limits
    return fsum(cell.gpus * minutes(cell.kind, runs, limits) / 60 for cell in cells)


def price_smoke(bump: Bump) -> float:
    """GPU-hours that the targeted smoke is expected to hold."""
    return price(bump, smoke_points(bump))


def price_sweep(bump: Bump) -> float:
    """GPU-hours that every point and eval of the family is expected to hold."""
    return price(bump, points(bump))


def price_rerun(bump: Bump, run: Run) -> float:
    """GPU-hours of a run's failed jobs once more; of a sweep, what did not pass yet, since jobs that waited for a failed
    one run with it."""
    runs, limits = bump.world.runs, bump.subject.limits
    measuring = [job for job in run.latest_jobs if job.role != "other"]
    failed = [job for job in measuring if job.conclusion not in ("success", "skipped")]
    again = fsum(job.gpus * minutes(job.role, runs, limits) / 60 for job in failed)
    done = {(job.role, job.concurrency) for job in measuring if job.conclusion == "success"}
    rest = [cell for cell in points(bump) if (cell.kind, cell.concurrency) not in done]
    return max(again, price(bump, rest)) if run.stage == "sweep" else again


def price_repair(bump: Bump) -> float:
    """A repair is only worth its push if smoke and sweep after it can be paid too."""
    return price_smoke(bump) + price_sweep(bump)


def left(bump: Bump) -> float | None:
    """GPU-hours below the bump's cap; None when there is no cap."""
    cap = bump.subject.limits.gpu_hours
    return None if cap is None else max(0.0, cap - bump.gpu_hours)


def overrun(bump: Bump) -> bool:
    """Whether the runs hold more than the cap already: a forecast stops nothing that hangs."""
    cap = bump.subject.limits.gpu_hours
    return cap is not None and bump.gpu_hours > cap


def affords(bump: Bump, gpu_hours: float) -> bool:
    """Whether this many GPU-hours fit below what is left of the cap."""
    rest = left(bump)
    return rest is None or gpu_hours <= rest


def today(bump: Bump, gpu_hours: float) -> bool:
    """Whether this many GPU-hours fit into what the cluster may still be promised on this day."""
    cap = bump.subject.limits.gpu_hours_per_day
    return cap is None or bump.world.promised_today + gpu_hours <= cap


def repairs_left(bump: Bump) -> int:
    """Repairs that may still be tried; zero and less is none."""
    return bump.subject.limits.repairs - bump.memory.repairs_used
