"""Whole bumps in the simulated world, one a way to end, and what people and the forge do in between."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import get_args

import pytest

from bot.decide.classes import CLASSES, response
from bot.decide.phase import Phase, phase_of
from bot.model.finding import Checked
from bot.model.outcome import Outcome
from tests.fakes.facts import STAGED
from tests.fakes.found import checks, found
from tests.fakes.watched import Watched, begun, breaks, smoke_fails, sweep_fails, until, world

UNKNOWN = None


# --- whole bumps, one a way to end: what chance might not reach within a minute is reached here

def judged_as(verdict: str, **policy: object) -> Watched:
    """A sweep whose jobs pass and whose verdict is this."""
    bot = begun(**policy)
    until(bot, "Sweeping")
    bot.world.verdicts[bot.world.alive()[-1].id] = verdict
    return bot


def conflicts(*, changelog: bool) -> Watched:
    """The recipe changed on the default branch while the smoke ran."""
    bot = begun()
    bot.world.move_base(changelog=changelog, recipe=True)
    return bot


def taken_over(what: str, at: str = "Sweeping", **policy: object) -> Watched:
    """A person acts while this goes on."""
    bot = begun(**policy)
    until(bot, at)
    bot.world.person(what)
    bot.wake()
    return bot


def moved_on() -> Watched:
    """The default branch's changelog moves after our entry, before the sweep could start."""
    bot = begun(approve_above=10.0)
    until(bot, "SweepDue")
    bot.world.move_base(changelog=True)
    return bot


def forbidden() -> Watched:
    """A rule of the repository refuses the commit that holds our entry, at each try."""
    bot = begun()
    bot.world.forbids = True
    return bot


def pushed_again(at: str, **policy: object) -> Watched:
    """The candidate's tag holds another image from this moment on."""
    bot = begun(**policy)
    until(bot, at)
    bot.world.tag = "sha256:" + "e" * 64
    bot.wake()
    return bot


def repeat_fails(*classes: str | None) -> Watched:
    """Repeats of a suspect sweep that fail one after the other in these ways."""
    bot = judged_as("suspect", stages=STAGED)
    for class_ in classes:
        until(bot, "Repeating")
        breaks(bot, class_, role="throughput")
    return bot


def beside(*classes: str | None, **policy: object) -> Watched:
    """A sweep with the old image beside it, whose runs fail one after the other in these ways."""
    bot = begun(control=True, **policy)
    until(bot, "Sweeping")
    bot.wake()
    for class_ in classes:
        arm = next(run for run in bot.world.alive() if run.stage == "control")
        bot.world.begin(arm)
        for job in [job for job in bot.world.runs[arm.id].jobs if job.status != "completed"]:
            bot.world.end_job(bot.world.runs[arm.id], job, "failure", class_)
        bot.wake()
    return bot


def sweep_first() -> Watched:
    """The sweep is done long before the old image is."""
    bot = beside()
    sweep = next(run for run in bot.world.alive() if run.stage == "sweep")
    bot.world.begin(sweep)
    for job in [job for job in bot.world.runs[sweep.id].jobs if job.status != "completed"]:
        bot.world.end_job(bot.world.runs[sweep.id], job, "success")
    bot.wake()
    assert type(phase_of(bot.world.facts())).__name__ == "Controlling"
    return bot


def stage_fails(step: int, class_: str | None, **policy: object) -> Watched:
    """The stages before this one pass, and this one fails."""
    bot = begun(stages=STAGED, **policy)
    for _ in range(step - 1):
        bot.goes_well()
    breaks(bot, class_, role="eval" if step == 1 else "throughput")
    return bot


def smoked_again() -> Watched:
    """A person asks for the smoke again when it has passed."""
    bot = begun(stages=STAGED, approve_above=10.0)
    until(bot, "SweepDue")
    bot.world.asks("smoke")
    bot.wake()
    assert type(phase_of(bot.world.facts())).__name__ == "Smoking"
    return bot


