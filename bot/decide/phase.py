"""Where a bump stands, computed from facts and never stored. Each phase carries the data that is only valid in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.decide.classes import weather
from bot.decide.control import standing
from bot.decide.findings import stops
from bot.decide.people import insisted, sweep_labels, taken_by_person
from bot.decide.runs import (
    failed_jobs,
    gates_hold,
    passed,
    repeats,
    smokes,
    starting,
    steps,
    suspects,
    sweep_of,
)
from bot.model.bump import Bump, Ended, Judged
from bot.model.finding import PlanFinding
from bot.model.outcome import Outcome
from bot.model.recipe import Point
from bot.model.run import Run


class Opening(Struct, frozen=True):
    """No pull request yet."""


class Prevented(Struct, frozen=True):
    """Planning found what forbids the bump, and nothing was opened: neither branch nor pull request nor run."""

    found: tuple[PlanFinding, ...]


class Taken(Struct, frozen=True):
    """A person acted: the bump is theirs."""

    outcome: Outcome


class Superseded(Struct, frozen=True):
    """The candidate's tag holds another image now, and nothing more may be dispatched for the one it held."""

    digest: str


class SmokeDue(Struct, frozen=True):
    """The head under test has had no smoke of this stage."""

    head: str
    step: int = 1


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


class Barred(Struct, frozen=True):
    """Our entry cannot be put on the branch: the changelog breaks its own rules, or the repository refused the commit."""

    by: Literal["changelog", "repository"]


class SweepDue(Struct, frozen=True):
    head: str


class Sweeping(Struct, frozen=True):
    run: Run
    judged: Judged | None


class SweepBroken(Struct, frozen=True):
    run: Run
    judged: Judged


class Controlling(Struct, frozen=True):
    """The sweep is done, and its verdict waits for the run of the old image beside it."""

    run: Run
    judged: Judged


class RepeatDue(Struct, frozen=True):
    """The sweep is done and its verdict rests on points that one run alone does not settle."""

    run: Run
    judged: Judged


class Repeating(Struct, frozen=True):
    """Suspect points of the sweep `run` are measured again in `again`."""

    run: Run
    again: Run


class RepeatBroken(Struct, frozen=True):
    again: Run
    judged: Judged


class Swept(Struct, frozen=True):
    run: Run
    judged: Judged


class Finishing(Struct, frozen=True):
    """The outcome is decided; runs are being stopped, then the pull request is put away."""

    ended: Ended


class Over(Struct, frozen=True):
    """Nothing is left to do."""


Phase = (Opening | Prevented | Taken | Superseded | SmokeDue | Smoking | SmokeBroken | ChangelogDue | Settling | Blocked | Barred
         | SweepDue | Sweeping | SweepBroken | Controlling | RepeatDue | Repeating | RepeatBroken | Swept | Finishing | Over)


def phase_of(bump: Bump) -> Phase:
    """The phase of a bump: the first of these questions that has an answer."""
    memory, world = bump.memory, bump.world
    if memory.closed:
        return Over()
    if memory.ended is not None:
        return Finishing(memory.ended)
    if not memory.heads or world.pull is None:
        found = () if memory.heads else stops(bump)
        return Prevented(found) if found else Opening()
    taken = taken_by_person(bump)
    if taken is not None:
        return Taken(taken)
    return _superseded(bump) or _smoke(bump) or _changelog(bump) or _sweep(bump)


def _superseded(bump: Bump) -> Phase | None:
    """A tag that was pushed again names other bytes: what the smoke has shown says nothing about them. A sweep of a pinned
    digest that has begun measures what it was meant to, and goes on."""
    candidate, digest = bump.subject.candidate, bump.world.tag_digest
    if digest is None or digest == candidate.new.digest:
        return None
    return None if "@" in candidate.text and sweep_of(bump) else Superseded(digest)


def _smoke(bump: Bump) -> Phase | None:
    """The first stage that has not passed."""
    for step in steps(bump):
        runs = smokes(bump, step)
        if not runs:
            return SmokeDue(bump.tested_head or "", step)
        run = runs[0]
        if not run.terminal:
            return Smoking(run)
        if passed(run) and gates_hold(bump, run):
            continue
        judged = bump.judged(run.id)
        if judged is None and failed_jobs(run):
            return Smoking(run)
        return SmokeBroken(run, judged or Judged(run=run.id, head=run.head, seen=()))
    return None


def _changelog(bump: Bump) -> Phase | None:
    pull, world = bump.world.pull, bump.world
    assert pull is not None
    if bump.subject.rules.changelog and not _entered(bump):
        return _entry(bump)  # also under a sweep that a person started early: no head is validated without it
    if sweep_of(bump):
        return None  # a default branch that moves under a sweep is the merge's business; syncing would run it all again
    if bump.subject.rules.changelog and world.changelog in ("behind", "broken"):
        return _entry(bump)
    if world.changelog == "blocked":
        return Blocked()
    built_on_tip = bump.memory.heads[-1].contains_base == world.base_tip
    if built_on_tip or pull.mergeable:
        return None
    return Settling() if pull.mergeable is None else Blocked()


def _entered(bump: Bump) -> bool:
    """Whether our entry is on the branch; a broken file does not tell, but the heads do."""
    told = any(head.why in ("changelog", "sync") for head in bump.memory.heads)
    return told if bump.world.changelog == "broken" else bump.world.changelog != "absent"


def _entry(bump: Bump) -> Phase:
    if bump.world.changelog == "broken":
        return Barred("changelog")
    if bump.memory.refused is not None and bump.memory.refused == bump.head:
        return Barred("repository")
    return ChangelogDue(sync=bump.world.changelog == "behind")


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
    if not (passed(run) and gates_hold(bump, run)):
        return SweepBroken(run, judged)
    arm = standing(bump, run)
    if arm is not None and arm.pending:
        return Controlling(run, judged)
    return _repeat(bump, run, judged) or Swept(run, judged)


def _repeat(bump: Bump, run: Run, judged: Judged) -> Phase | None:
    """What the suspect points of a finished sweep ask for; nothing when there are none, or no repeat is left."""
    runs = repeats(bump)
    again = runs[0] if runs else None
    if again is not None and not again.terminal:
        return Repeating(run, again)
    wanted = suspects(bump, judged)
    if not wanted or again is not None and _blind(bump, again, wanted) and not insisted(bump, again):
        return None
    if again is not None and not (passed(again) and gates_hold(bump, again)):
        found = bump.judged(again.id)
        if found is None and failed_jobs(again):
            return Repeating(run, again)
        return RepeatBroken(again, found or Judged(run=again.id, head=again.head, seen=()))
    return RepeatDue(run, judged) if len(runs) < bump.subject.limits.repeats else None


def _blind(bump: Bump, again: Run, wanted: Sequence[Point]) -> bool:
    """Whether the repeat looked at points still in question through another image, or one that nobody vouches for: the next
    would look through the same cache, and is not paid for."""
    judged, points = bump.judged(again.id), {(point.recipe, point.concurrency) for point in wanted}
    return any(not one.holds and one.role == "throughput" and (one.recipe, one.concurrency) in points
               for one in (judged.proofs if judged else ()))


def _gate_broken(run: Run, judged: Judged) -> bool:
    """A finished job of this attempt failed by the image's own fault: the rest of the sweep cannot mend that."""
    newest = {(job.name, job.attempt) for job in run.latest_jobs}
    return any(
        not weather(failure.triage.class_, failure.attempt)
        for failure in judged.failures
        if (failure.job, failure.attempt) in newest
    )
