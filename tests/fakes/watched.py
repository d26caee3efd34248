"""The bot in a simulated world, and what must hold of every decision it makes there."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from bot import budget
from bot.decide import decide
from bot.decide.asked import assumed
from bot.decide.classes import INFRASTRUCTURE
from bot.decide.findings import holding_smoke, questions, stops
from bot.decide.orders import slot
from bot.decide.people import asked_for_sweep, insisted, needs_approval, smoke_held, taken_by_person, wished_smoke
from bot.decide.phase import phase_of
from bot.decide.runs import failed_jobs, smokes, starting, steps
from bot.model.action import Action, Cancel, Dispatch, Keep, Label, OpenPull, Push, React, Remember, Reopen, Rerun, Say
from bot.model.bump import Approval, Asked, Bump, Ended
from bot.model.event import Pushed, RunFinished, Scheduled
from bot.model.finding import Checked
from bot.model.outcome import Cause, Outcome
from bot.model.rules import Limits
from bot.model.run import Run
from tests.fakes import facts
from tests.fakes.simulated import Simulated

LOOKS = 24
WAKES = 40
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
        self._as_people_would(bump, actions)
        self._as_commanded(bump, actions)
        self._as_files_say(bump, actions)
        if bump.memory.ended or taken_by_person(bump):
            assert not any(isinstance(action, (*SPENDING, Push, OpenPull)) for action in actions)
        if taken_by_person(bump):
            assert all(isinstance(action, (Cancel, Keep, Remember, Say, React, Reopen)) for action in actions)

    def _as_commanded(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """Each command is answered once, and one that may not be obeyed asks for nothing."""
        answered = [action.comment for action in actions if isinstance(action, React)]
        assert len(answered) == len(set(answered)) and not answered or not {slot(one) for one in bump.world.orders if one.comment in answered} & {
            told.slot for told in bump.memory.told}
        asked = {action.fact.comment for action in actions if isinstance(action, Remember) and isinstance(action.fact, (Asked, Approval))}
        assert not asked & {one.comment for one in bump.world.orders if one.objection}

    def _as_people_would(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """Nothing is swept or validated without its proof, put on against a person, started twice, or stopped in vain."""
        rules, said = bump.subject.rules.sweep, [one for one in bump.world.labellings if one.label == facts.LABEL]
        if any(isinstance(action, Label) or (isinstance(action, Dispatch) and "-sweep-" in action.nonce) for action in actions):
            for step in steps(bump):
                newest = smokes(bump, step)[0]
                assert newest.terminal and not failed_jobs(newest)
                assert any(job.role != "other" and job.conclusion == "success" for job in newest.jobs)
            again = said and any(one.at > said[-1].at for one in assumed(bump, actions).memory.approvals)
            assert not said or said[-1].added or said[-1].by == facts.ME or again
        if any(isinstance(action, Label) for action in actions):
            hidden = [self.world.runs[number] for number in self.world.hidden]
            assert rules.start == "label"
            assert not any(run.head == bump.head and self.world.measuring[run.id] and run.reason == "label" for run in hidden)
        ends = [action.fact for action in actions if isinstance(action, Remember) and isinstance(action.fact, Ended)]
        if any(fact.outcome is Outcome.VALIDATED for fact in ends):
            assert bump.world.changelog in ("present", "behind", "blocked", "none") or not bump.subject.rules.changelog
        if any(fact.cause is Cause.VERDICT for fact in ends):  # the old image beside the sweep is waited for
            assert not any(run.stage == "control" and not run.terminal and run.head == bump.memory.heads[0].contains_base
                           for run in bump.world.runs)
        if not (ends or bump.memory.ended or any(isinstance(action, Push) for action in actions)):
            stopped = [run for run in bump.world.runs if Cancel(run=run.id) in actions and run.stage == "sweep"]
            assert not any(run.head == bump.head and self._alone(bump, run) for run in stopped)

    def _alone(self, bump: Bump, run: Run) -> bool:
        """Whether this sweep is all that the present head has: it measures or will, and no younger one does."""
        smoked = type(phase_of(bump)).__name__ not in ("SmokeDue", "Smoking", "SmokeBroken", "Superseded")
        younger = [one for one in bump.world.runs if one.stage == "sweep" and one.id > run.id and one.head == run.head]
        return smoked and self.world.measuring[run.id] and not any(self.world.measuring[one.id] for one in younger)

    def _within_means(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        left = budget.left(bump)
        for action in actions:
            match action:
                case Dispatch(head=head, nonce=nonce):
                    word = nonce.rsplit("-", 3)[1]
                    wanted = {"control": bump.memory.heads[0].contains_base}.get(word, bump.head)
                    assert head == (bump.tested_head if word.startswith("smoke") else wanted)
                    assert left is None or action.gpu_hours <= left
                    prices = {"sweep": budget.price_sweep(bump), "repeat": budget.price(bump, [facts.point("throughput", 2)]),
                              "control": budget.price_control(bump),
                              **{f"smoke{step}": budget.price_smoke(bump, step) for step in steps(bump)}}
                    assert action.gpu_hours == pytest.approx(prices[word])
                case Label(head=head):
                    assert head == bump.head == bump.world.pull.head
                    assert left is None or budget.price_sweep(bump) <= left
                case Rerun(run=number):
                    run = next(run for run in bump.world.runs if run.id == number)
                    failed = [job for job in run.latest_jobs if job.conclusion in ("failure", "cancelled")]
                    minutes = {kind: budget.minutes(kind, bump.world.runs, bump.subject.limits) for kind in ("throughput", "eval")}
                    assert left is None or sum(job.gpus * minutes.get(job.role, 0) / 60 for job in failed) <= left
                    assert run.stage != "control" or run.attempt == 1
                    assert run.attempt <= bump.subject.limits.infrastructure_retries or insisted(assumed(bump, actions), run)
                case Push(why="repair", repair=repair):
                    assert bump.memory.repairs_used < bump.subject.limits.repairs
                    assert bump.world.tag_digest in (None, bump.subject.candidate.new.digest)
                    before = any(one.repair == repair.id for check in bump.subject.plan.checks for one in check.findings)
                    assert (before and not bump.world.runs) if not repair.run else any(
                        one.triage.class_ not in INFRASTRUCTURE - {"hang"} for one in bump.judged(repair.run).failures)

    def _as_files_say(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """What files forbid is never begun, and what they ask is not answered by the bot itself."""
        plan, after = bump.subject.plan, assumed(bump, actions)
        if not bump.memory.heads and any(one.action == "stop" for check in plan.checks for one in check.findings):
            assert all(isinstance(action, Remember) for action in actions)
        words = [action.nonce.rsplit("-", 3)[1] for action in actions if isinstance(action, Dispatch)]
        if any(isinstance(action, Label) for action in actions) or "sweep" in words:
            assert not stops(bump) and (not questions(bump) or asked_for_sweep(after))
        begins = type(phase_of(bump)).__name__ == "SmokeDue"  # what began is tried again as it was let go
        if any(word.startswith("smoke") for word in words) and (begins and holding_smoke(bump) or self._unmended(bump)):
            assert asked_for_sweep(after) or wished_smoke(after)

    def _unmended(self, bump: Bump) -> bool:
        """Whether the plan found what must be mended before anything runs, and nobody mended it."""
        made = {head.repair for head in bump.memory.heads} - {None}
        return any(one.action == "repair-first" and one.check != "mergeable" and one.repair not in made
                   for check in bump.subject.plan.checks for one in check.findings)

    def remembers(self, actions: tuple[Action, ...]) -> None:
        """What must hold once the actions came true."""
        memory = self.world.memory
        self.labels.update(action.head for action in actions if isinstance(action, Label))
        again = any(isinstance(action, Reopen) for action in actions)  # a bump that was over goes on, and ends anew
        self.ended = memory.ended if again else self.ended or memory.ended
        assert memory.ended == self.ended
        assert memory.repairs_used == sum(head.why == "repair" for head in memory.heads) <= self.world.subject.limits.repairs
        said = {ENCODER.encode(action) for action in actions if isinstance(action, Say)}
        bump = self.world.facts()
        more = [action for action in decide(bump, Scheduled(at=bump.now)) if isinstance(action, Say)]
        assert not said & {ENCODER.encode(action) for action in more}

    def rests(self, bump: Bump, actions: tuple[Action, ...]) -> None:
        """At rest somebody else moves next, and a run that nobody needs is being stopped."""
        alive = [run for run in bump.world.runs if not run.terminal and run.id not in self.world.dying]
        busy = [run for run in alive if run.stage == "sweep" and any(job.role != "other" for job in run.jobs)]
        assert len(busy) <= 1 and all(run.head == bump.head for run in busy)
        assert all(len([run for run in alive if run.stage == stage]) <= 1 for stage in ("smoke", "repeat", "control"))
        phase = type(phase_of(bump)).__name__
        if phase in ("Smoking", "Sweeping", "Controlling", "Repeating"):
            assert alive or self.world.dying or (phase == "Controlling" and self.world.hidden)
        elif (phase == "SweepDue" and needs_approval(bump)) or (phase == "SmokeDue" and smoke_held(bump)):
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
            waits = {"SweepDue": needs_approval, "SweepBroken": needs_approval, "SmokeDue": smoke_held}.get(type(phase_of(bump)).__name__)
            if world.memory.ended is None and waits is not None and waits(bump):
                world.label(facts.LABEL, by="ann")
        raise AssertionError(f"no end after {WAKES} wakes: {phase_of(world.facts())}")


def world(*, start: str = "label", changelog: bool = True, drafts: bool = True, needs_entry: bool = True, late: bool = False,
          stages: tuple[str, ...] = ("trim",), control: bool = False, checks: tuple[Checked, ...] = (), **limits: object) -> Simulated:
    """A world for a bump of four points under these rules."""
    subject = facts.subject(limits=Limits(**{"gpu_hours": 1000.0, **limits}))
    subject = replace(subject, plan=replace(subject.plan, smoke=facts.smoke(*stages), control=control, checks=checks))
    sweep = replace(subject.rules.sweep, start=start, drafts=drafts, inputs={"ref": "{head}", "test-name": "{nonce}"})
    rules = replace(subject.rules, sweep=sweep, changelog=changelog, smoke=replace(subject.rules.smoke, stages=stages))
    return Simulated(replace(subject, rules=rules), needs_entry=needs_entry, late=late)


def breaks(bot: Watched, class_: str | None, *, role: str = "eval") -> None:
    """The youngest run's jobs of a role fail this way, the others pass, and the bot is woken."""
    run = bot.world.alive()[-1]
    bot.world.begin(run)
    for job in [job for job in bot.world.runs[run.id].jobs if job.status != "completed"]:
        bad = job.role == role
        bot.world.end_job(bot.world.runs[run.id], job, "failure" if bad else "success", class_ if bad else None)
    bot.wake()


def until(bot: Watched, phase: str) -> None:
    """All goes well up to a phase; its run has begun, if it is one that waits for a run."""
    for _ in range(WAKES):
        if type(phase_of(bot.world.facts())).__name__ == phase:
            for run in bot.world.alive():
                bot.world.begin(run)
            return
        bot.goes_well()
    raise AssertionError(f"never reached {phase}")


def begun(**policy: object) -> Watched:
    """A bump whose draft is open and whose smoke was asked for."""
    bot = Watched(world(**policy))
    bot.wake()
    return bot


def smoke_fails(*classes: str | None, known: dict | None = None, **policy: object) -> Watched:
    """Smokes that fail one after the other in these ways."""
    bot = begun(**policy)
    bot.world.repairs = known or {}
    for class_ in classes:
        breaks(bot, class_)
    return bot


def sweep_fails(*classes: str | None, known: dict | None = None, **policy: object) -> Watched:
    """Sweeps that fail one after the other in these ways; the smokes between them pass."""
    bot = begun(**policy)
    bot.world.repairs = known or {}
    for class_ in classes:
        until(bot, "Sweeping")
        breaks(bot, class_)
    return bot
