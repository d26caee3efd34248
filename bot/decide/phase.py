"""Where a bump stands, computed from facts and never stored. Each phase carries the data that is only valid in it."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from bot import budget
from bot.decide.classes import weather
from bot.model.bump import Bump, Ended, Judged
from bot.model.outcome import Outcome
from bot.model.run import Job, Run

GOOD = ("success", "skipped", "neutral")
# How long a label may stand before the forge lists the run that it started: runs appear late, and a label put on again
# in the meantime would start a second sweep and stop the first.
LISTING = timedelta(minutes=15)


class Opening(Struct, frozen=True):
    """No pull request yet."""


class Taken(Struct, frozen=True):
    """A person acted: the bump is theirs."""

    outcome: Outcome


class SmokeDue(Struct, frozen=True):
    """The head under test has had no smoke."""

    head: str


class Smoking(Struct, frozen=True):
    run: Run


class SmokeBroken(Struct, frozen=True):
    run: Run
    judged: Judged


class ChangelogDue(Struct, frozen=True):
    """Smoke passed; the changelog entry is absent, or the head conflicts with a default branch that moved."""

    sync: bool


class Settling(Struct, frozen=True):
    """The forge still computes whether the head merges, or has not listed the run yet that a label started."""


class Blocked(Struct, frozen=True):
    """The head conflicts in something other than the changelog: only a person can say what is right."""


class SweepDue(Struct, frozen=True):
    head: str


class Sweeping(Struct, frozen=True):
    run: Run
    judged: Judged | None


class SweepBroken(Struct, frozen=True):
    run: Run
    judged: Judged


class Swept(Struct, frozen=True):
    run: Run
    judged: Judged


class Finishing(Struct, frozen=True):
    """The outcome is decided; runs are being stopped, then the pull request is put away."""

    ended: Ended


class Over(Struct, frozen=True):
    """Nothing is left to do."""


Phase = (Opening | Taken | SmokeDue | Smoking | SmokeBroken | ChangelogDue | Settling | Blocked | SweepDue
         | Sweeping | SweepBroken | Swept | Finishing | Over)


def phase_of(bump: Bump) -> Phase:
    """The phase of a bump: the first of these questions that has an answer."""
    memory, world = bump.memory, bump.world
    if memory.closed:
        return Over()
    if memory.ended is not None:
        return Finishing(memory.ended)
    if not memory.heads or world.pull is None:
        return Opening()
    taken = taken_by_person(bump)
    if taken is not None:
        return Taken(taken)
    return _smoke(bump) or _changelog(bump) or _sweep(bump)


def failed_jobs(run: Run) -> tuple[Job, ...]:
    """Measuring jobs of the newest attempt that did not pass. Judged by job: a guest's run can fail on a broken collector."""
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


def sweep_labels(bump: Bump) -> tuple[str, ...]:
    """Sweep labels that are on the pull request now."""
    pull, known = bump.world.pull, _sweep_names(bump)
    return tuple(label for label in (pull.labels if pull else ()) if label in known)


def _sweep_names(bump: Bump) -> set[str]:
    return {bump.subject.rules.sweep.label, *bump.subject.rules.sweep.labels}


def labelled_by(bump: Bump, label: str) -> str | None:
    """Who put this label on last; None when the forge does not say."""
    return next((said.by for said in reversed(bump.world.labellings) if said.label == label and said.added), None)


def needs_approval(bump: Bump) -> bool:
    """Whether the sweep waits for a person: one took its label off, or it costs more than the threshold and nobody with
    a say has asked for it."""
    if held(bump):
        return True
    above = bump.subject.limits.approve_above
    if above is None or bump.memory.approvals or budget.price_sweep(bump) <= above:
        return False
    return all(labelled_by(bump, name) in (None, bump.world.me) for name in sweep_labels(bump))


def held(bump: Bump) -> bool:
    """Whether a person took the sweep label off last: the clean way to stop a sweep, so only a person puts it on again."""
    names, me = _sweep_names(bump), bump.world.me
    said = [one for one in bump.world.labellings if one.label in names]
    return bool(said) and not sweep_labels(bump) and not said[-1].added and said[-1].by != me