def files_say(*said: tuple, **policy: object) -> Watched:
    """A bump whose plan found this."""
    return begun(checks=checks(*(found(*one) for one in said)), **policy)


def mended(*, in_scope: bool = True, **policy: object) -> Watched:
    """A bump for which the plan knows a repair."""
    bot = Watched(world(checks=checks(found("imports", "repair-first", "moved-module", repair="native-chat-processor")), **policy))
    bot.world.mends = in_scope
    bot.wake()
    made = any(head.repair for head in bot.world.memory.heads)
    assert made == (in_scope and policy.get("repairs") != 0) and bool(bot.world.runs) == made
    return bot


def changed(check: str, action: str, class_: str) -> Watched:
    """A bump whose plan was clean, and for which a check finds something when it is made again before the sweep."""
    bot = begun(checks=(Checked(check=check),))
    until(bot, "Smoking")
    bot.world.again = checks(found(check, action, class_))
    bot.wake()
    return bot


def answered() -> Watched:
    """Nothing would have taken the smoke, until somebody brings the runner back."""
    bot = files_say(("runners", "ask", "runner-retired"))
    assert type(phase_of(bot.world.facts())).__name__ == "SmokeDue"
    assert not bot.world.runs
    bot.world.again = (Checked(check="runners"),)
    bot.wake()
    assert bot.world.runs
    return bot


def waiting(*said: tuple, **policy: object) -> Watched:
    """A bump that files prove to fail, and that the bot cannot mend by itself: however long it is woken, nothing runs."""
    bot = files_say(*said, **policy)
    for _ in range(5):
        bot.goes_well()
    assert not bot.world.runs and bot.world.pull.draft and bot.world.memory.ended is None
    return bot


def smoked_all_the_same(*said: tuple) -> Watched:
    """A person who knows better lets the smoke go; the sweep still waits for a word of its own."""
    bot = waiting(*said)
    bot.world.asks("smoke")
    until(bot, "SweepDue")
    bot.goes_well()
    assert {run.stage for run in bot.world.runs.values() if bot.world.measuring[run.id]} == {"smoke"}
    return bot


