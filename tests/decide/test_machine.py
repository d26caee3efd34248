"""A bump among everything that can happen to it: whatever the order, it spends within its means, leaves people's things
alone, says each thing once, and comes to an end."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.decide.classes import CLASSES
from bot.model.finding import Checked
from tests.fakes import facts
from tests.fakes.found import checks, found
from tests.fakes.watched import Watched, world

UNKNOWN = None
KINDS = [*sorted(CLASSES), UNKNOWN]
REPAIRABLE = ["moved-module", "oom", "tool-parser", "flag-removed", "hang", UNKNOWN]
# What planning may have found: mostly nothing, and a stop seldom, for nothing happens after it.
FOUND = st.sampled_from([()] * 8 + [("roster", "ask", "baseline-gap"), ("runners", "ask", "runner-retired"), ("overlap", "ask", None),
                                    ("imports", "repair-first", "moved-module"), ("contains", "repair-first", "engine-regression"),
                                    ("mergeable", "repair-first", "changelog-conflict"), ("options", "note", "oom"),
                                    ("staging", "stop", "model-not-staged")])
AGAIN = st.sampled_from([("capacity", "stop", "capacity"), ("certify", "stop", "shared-ci-bug"), ("overlap", "ask", None),
                         ("runners", "ask", "runner-retired"), ("runners", "note", "runner-retired")])
POLICIES = st.fixed_dictionaries({
    "start": st.sampled_from(["label", "label", "dispatch"]), "changelog": st.booleans(), "drafts": st.booleans(),
    "needs_entry": st.booleans(), "late": st.booleans(), "gpu_hours": st.sampled_from([3000.0, 3000.0, None, 400.0, 160.0, 30.0]),
    "repairs": st.integers(0, 5), "infrastructure_retries": st.integers(0, 2), "approve_above": st.sampled_from([None, None, 10.0]),
    "known": st.dictionaries(st.sampled_from(REPAIRABLE), st.sampled_from([True, True, False])), "along": st.integers(0, 4),
    "found": FOUND, "mends": st.booleans(), "control": st.booleans(), "another_image": st.sampled_from([False, False, True]), "stages": st.sampled_from([("trim",), facts.STAGED]),
    "theme": st.sampled_from([*REPAIRABLE, "node-unhealthy", "package-fetch", "eval-gate"]),
})


class AnyOrder(RuleBasedStateMachine):
    """Wakes and everything else in any order; at the end nobody acts any more and the bump must end."""

    @initialize(drawn=POLICIES)
    def begin(self, drawn: dict) -> None:
        limits = {name: drawn[name] for name in ("gpu_hours", "repairs", "infrastructure_retries", "approve_above")}
        manners = {name: drawn[name] for name in ("start", "changelog", "drafts", "needs_entry", "late", "stages", "control")}
        self.world = world(**manners, **limits, checks=self.checks(drawn["found"]))
        self.world.mends = drawn["mends"]
        self.world.repairs, self.theme = drawn["known"], drawn["theme"]
        self.world.another_image = drawn["another_image"]
        if drawn["theme"] in REPAIRABLE:
            self.world.repairs = {drawn["theme"]: True, **drawn["known"]}
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
    @rule(class_=st.sampled_from(KINDS), themed=st.sampled_from([True, True, False]), one=st.booleans())
    def a_run_breaks(self, class_: str | None, themed: bool, one: bool) -> None:
        """What is wrong with an image tends to stay wrong: most runs of a bump break in its own way."""
        class_ = self.theme if themed else class_
        run = self.world.alive()[-1]
        self.world.begin(run)
        for job in [job for job in self.world.runs[run.id].jobs if job.status != "completed"]:
            bad = job.role == "eval" if one else job.role != "other"
            self.world.end_job(self.world.runs[run.id], job, "failure" if bad else "success", class_ if bad else None)
        self.bot.wake()

    @precondition(lambda self: self.world.alive())
    @rule(pick=st.integers(0, 3), conclusion=st.sampled_from(["cancelled", "failure"]))
    def a_run_stops(self, pick: int, conclusion: str) -> None:
        self.world.now += timedelta(seconds=10)  # nobody stops a run in the second in which it began
        run = self.world.alive()[pick % len(self.world.alive())]
        if conclusion == "cancelled" or not run.jobs:
            self.world.stop_run(run, conclusion)

    @precondition(lambda self: self.world.alive())
    @rule(pick=st.integers(0, 3), verdict=st.sampled_from(["improved", "neutral", "regressed", "inconclusive", "suspect", "suspect"]))
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

    @precondition(lambda self: self.world.pull)
    @rule(word=st.sampled_from(["smoke", "smoke", "retry", "retry", "sweep", "status", "help", "stop"]), really=st.integers(0, 5),
          objection=st.sampled_from([None, None, None, "edited", "old", "no-permission"]))
    def a_person_commands(self, word: str, really: int, objection: str | None) -> None:
        if word != "stop" or really == 0:
            self.world.asks(word, objection)

    @rule(really=st.integers(0, 8))
    def the_tag_is_pushed_again(self, really: int) -> None:
        if really == 0:
            self.world.tag = "sha256:" + "e" * 64

    @staticmethod
    def checks(said: tuple) -> tuple[Checked, ...]:
        """Every check that is asked about, and what one of them found: some repairs are known, some are for a person."""
        made = [found(*said, repair="drop-it" if said[0] == "imports" else None)] if said else []
        clean = tuple(Checked(check=name) for name in ("certify", "runners", "capacity", "overlap") if not said or name != said[0])
        return (*checks(*made), *clean)

    @rule(said=AGAIN, really=st.integers(0, 4))
    def a_check_finds_something_else(self, said: tuple, really: int) -> None:
        self.world.again = checks(found(*said)) if really == 0 else (Checked(check=said[0]),)

    @rule(count=st.integers(1, 3))
    def actions_fail(self, count: int) -> None:
        self.world.refusing = count

    @invariant()
    def money(self) -> None:
        if hasattr(self, "world"):
            assert all(count <= self.world.subject.limits.infrastructure_retries + 1 for count in self.bot.labels.values())

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.bot.drain()


AnyOrder.TestCase.settings = settings(
    max_examples=600, stateful_step_count=40, deadline=None, derandomize=True, report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
TestAnyOrder = AnyOrder.TestCase