def starting(bump: Bump) -> bool:
    """Whether a sweep label was put on a moment ago and the forge does not list the run yet that it starts."""
    if bump.subject.rules.sweep.start != "label" or not bump.memory.heads:
        return False
    names = _sweep_names(bump)
    put = [one.at for one in bump.world.labellings if one.label in names and one.added]
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
    alive = [run for run in _sweeps(bump)
             if not (run.terminal and run.conclusion in ("cancelled", "skipped"))
             and (measures(run) or (begun and not run.terminal))]
    return tuple(sorted(alive, key=lambda run: run.terminal or not measures(run)))


def sweep_of(bump: Bump) -> Run | None:
    """The sweep that stands for the present head: one that is alive or was judged, else one that somebody cancelled and
    that can go on where it was, unless a person stopped it by taking its label off."""
    alive = alive_sweeps(bump)
    if alive:
        return alive[0]
    cut = () if held(bump) else tuple(run for run in _sweeps(bump) if measures(run) and rerunnable(run))
    return cut[0] if cut else None


def _sweeps(bump: Bump) -> tuple[Run, ...]:
    """Sweeps of the present head, newest first."""
    found = [run for run in bump.world.runs if run.stage == "sweep" and run.head == bump.head]
    return tuple(sorted(found, key=lambda run: (run.created, run.id), reverse=True))


def taken_by_person(bump: Bump) -> Outcome | None:
    """How a person took the pull request over, if one did: merged, closed, pushed to, or labelled as theirs."""
    pull = bump.world.pull
    if pull is None:
        return None
    if pull.merged:
        return Outcome.MERGED
    if not pull.open:
        return Outcome.CLOSED
    if bump.world.foreign_head is not None or bump.subject.rules.handoff in pull.labels:
        return Outcome.HANDED_OFF
    return None


def _smoke(bump: Bump) -> Phase | None:
    head = bump.tested_head
    runs = [run for run in bump.world.runs if run.stage == "smoke" and run.head == head]
    if not runs:
        return SmokeDue(head or "")
    run = max(runs, key=lambda run: (run.created, run.id))
    if not run.terminal:
        return Smoking(run)
    if passed(run) and gates_hold(bump, run):
        return None
    judged = bump.judged(run.id)
    if judged is None and failed_jobs(run):
        return Smoking(run)
    return SmokeBroken(run, judged or Judged(run=run.id, head=run.head, seen=()))


def _changelog(bump: Bump) -> Phase | None:
    pull, world = bump.world.pull, bump.world
    assert pull is not None
    if bump.subject.rules.changelog and world.changelog == "absent":
        return ChangelogDue(sync=False)  # also under a sweep that a person started early: no head is validated without it
    if sweep_of(bump):
        return None  # a default branch that moves under a sweep is the merge's business; syncing would run it all again
    if bump.subject.rules.changelog and world.changelog == "behind":
        return ChangelogDue(sync=True)
    if world.changelog == "blocked":
        return Blocked()
    built_on_tip = bump.memory.heads[-1].contains_base == world.base_tip
    if built_on_tip or pull.mergeable:
        return None
    return Settling() if pull.mergeable is None else Blocked()


def _sweep(bump: Bump) -> Phase:
    run = sweep_of(bump)
    if run is None:
        waits = len(sweep_labels(bump)) == 1 and starting(bump)  # with two on, the guest starts nothing
        return Settling() if waits else SweepDue(bump.head or "")
    judged = bump.judged(run.id)
    if judged and _gate_broken(run, judged):
        return SweepBroken(run, judged)
    if not run.terminal or judged is None:
        return Sweeping(run, judged)
    return Swept(run, judged) if passed(run) and gates_hold(bump, run) else SweepBroken(run, judged)


def _gate_broken(run: Run, judged: Judged) -> bool:
    """A finished job of this attempt failed by the image's own fault: the rest of the sweep cannot mend that."""
    newest = {(job.name, job.attempt) for job in run.latest_jobs}
    return any(
        not weather(failure.triage.class_, failure.attempt)
        for failure in judged.failures
        if (failure.job, failure.attempt) in newest
    )