STORIES: dict[str, tuple[Callable[[], Watched], str, str]] = {
    "all goes well, the guest's label": (begun, "validated", "verdict"),
    "all goes well, our own dispatch": (lambda: begun(start="dispatch"), "validated", "verdict"),
    "a repository without a changelog": (lambda: begun(changelog=False), "validated", "verdict"),
    "a guest whose drafts do not sweep": (lambda: begun(drafts=False), "validated", "verdict"),
    "no cap": (lambda: begun(gpu_hours=None), "validated", "verdict"),
    "runs are listed late": (lambda: begun(late=True), "validated", "verdict"),
    "an improvement": (lambda: judged_as("improved"), "validated", "verdict"),
    "slower": (lambda: judged_as("regressed"), "regressed", "verdict"),
    "too few points to tell": (lambda: judged_as("inconclusive"), "uncertain", "verdict"),
    "stage by stage": (lambda: begun(stages=STAGED, start="dispatch"), "validated", "verdict"),
    "the cheapest stage tells": (lambda: stage_fails(1, "eval-gate"), "failed", "unrepairable"),
    "the last stage tells": (lambda: stage_fails(3, "moved-module"), "incompatible", "unrepairable"),
    "a sick node in the second stage": (lambda: stage_fails(2, "node-unhealthy"), "validated", "verdict"),
    "the smoke again, on request": (smoked_again, "validated", "verdict"),
    "suspect, and slow again": (lambda: judged_as("suspect"), "regressed", "verdict"),
    "suspect, and a repeat cannot be paid": (lambda: judged_as("suspect", gpu_hours=125.0), "uncertain", "verdict"),
    "suspect, and no repeat is allowed": (lambda: judged_as("suspect", repeats=0), "uncertain", "verdict"),
    "a sick node in the repeat": (lambda: repeat_fails("node-unhealthy"), "regressed", "verdict"),
    "three sick nodes in the repeat": (lambda: repeat_fails(*["node-unhealthy"] * 3), "uncertain",
                                       "infrastructure-retries-exhausted"),
    "the old image beside the sweep": (lambda: beside(), "validated", "verdict"),
    "the old image beside our own dispatch": (lambda: beside(start="dispatch"), "validated", "verdict"),
    "the old image takes longer than the sweep": (sweep_first, "validated", "verdict"),
    "the old image fails of a sick node once": (lambda: beside("node-unhealthy"), "validated", "verdict"),
    "the old image fails of a sick node twice": (lambda: beside("node-unhealthy", "node-unhealthy"), "validated", "verdict"),
    "the old image fails of its own": (lambda: beside("oom"), "validated", "verdict"),
    "the old image cannot be paid": (lambda: begun(control=True, gpu_hours=150.0), "validated", "verdict"),
    "the tag is pushed again under the smoke": (lambda: pushed_again("Smoking"), "superseded", "none"),
    "the tag is pushed again before the sweep": (lambda: pushed_again("SweepDue", approve_above=10.0), "superseded", "none"),
    "a tag that nobody pinned is pushed again under the sweep": (lambda: pushed_again("Sweeping"), "superseded", "none"),
    "the changelog moved": (moved_on, "validated", "verdict"),
    "the repository refuses our entry": (forbidden, "readiness-blocked", "none"),
    "above the threshold, and a person says yes": (lambda: begun(approve_above=10.0), "validated", "verdict"),
    "a repair that helps": (lambda: smoke_fails("oom", known={"oom": True}), "validated", "verdict"),
    "a repair after the sweep": (lambda: sweep_fails("tool-parser", known={"tool-parser": True}), "validated", "verdict"),
    "one package fetch": (lambda: smoke_fails("package-fetch"), "validated", "verdict"),
    "two sick nodes in the sweep": (lambda: sweep_fails("node-unhealthy", "node-unhealthy"), "validated", "verdict"),
    "one hang": (lambda: smoke_fails("hang"), "validated", "verdict"),
    "a second hang is the engine's": (lambda: smoke_fails("hang", "hang"), "failed", "unrepairable"),
    "three sick nodes": (lambda: smoke_fails(*["node-unhealthy"] * 3), "uncertain", "infrastructure-retries-exhausted"),
    "a repair too many": (lambda: smoke_fails("oom", "oom", known={"oom": True}, repairs=1), "failed", "repairs-exhausted"),
    "a repair out of scope": (lambda: smoke_fails("oom", known={"oom": False}), "failed", "unrepairable"),
    "a gate": (lambda: sweep_fails("eval-gate"), "failed", "gate"),
    "an incompatibility": (lambda: smoke_fails("moved-module"), "incompatible", "unrepairable"),
    "an error nobody knows": (lambda: smoke_fails(None), "failed", "unrepairable"),
    "a model that is not staged": (lambda: smoke_fails("model-not-staged"), "readiness-blocked", "none"),
    "no nodes": (lambda: smoke_fails("capacity"), "capacity-deferred", "none"),
    "no smoke can be paid": (lambda: begun(gpu_hours=30.0), "budget-exhausted", "budget"),
    "no sweep can be paid": (lambda: begun(gpu_hours=100.0), "budget-exhausted", "budget"),
    "no retry can be paid": (lambda: smoke_fails("package-fetch", gpu_hours=42.0), "budget-exhausted", "budget"),
    "the recipe moved": (lambda: conflicts(changelog=False), "uncertain", "none"),
    "the recipe moved, and the changelog": (lambda: conflicts(changelog=True), "uncertain", "none"),
    "merged under us": (lambda: taken_over("merge"), "merged", "person"),
    "closed": (lambda: taken_over("close"), "closed-by-maintainer", "person"),
    "taken over by a label": (lambda: taken_over("handoff", "Smoking"), "handed-off", "person"),
    "files say that it cannot start": (lambda: files_say(("imports", "stop", "moved-module")), "incompatible", "none"),
    "files say that nothing is staged": (lambda: files_say(("staging", "stop", "model-not-staged")), "readiness-blocked", "none"),
    "the token is another's, whatever else is wrong": (lambda: files_say(
        ("identity", "stop", "credential"), ("imports", "stop", "moved-module")), "readiness-blocked", "none"),
    "no fleet has room": (lambda: files_say(("capacity", "stop", "capacity")), "capacity-deferred", "none"),
    "files stop it for a reason without a class": (lambda: files_say(("overlap", "stop", None)), "uncertain", "none"),
    "files ask, and a person says yes": (lambda: files_say(("roster", "ask", "baseline-gap")), "validated", "verdict"),
    "files ask, where our own dispatch sweeps": (lambda: files_say(("roster", "ask", "baseline-gap"), start="dispatch"),
                                                 "validated", "verdict"),
    "a runner is retired, and a person says yes": (lambda: files_say(("runners", "ask", "runner-retired")), "validated", "verdict"),
    "a runner is retired, and comes back": (answered, "validated", "verdict"),
    "files only tell": (lambda: files_say(("options", "note", "oom")), "validated", "verdict"),
    "a conflict that the sync mends": (lambda: files_say(("mergeable", "repair-first", "changelog-conflict")), "validated", "verdict"),
    "what must be mended first, and a person says yes": (
        lambda: waiting(("contains", "repair-first", "engine-regression")), "validated", "verdict"),
    "what must be mended first, and a person wants the smoke": (
        lambda: smoked_all_the_same(("options", "repair-first", "flag-removed")), "validated", "verdict"),
    "what must be mended first, and a person mends it": (
        lambda: taken_over("push", "SmokeDue", checks=checks(found("options", "repair-first", "flag-removed"))), "handed-off", "person"),
    "a repair before the first smoke": (mended, "validated", "verdict"),
    "a repair before the first smoke is out of scope": (lambda: mended(in_scope=False), "validated", "verdict"),
    "a repair before the first smoke, and none is left": (lambda: mended(repairs=0), "validated", "verdict"),
    "the fleet is full by the time of the sweep": (lambda: changed("capacity", "stop", "capacity"), "capacity-deferred", "none"),
    "the rules changed by the time of the sweep": (lambda: changed("certify", "stop", "shared-ci-bug"), "readiness-blocked", "none"),
    "a question comes up before the sweep": (lambda: changed("overlap", "ask", "shared-ci-bug"), "validated", "verdict"),
    "taken over by a push": (lambda: taken_over("push"), "handed-off", "person"),
}


