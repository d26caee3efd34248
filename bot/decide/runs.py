"""What the runs of a bump are: which stands for what, which passed, which may go on. Judged by job, never by a run's word:
a guest's run can fail on a broken collector."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import fsum

from bot.decide.people import held, sweep_labels, wished_smoke
from bot.model.bump import Bump, Judged
from bot.model.recipe import Point
from bot.model.result import Rerun
from bot.model.run import Job, Run, Stage

GOOD = ("success", "skipped", "neutral")
# How long a label may stand before the forge lists the run that it started: runs appear late, and a label put on again
# in the meantime would start a second sweep and stop the first.
LISTING = timedelta(minutes=15)
# Why a point is worth measuring again: a suspicion that a second run confirms or clears, or a question that is only open.
SUSPICIONS = frozenset({"suspect", "cold-run"})
UNDECIDED = frozenset({"wide-interval", "too-few-points"})


def failed_jobs(run: Run) -> tuple[Job, ...]:
    """Measuring jobs of the newest attempt that did not pass."""
    return tuple(job for job in run.latest_jobs if job.role != "other" and _bad(job))


def passed(run: Run) -> bool:
    """Whether a run is over, measured something, and no job that measures failed. A generator that finds no point and a
    run cancelled in the queue are over without a failed job too, and neither has shown anything."""
    measured = any(job.role != "other" and job.conclusion == "success" for job in run.latest_jobs)
    return run.terminal and measured and not failed_jobs(run)


def gates_hold(bump: Bump, run: Run) -> bool:
    """Whether no gate beside the jobs' own (coverage, failed requests) is known to be broken by what the run measured."""
    judged = bump.judged(run.id)
    return not (judged and judged.gates)


def rerunnable(run: Run) -> bool:
    """Whether the forge has a job to run again; it refuses for a run whose every job passed, or that never had one."""
    return any(_bad(job) for job in run.latest_jobs)


def measures(run: Run) -> bool:
    """Whether a run has jobs that measure: the seed's push run had none, since no label was on."""
    return any(job.role != "other" and job.conclusion != "skipped" for job in run.jobs)


def _bad(job: Job) -> bool:
    return job.status == "completed" and job.conclusion not in GOOD


def steps(bump: Bump) -> tuple[int, ...]:
    """The stages of the smoke that have something to run, in order; one where the points are not known."""
    return tuple(sorted({point.stage for point in bump.subject.plan.smoke if point.stage})) or (1,)


def smokes(bump: Bump, step: int | None = None) -> tuple[Run, ...]:
    """Smokes of the head under test, newest first; of one stage, or of all. A person's wish for a new smoke makes those
    before it count no more, if nothing ran at that moment: while one runs, it is the new one, and a sweep is not stopped for
    one."""
    mine = _of(bump, "smoke", bump.tested_head)
    swept = min((run.created for run in bump.world.runs if run.stage != "smoke" and run.head == bump.head and measures(run)),
                default=None)
    wishes = [wish for wish in wished_smoke(bump) if swept is None or wish < swept]
    since = max((wish for wish in wishes if all(_over(run, wish) for run in mine if run.created < wish)), default=None)
    return tuple(run for run in mine if (since is None or run.created >= since) and step in (None, run.step))


def _over(run: Run, moment: datetime) -> bool:
    return run.ended is not None and run.ended <= moment


def repeats(bump: Bump) -> tuple[Run, ...]:
    """Runs that measured suspect points of the present head again, newest first."""
    return _of(bump, "repeat", bump.head)


def suspects(bump: Bump, judged: Judged) -> tuple[Point, ...]:
    """The points that the verdict wants measured once more before it says anything, and of which one more run would decide: a
    suspicion always; an interval that is too wide only where it needs no more than one, and no more than a sweep may cost
    unasked. An image that was not proven is for somebody to clear first, and no run of ours adds to a baseline's history."""
    wanted = judged.verdict.rerun if judged.verdict and judged.verdict.verdict == "inconclusive" else ()
    sure = [again for again in wanted if set(_whys(again)) & SUSPICIONS]
    if not sure and wanted and all(again.runs == 1 and set(_whys(again)) & UNDECIDED for again in wanted):
        most = bump.subject.limits.approve_above
        sure = list(wanted) if most is None or fsum(again.gpu_hours or 0.0 for again in wanted) <= most else []
    cells = {(again.point.recipe, again.point.concurrency) for again in sure}
    return tuple(point for recipe in bump.subject.family for point in recipe.points
                 if point.kind == "throughput" and (point.recipe, point.concurrency) in cells)


def _whys(again: Rerun) -> list[str]:
    """The words of `suspect:ttft,itl;wide-interval:tput_per_gpu`."""
    return [part.partition(":")[0] for part in again.why.split(";")]


def starting(bump: Bump) -> bool:
    """Whether a sweep label was put on a moment ago and the forge does not list the run yet that it starts."""
    rules = bump.subject.rules.sweep
    if rules.start != "label" or not bump.memory.heads:
        return False
    put = [one.at for one in bump.world.labellings if one.label in {rules.label, *rules.labels} and one.added]
    if not put or put[-1] < bump.memory.heads[-1].at or bump.now - put[-1] >= LISTING:
        return False
    return not any(run.stage == "sweep" and run.reason in ("label", "ready") and run.created >= put[-1] - timedelta(seconds=5)
                   for run in bump.world.runs)


def alive_sweeps(bump: Bump) -> tuple[Run, ...]:
    """Runs on the present head that measure or are about to, the one to follow first, then newest first.

    The seed had two for one head: the push's, which without a label measures nothing, and the label's, which cancelled it.
    A run that measures is followed before a younger one that does not yet: any other label starts such a run too, in a
    group of its own, and it ends with every job skipped.
    """
    begun = bump.subject.rules.sweep.start == "dispatch" or bool(sweep_labels(bump))
    alive = [run for run in _of(bump, "sweep", bump.head)
             if not (run.terminal and run.conclusion in ("cancelled", "skipped"))
             and (measures(run) or (begun and not run.terminal))]
    return tuple(sorted(alive, key=lambda run: run.terminal or not measures(run)))


def sweep_of(bump: Bump) -> Run | None:
    """The sweep that stands for the present head: one that is alive or was judged, else one that somebody cancelled and
    that can go on where it was, unless a person stopped it by taking its label off."""
    alive = alive_sweeps(bump)
    if alive:
        return alive[0]
    cut = () if held(bump) else tuple(run for run in _of(bump, "sweep", bump.head) if measures(run) and rerunnable(run))
    return cut[0] if cut else None


def _of(bump: Bump, stage: Stage, head: str | None) -> tuple[Run, ...]:
    """Runs of one stage on one head, newest first."""
    found = [run for run in bump.world.runs if run.stage == stage and run.head == head]
    return tuple(sorted(found, key=lambda run: (run.created, run.id), reverse=True))
