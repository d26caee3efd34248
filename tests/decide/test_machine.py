"""A bump among everything that can happen to it: whatever the order, it spends within its means, leaves people's things
alone, says each thing once, and comes to an end."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from bot import budget
from bot.decide import decide
from bot.decide.classes import CLASSES, INFRASTRUCTURE
from bot.decide.phase import needs_approval, phase_of, starting, taken_by_person
from bot.model.action import Action, Cancel, Dispatch, Label, OpenPull, Push, Remember, Rerun, Say
from bot.model.bump import Bump, Limits
from bot.model.event import Pushed, RunFinished, Scheduled
from bot.model.outcome import Outcome
from bot.model.record import Status
from tests.fakes import facts
from tests.fakes.simulated import Simulated

LOOKS = 24
WAKES = 40
UNKNOWN = None
SPENDING = (Dispatch, Label, Rerun)
ENCODER, DECODER = msgspec.json.Encoder(order="deterministic"), msgspec.json.Decoder(tuple[Action, ...])
FACTS = msgspec.json.Decoder(Bump)


class Watched:
    """A simulated world with the bot in it, and what must hold of every decision."""

    def __init__(self, world: Simulated) -> None:
        self.world, self.phases, self.ended = world, Counter(), None
        self.labels: Counter[str] = Counter()

    def wake(self) -> bool:
        """Looks and acts until there is nothing left but waiting; whether it came to rest without a failed action."""
        last: tuple[Action, ...] = ()
        for _ in range(LOOKS):
            bump = self.world.facts()
            self.phases[type(phase_of(bump)).__name__] += 1
            actions = decide(bump, Scheduled(at=bump.now))
            self.judge(bump, actions)
            if not actions or actions == last:
                self.rests(bump, actions)
                return True
            last = actions
            if not self.world.step(bump, actions):
                return False
            self.remembers(actions)
        raise AssertionError(f"still not at rest: {last}")

    def judge(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """What must hold of one decision."""
        assert decide(bump, RunFinished(at=bump.now, run=1, workflow="w", head="h")) == actions
        assert DECODER.decode(ENCODER.encode(actions)) == actions
        assert decide(FACTS.decode(ENCODER.encode(bump)), Pushed(at=bump.now, branch="b", head="h")) == actions
        slots = [action.slot for action in actions if isinstance(action, Say)]
        assert len(slots) == len(set(slots))
        self._within_means(bump, actions)
        if bump.memory.ended or taken_by_person(bump):
            assert not any(isinstance(action, (*SPENDING, Push, OpenPull)) for action in actions)
        if taken_by_person(bump):
            assert all(isinstance(action, (Cancel, Remember, Say)) for action in actions)

    def _within_means(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        left = budget.left(bump)
        for action in actions:
            match action:
                case Dispatch(head=head, nonce=nonce):
                    sweep = "-sweep-" in nonce
                    assert head == (bump.head if sweep else bump.tested_head)
                    assert left is None or (budget.price_sweep(bump) if sweep else budget.price_smoke(bump)) <= left
                case Label(head=head):
                    assert head == bump.head == bump.world.pull.head
                    assert left is None or budget.price_sweep(bump) <= left
                case Rerun(run=number):
                    run = next(run for run in bump.world.runs if run.id == number)
                    failed = [job for job in run.latest_jobs if job.conclusion in ("failure", "cancelled")]
                    minutes = {kind: budget.minutes(kind, bump.world.runs, bump.subject.limits) for kind in ("throughput", "eval")}
                    assert left is None or sum(job.gpus * minutes.get(job.role, 0) / 60 for job in failed) <= left
                    assert run.attempt <= bump.subject.limits.infrastructure_retries
                case Push(why="repair", repair=repair):
                    assert bump.memory.repairs_used < bump.subject.limits.repairs
                    assert any(one.triage.class_ not in INFRASTRUCTURE - {"hang"} for one in bump.judged(repair.run).failures)

    def remembers(self, actions: tuple[Action, ...]) -> None:
        """What must hold once the actions came true."""
        memory = self.world.memory
        self.labels.update(action.head for action in actions if isinstance(action, Label))
        self.ended = self.ended or memory.ended
        assert memory.ended == self.ended
        assert memory.repairs_used == sum(head.why == "repair" for head in memory.heads) <= self.world.subject.limits.repairs
        said = {ENCODER.encode(action) for action in actions if isinstance(action, Say)}
        bump = self.world.facts()
        again = [action for action in decide(bump, Scheduled(at=bump.now)) if isinstance(action, Say)]
        assert not said & {ENCODER.encode(action) for action in again}

    def rests(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """At rest somebody else moves next, and a run that nobody needs is being stopped."""
        alive = [run for run in bump.world.runs if not run.terminal and run.id not in self.world.dying]
        busy = [run for run in alive if run.stage == "sweep" and any(job.role != "other" for job in run.jobs)]
        assert len(busy) <= 1 and all(run.head == bump.head for run in busy)
        assert len([run for run in alive if run.stage == "smoke"]) <= 1
        phase = type(phase_of(bump)).__name__
        if phase in ("Smoking", "Sweeping"):
            assert alive or self.world.dying
        elif phase == "SweepDue" and needs_approval(bump):
            assert bump.told("status")
        elif phase == "Settling":
            assert bump.world.pull.mergeable is None or starting(bump)
        elif phase == "Finishing":
            assert actions or starting(bump)
        elif phase == "SweepBroken":  # a person took the label off a sweep that broke
            assert needs_approval(bump) and bump.told("status")
        else:
            assert phase == "Over" or self.world.hidden, phase

    def goes_well(self) -> None:
        """Time passes, whatever runs passes, and the bot is woken."""
        world = self.world
        world.pass_time(20)
        world.settle_merge()
        for run in world.alive():
            world.begin(run)
            for job in [job for job in world.runs[run.id].jobs if job.status != "completed"]:
                world.end_job(world.runs[run.id], job, "success")
        self.wake()

    def drain(self) -> Outcome:
        """Nobody acts any more, jobs pass: the bump comes to its end. A person is asked once where it waits for one."""
        world = self.world
        world.refusing, world.late = 0, False
        for _ in range(WAKES):
            self.goes_well()
            if world.memory.closed:
                return world.memory.ended.outcome
            bump = world.facts()
            if world.memory.ended is None and needs_approval(bump) and type(phase_of(bump)).__name__ in ("SweepDue", "SweepBroken"):
                world.label(facts.LABEL, by="ann")
        raise AssertionError(f"no end after {WAKES} wakes: {phase_of(world.facts())}")


def world(*, start: str = "label", changelog: bool = True, drafts: bool = True, needs_entry: bool = True, late: bool = False,
          **limits: object) -> Simulated:
    """A world for a bump of four points under these rules."""
    subject = facts.subject(limits=Limits(**{"gpu_hours": 1000.0, **limits}))
    sweep = replace(subject.rules.sweep, start=start, drafts=drafts, inputs={"ref": "{head}", "test-name": "{nonce}"})
    rules = replace(subject.rules, sweep=sweep, changelog=changelog)
    return Simulated(replace(subject, rules=rules), needs_entry=needs_entry, late=late)


KINDS = [*sorted(CLASSES), UNKNOWN]
REPAIRABLE = ["moved-module", "oom", "tool-parser", "flag-removed", "hang", UNKNOWN]
SEEN: Counter[str] = Counter()
POLICIES = st.fixed_dictionaries({
    "start": st.sampled_from(["label", "label", "dispatch"]), "changelog": st.booleans(), "drafts": st.booleans(),
    "needs_entry": st.booleans(), "late": st.booleans(), "gpu_hours": st.sampled_from([None, 3000.0, 3000.0, 400.0, 160.0, 30.0]),
    "repairs": st.integers(0, 5), "infrastructure_retries": st.integers(0, 2), "approve_above": st.sampled_from([None, None, 10.0]),
    "known": st.dictionaries(st.sampled_from(REPAIRABLE), st.sampled_from([True, True, False])), "along": st.integers(0, 4),
})


class AnyOrder(RuleBasedStateMachine):
    """Wakes and everything else in any order; at the end nobody acts any more and the bump must end."""

    @initialize(drawn=POLICIES)
    def begin(self, drawn: dict) -> None:
        limits = {name: drawn[name] for name in ("gpu_hours", "repairs", "infrastructure_retries", "approve_above")}
        manners = {name: drawn[name] for name in ("start", "changelog", "drafts", "needs_entry", "late")}
        self.world = world(**manners, **limits)
        self.world.repairs = drawn["known"]
        self.bot = Watched(self.world)
        self.bot.wake()
        for _ in range(drawn["along"]):
            self.bot.goes_well()

    @precondition(lambda self: self.world.memory.closed)
    @rule(drawn=POLICIES)
    def another_bump(self, drawn: dict) -> None:
        self.teardown()
        self.begin(drawn)

    @rule()
    def all_goes_well(self) -> None:
        self.bot.goes_well()

    @rule(lost=st.booleans(), twice=st.booleans())
    def woken(self, lost: bool, twice: bool) -> None:
        for _ in range(0 if lost else 1 + twice):
            self.bot.wake()

    @rule(minutes=st.sampled_from([0, 1, 7, 31, 90]))
    def time_passes(self, minutes: int) -> None:
        self.world.pass_time(minutes)

    @rule()
    def merge_computed(self) -> None:
        self.world.settle_merge()

    @precondition(lambda self: self.world.alive())
    @rule(pick=st.integers(0, 3), many=st.booleans(), how=st.sampled_from(["success"] * 4 + ["failure"] * 2 + ["cancelled"]),
          class_=st.sampled_from(KINDS), minutes=st.sampled_from([None, None, 5, 400]))
    def jobs_end(self, pick: int, many: bool, how: str, class_: str | None, minutes: float | None) -> None:
        run = self.world.alive()[pick % len(self.world.alive())]
        self.world.begin(run)
        waiting = [job for job in self.world.runs[run.id].jobs if job.status != "completed"]
        for job in waiting if many else waiting[:1]:
            self.world.end_job(self.world.runs[run.id], job, how, class_ if how == "failure" else None, minutes=minutes)

    @precondition(lambda self: self.world.alive())
    @rule(class_=st.sampled_from(REPAIRABLE), one=st.booleans())
    def a_run_breaks(self, class_: str | None, one: bool) -> None:
        run = self.world.alive()[-1]
        self.world.begin(run)
        for job in [job for job in self.world.runs[run.id].jobs if job.status != "completed"]:
            bad = job.role == "eval" if one else job.role != "other"
            self.world.end_job(self.world.runs[run.id], job, "failure" if bad else "success", class_ if bad else None)
        self.bot.wake()

    @precondition(lambda self: self.world.alive())
    @rule(pick=st.integers(0, 3), conclusion=st.sampled_from(["cancelled", "failure"]))
    def a_run_stops(self, pick: int, conclusion: str) -> None:
        run = self.world.alive()[pick % len(self.world.alive())]
        if conclusion == "cancelled" or not run.jobs:
            self.world.stop_run(run, conclusion)

    @precondition(lambda self: self.world.alive())
    @rule(pick=st.integers(0, 3), verdict=st.sampled_from(["improved", "neutral", "regressed", "inconclusive"]))
    def a_verdict(self, pick: int, verdict: str) -> None:
        run = self.world.alive()[pick % len(self.world.alive())]
        self.world.begin(run)
        self.world.verdicts[run.id] = verdict

    @rule(changelog=st.booleans(), recipe=st.sampled_from([False, False, False, True]))
    def base_moves(self, changelog: bool, recipe: bool) -> None:
        self.world.move_base(changelog=changelog, recipe=recipe)

    @precondition(lambda self: self.world.pull)
    @rule(name=st.sampled_from([facts.LABEL, facts.LABEL, "needs-review"]), on=st.booleans())
    def a_person_labels(self, name: str, on: bool) -> None:
        (self.world.label if on else self.world.unlabel)(name, by="ann")

    @precondition(lambda self: self.world.pull)
    @rule(what=st.sampled_from(["merge", "close", "reopen", "push", "handoff"]), really=st.integers(0, 5))
    def a_person_takes_over(self, what: str, really: int) -> None:
        if really == 0 and not self.world.pull.merged:
            self.world.person(what)

    @rule(count=st.integers(1, 3))
    def actions_fail(self, count: int) -> None:
        self.world.refusing = count

    @invariant()
    def money(self) -> None:
        if hasattr(self, "world"):
            assert all(count <= self.world.subject.limits.infrastructure_retries + 1 for count in self.bot.labels.values())

    def teardown(self) -> None:
        if hasattr(self, "world"):
            SEEN[self.bot.drain().value] += 1
            SEEN.update(self.bot.phases)


AnyOrder.TestCase.settings = settings(
    max_examples=200, stateful_step_count=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck),
)
TestAnyOrder = AnyOrder.TestCase