@cache
def told(name: str) -> Watched:
    """A story played to its end, once a process."""
    bot = STORIES[name][0]()
    bot.drain()
    bot.wake()
    return bot


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str) -> None:
    ended = told(name).world.memory.ended
    assert (ended.outcome.value, ended.cause.value) == STORIES[name][1:]


def test_every_phase_was_reached() -> None:
    """Whatever `phase_of` can say was said in one of the stories."""
    assert {kind.__name__ for kind in get_args(Phase)} == {phase for name in STORIES for phase in told(name).phases}


@pytest.mark.parametrize("class_", [*sorted(CLASSES), UNKNOWN])
@pytest.mark.parametrize("fails", [smoke_fails, sweep_fails])
def test_every_class_of_failure_has_its_answer(fails: Callable[..., Watched], class_: str | None) -> None:
    bot = fails(class_)
    called, outcome = response(class_)
    assert bot.drain() == (Outcome.VALIDATED if called == "retry" else outcome)
    assert bot.world.memory.repairs_used == 0


def test_the_table_of_classes_is_whole() -> None:
    """Every class that a triage may name has a row, and no row is for a class that none names."""
    named = """engine-regression moved-module flag-removed feature-missing arch-unsupported oom hang tool-parser eval-gate
        request-errors image-missing model-not-staged disk-full node-unhealthy package-fetch capacity runner-retired credential
        baseline-gap changelog-conflict shared-ci-bug cancelled-by-concurrency""".split()
    assert set(CLASSES) == set(named)
