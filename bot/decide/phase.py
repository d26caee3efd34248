"""Where a bump stands, computed from facts and never stored. Each phase carries the data that is only valid in it."""

from __future__ import annotations

from msgspec import Struct

from bot import budget
from bot.decide.classes import INFRASTRUCTURE
from bot.model.bump import Bump, Ended, Judged
from bot.model.outcome import Outcome
from bot.model.run import Job, Run

GOOD = ("success", "skipped", "neutral")


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
    """The forge still computes whether the head merges."""


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
    taken = _taken(bump)
    if taken is not None:
        return Taken(taken)
    return _smoke(bump) or _changelog(bump) or _sweep(bump)


def failed_jobs(run: Run) -> tuple[Job, ...]:
    """Jobs of the newest attempt that ended and did not pass. Judged by job: a guest's run can fail on a broken collector."""
    return tuple(job for job in run.latest_jobs if job.status == "completed" and job.conclusion not in GOOD)


def sweep_labels(bump: Bump) -> tuple[str, ...]:
    """Sweep labels that are on the pull request now."""
    pull, sweep = bump.world.pull, bump.subject.rules.sweep
    known = {sweep.label, *sweep.labels}
    return tuple(label for label in (pull.labels if pull else ()) if label in known)


def labelled_by(bump: Bump, label: str) -> str | None:
    """Who put this label on last; None when the forge does not say."""
    return next((said.by for said in reversed(bump.world.labellings) if said.label == label and said.added), None)


def needs_approval(bump: Bump) -> bool:
    """Whether the sweep waits for a person: it costs more than the threshold and nobody with a say has asked for it."""
    above = bump.subject.limits.approve_above
    if above is None or bump.memory.approvals or budget.price_sweep(bump) <= above:
        return False
    return all(labelled_by(bump, name) in (None, bump.world.me) for name in sweep_labels(bump))


def alive_sweeps(bump: Bump) -> tuple[Run, ...]:
    """Runs on the present head that measure or are about to, newest first.

    The seed had two for one head: the push's, which without a label measures nothing, and the label's, which cancelled it.
    """
    begun = bump.subject.rules.sweep.start == "dispatch" or bool(sweep_labels(bump))
    return tuple(
        run
        for run in sorted(bump.world.runs, key=lambda run: (run.created, run.id), reverse=True)
        if run.stage == "sweep" and run.head == bump.head
        and not (run.terminal and run.conclusion in ("cancelled", "skipped"))
        and (_measures(run) or (begun and not run.terminal))
    )


def _measures(run: Run) -> bool:
    return any(job.role != "other" and job.conclusion != "skipped" for job in run.jobs)


def _taken(bump: Bump) -> Outcome | None:
    pull = bump.world.pull
    assert pull is not None
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
    if not failed_jobs(run):
        return None
    judged = bump.judged(run.id)
    return SmokeBroken(run, judged) if judged else Smoking(run)


def _changelog(bump: Bump) -> Phase | None:
    pull, world = bump.world.pull, bump.world
    assert pull is not None
    if alive_sweeps(bump):
        return None  # a default branch that moves under a sweep is the merge's business; syncing would run it all again
    if bump.subject.rules.changelog and world.changelog in ("absent", "behind"):
        return ChangelogDue(sync=world.changelog == "behind")
    if world.changelog == "blocked":
        return Blocked()
    built_on_tip = bump.memory.heads[-1].contains_base == world.base_tip
    if built_on_tip or pull.mergeable:
        return None
    return Settling() if pull.mergeable is None else Blocked()


def _sweep(bump: Bump) -> Phase:
    alive = alive_sweeps(bump)
    if not alive:
        return SweepDue(bump.head or "")
    run, judged = alive[0], bump.judged(alive[0].id)
    if judged and _gate_broken(run, judged):
        return SweepBroken(run, judged)
    if not run.terminal or judged is None:
        return Sweeping(run, judged)
    return SweepBroken(run, judged) if failed_jobs(run) else Swept(run, judged)


def _gate_broken(run: Run, judged: Judged) -> bool:
    """A finished job of this attempt failed by the image's own fault: the rest of the sweep cannot mend that."""
    newest = {(job.name, job.attempt) for job in run.latest_jobs}
    return any(
        failure.triage.class_ not in INFRASTRUCTURE
        for failure in judged.failures
        if (failure.job, failure.attempt) in newest
    )
