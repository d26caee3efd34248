"""Slash commands as stories: what the bot does after them, wake by wake, in a simulated world."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.decide import decide
from bot.decide.people import needs_approval
from bot.decide.phase import phase_of
from bot.model.action import Action, Dispatch, Label, React, Remember, Result, Say
from bot.model.bump import Bump
from bot.model.event import Scheduled
from bot.model.order import Order
from bot.model.outcome import Outcome
from bot.wake import recall
from tests.fakes import facts
from tests.fakes.simulated import Simulated
from tests.fakes.watched import world


def look(bump: Bump) -> tuple[Action, ...]:
    return decide(bump, Scheduled(at=bump.now))


class Commanded:
    """A simulated world in which people comment, and the bot in it. `marks` are the reactions, `said` the answers."""

    def __init__(self, made: Simulated) -> None:
        self.world, self.orders, self.marks, self.answers, self.done = made, [], {}, [], []
        self.wake()

    def facts(self) -> Bump:
        bump = self.world.facts()
        return replace(bump, world=replace(bump.world, orders=tuple(self.orders)))

    def wake(self) -> None:
        last: tuple[Action, ...] = ()
        for _ in range(24):
            bump = self.facts()
            actions = look(bump)
            if not actions or actions == last:
                return
            last, results = actions, []
            for index, action in enumerate(actions):
                results.append(Result(index=index, ok=True) if isinstance(action, React) else self.world.do(index, action))
                if not results[-1].ok:
                    break
                self.done.append(action)
            self.world.memory = recall.after(bump, actions, results)
            self.marks |= {action.comment: action.content for action in actions if isinstance(action, React)}
            self.answers += [action.record for action in actions if isinstance(action, Say) and action.slot.startswith("answer-")]
        raise AssertionError(f"still not at rest: {last}")

    def says(self, word: str) -> str:
        """A person with write access gives a command, the bot is woken: what it answers."""
        self.world.now += timedelta(seconds=10)
        self.orders.append(Order(comment=1000 + len(self.orders), by="ann", at=self.world.now, word=word, said=word))
        self.wake()
        return self.answers[-1].result

    def passes(self, *stages: str) -> None:
        """Time passes, and runs of these stages pass."""
        self.world.pass_time(20)
        self.world.settle_merge()
        for run in self.world.alive():
            if run.stage in stages:
                self.world.begin(run)
                for job in self.world.runs[run.id].jobs:
                    if job.status != "completed":
                        self.world.end_job(self.world.runs[run.id], job, "success")
        self.wake()

    def ends(self) -> Outcome:
        for _ in range(30):
            if self.world.memory.closed:
                return self.world.memory.ended.outcome
            self.passes("smoke", "sweep", "repeat")
        raise AssertionError(f"no end: {phase_of(self.facts())}")

    def runs(self, stage: str) -> list:
        return [run for run in self.world.runs.values() if run.stage == stage and any(job.role != "other" for job in run.jobs)]


POLICY = pytest.mark.parametrize("start", ["label", "dispatch"])


class TestStop:
    @POLICY
    @pytest.mark.parametrize("stages", [(), ("smoke",), ("smoke", "smoke")])
    def test_ends_the_bump_and_leaves_the_pull_request(self, start: str, stages: tuple[str, ...]) -> None:
        bot = Commanded(world(start=start))
        for stage in stages:
            bot.passes(stage)
        before, spent = bot.world.pull, len([action for action in bot.done if isinstance(action, (Dispatch, Label))])
        assert bot.says("stop") == "stopping"
        assert bot.ends() is Outcome.STOPPED and not bot.world.alive()
        now = bot.world.pull
        assert (now.open, now.draft, now.head, now.labels) == (True, before.draft, before.head, before.labels)
        assert len([action for action in bot.done if isinstance(action, (Dispatch, Label))]) == spent
        assert list(bot.marks.values()) == ["+1"]

    def test_in_the_very_look_that_would_dispatch_dispatches_nothing(self) -> None:
        bot = Commanded(world(start="dispatch"))
        bot.orders.append(Order(comment=1, by="ann", at=bot.world.now, word="stop"))
        for run in bot.world.alive():
            bot.world.begin(run)
            for job in bot.world.runs[run.id].jobs:
                bot.world.end_job(bot.world.runs[run.id], job, "success")
        done = len(bot.done)
        bot.passes()
        assert not any(isinstance(action, (Dispatch, Label)) for action in bot.done[done:])
        assert bot.ends() is Outcome.STOPPED


class TestSweep:
    @POLICY
    def test_asked_for_before_the_smoke_has_passed_starts_by_itself(self, start: str) -> None:
        bot = Commanded(world(start=start, approve_above=1.0))
        assert bot.says("sweep") == "sweep-after-smoke"
        assert not bot.runs("sweep")
        assert bot.ends() is Outcome.VALIDATED and len(bot.answers) == 1

    @POLICY
    def test_asked_for_while_the_bot_waits_for_it_starts_at_once(self, start: str) -> None:
        bot = Commanded(world(start=start, approve_above=1.0))
        for _ in range(4):
            bot.passes("smoke")
        assert needs_approval(bot.facts()) and bot.says("status") == "status" and bot.answers[-1].now == "approval"
        assert bot.says("sweep") == "sweep-next"
        assert bot.ends() is Outcome.VALIDATED and len(bot.runs("sweep")) == 1

    def test_lifts_the_hold_of_a_label_that_a_person_took_off(self) -> None:
        bot = Commanded(world())
        while not bot.runs("sweep"):
            bot.passes("smoke")
            for run in bot.world.alive():
                bot.world.begin(run)
        bot.world.unlabel(facts.LABEL, by="bob")
        bot.passes("smoke")
        assert needs_approval(bot.facts()) and bot.says("status") == "status" and bot.answers[-1].now == "held"
        assert bot.says("sweep") == "sweep-next"
        assert bot.ends() is Outcome.VALIDATED


class TestSmoke:
    @pytest.mark.parametrize("stages", [("trim",), facts.STAGED])
    def test_runs_once_more_and_the_sweep_waits_for_it(self, stages: tuple[str, ...]) -> None:
        bot = Commanded(world(start="dispatch", stages=stages, approve_above=1.0))
        for _ in range(8):
            bot.passes("smoke")
        before = len(bot.runs("smoke"))
        assert bot.says("smoke") == "smoke-again" and bot.says("smoke") == "smoke-running"
        assert bot.says("sweep") == "sweep-after-smoke"
        assert bot.ends() is Outcome.VALIDATED
        assert (before, len(bot.runs("smoke"))) == (len(stages), 2 * len(stages))
        assert min(run.created for run in bot.runs("sweep")) > max(run.created for run in bot.runs("smoke"))


class TestRetry:
    def test_of_what_would_have_been_the_end_runs_it_again(self) -> None:
        bot = Commanded(world())
        run = bot.world.alive()[-1]
        bot.world.begin(run)
        for job in bot.world.runs[run.id].jobs:
            bot.world.end_job(bot.world.runs[run.id], job, "failure" if job.role == "eval" else "success", "eval-gate")
        assert bot.says("retry") == "retry-again"
        assert bot.world.runs[run.id].attempt == 2 and bot.world.memory.repairs_used == 0
        assert bot.ends() is Outcome.VALIDATED


class TestAWakeThatDies:
    def test_between_the_wish_and_its_answer_wishes_once_and_answers_once(self) -> None:
        for word, count in (("smoke", 1), ("sweep", 1), ("stop", 0)):
            bot = Commanded(world(start="dispatch", approve_above=1.0))
            for _ in range(4):
                bot.passes("smoke")
            bot.orders.append(Order(comment=1, by="ann", at=bot.world.now + timedelta(seconds=5), word=word))
            bot.world.now += timedelta(seconds=10)
            bump = bot.facts()
            first = look(bump)
            assert isinstance(first[0], Remember)
            bot.world.memory = recall.after(bump, first, [Result(index=0, ok=True), Result(index=1, ok=False)])
            bot.wake()
            bot.wake()
            memory = bot.world.memory
            assert len(memory.asked) + len(memory.approvals) == count and len(bot.answers) == 1
            assert [told.slot for told in memory.told].count("answer-1") == 1

    def test_does_it_all_again_without_a_difference(self) -> None:
        bot = Commanded(world())
        bot.says("help")
        before = len(bot.done)
        for _ in range(5):
            bot.wake()
        assert len(bot.done) == before
