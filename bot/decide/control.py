"""The control arm: whether the old image is measured again beside a sweep, how that run stands, and what keeps it from being
the baseline. A cluster that was slower that day slowed both; a published baseline cannot tell that from the candidate's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from msgspec import Struct

from bot import budget
from bot.decide.classes import weather
from bot.decide.people import held
from bot.decide.runs import failed_jobs, measures, passed, repeats, rerunnable
from bot.model.bump import Bump
from bot.model.run import Run

SAME_DAY = timedelta(hours=24)
"""How far apart a sweep and its control arm may begin: a day later another room is measured."""
RETRIES = 1
"""What went wrong with the old image is nobody's question here: the weather is tried once more, and then there is no control."""
State = Literal["due", "retry", "running", "whole", "unfit", "failed", "unpaid", "no-day", "held", "late", "no-base"]


class Standing(Struct, frozen=True, kw_only=True):
    """How a sweep's control arm stands. `due` and `retry` are to be started for `price` GPU-hours; `whole` may be the baseline;
    of the others none comes any more: `unfit` ended and is no baseline, `unpaid` and `no-day` exceed the bump's cap or the
    day's, `held` was stopped with the sweep, `late` would not be of the same day."""

    state: State
    run: Run | None = None
    price: float = 0.0

    @property
    def pending(self) -> bool:
        """Whether a verdict has to wait for it."""
        return self.state in ("due", "retry", "running")


def base_of(bump: Bump) -> str | None:
    """The commit of the default branch that the proposal was made from: the recipe still names the old image there."""
    return bump.memory.heads[0].contains_base if bump.memory.heads else None


def controls(bump: Bump, sweep: Run) -> tuple[Run, ...]:
    """Runs of the old image that began within a day of this sweep, newest first."""
    found = [run for run in bump.world.runs if run.stage == "control" and abs(run.created - sweep.created) < SAME_DAY]
    return tuple(sorted(found, key=lambda run: (run.created, run.id), reverse=True))


def standing(bump: Bump, sweep: Run) -> Standing | None:
    """How the control arm of this sweep stands; None where no policy asks for one. A sweep that has not begun to measure has
    none yet."""
    if not budget.control_points(bump):
        return None
    runs = controls(bump, sweep)
    newest = runs[0] if runs else None
    if newest is None:
        return _start(bump, sweep, None, budget.price_control(bump)) if measures(sweep) else None
    if not newest.terminal:
        return Standing(state="running", run=newest)
    judged = bump.judged(newest.id)
    if passed(newest):
        return Standing(state="whole" if judged and not judged.gates else "unfit", run=newest)
    if sum(run.attempt for run in runs) > min(RETRIES, bump.subject.limits.infrastructure_retries) or not _weather(bump, newest):
        return Standing(state="failed", run=newest)
    price = budget.price_rerun(bump, newest) if rerunnable(newest) else budget.price_control(bump)
    return _start(bump, sweep, newest, price)


def _start(bump: Bump, sweep: Run, run: Run | None, price: float) -> Standing:
    """Whether it may be started, or started again. Once a repeat was asked for, the verdict stands on what there is."""
    state: State = "due" if run is None else "retry"
    if base_of(bump) is None:
        state = "no-base"
    elif held(bump):
        state = "held"
    elif bump.now - sweep.created >= SAME_DAY:
        state = "late"
    elif repeats(bump) or not budget.affords(bump, price, beside=budget.rest(bump, sweep)):
        state = "unpaid"
    elif not budget.today(bump, price):
        state = "no-day"
    return Standing(state=state, run=run, price=price)


def gives_way(bump: Bump, sweep: Run) -> bool:
    """Whether a control arm that runs has to be stopped for the cap: the sweep needs what is left of it."""
    left = budget.left(bump)
    return budget.overrun(bump) or (left is not None and left < budget.rest(bump, sweep))


def _weather(bump: Bump, run: Run) -> bool:
    """Whether every job that failed did so by what may be gone the next time."""
    judged, newest = bump.judged(run.id), {(job.name, job.attempt) for job in failed_jobs(run)}
    failures = [one for one in (judged.failures if judged else ()) if (one.job, one.attempt) in newest]
    return not newest or (bool(failures) and all(weather(one.triage.class_, one.attempt) for one in failures))
