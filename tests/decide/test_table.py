"""What the bot does in each situation: one row a situation, the seed's incidents first."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import decide
from bot.decide.ending import CONFLICT
from bot.decide.phase import phase_of
from bot.decide.say import digest
from bot.decide.sweep import NOTHING_BEGAN
from bot.model.action import (
    Cancel,
    ClosePull,
    Dispatch,
    Keep,
    Label,
    OpenPull,
    Push,
    Remember,
    Rerun,
    Say,
    SetDraft,
    Unlabel,
)
from bot.model.bump import Approval, Bump, Ended, Told
from bot.model.event import Scheduled
from bot.model.forge import Labelling
from bot.model.outcome import Cause, Outcome
from bot.model.rules import Limits
from tests.fakes.facts import (
    ENTRY,
    KEPT,
    LABEL,
    ME,
    MOVED,
    PROPOSAL,
    bump,
    failure,
    job,
    judged,
    later,
    run,
    wanted,
)

POINT, EVAL = job(1), job(2, role="eval", concurrency=4)
GREEN = run(10, "smoke", PROPOSAL, POINT, EVAL)
BROKEN_POINT = job(1, conclusion="failure")
BROKEN_EVAL = job(2, role="eval", concurrency=4, conclusion="failure")
RED = run(10, "smoke", PROPOSAL, BROKEN_POINT, conclusion="failure")
SMOKING = run(10, "smoke", PROPOSAL, job(1, status="in_progress"), status="in_progress")
SWEEPING = run(20, "sweep", ENTRY, job(3, status="in_progress"), status="in_progress", reason="label", minutes=90)
PUSHED = run(19, "sweep", ENTRY, status="completed", conclusion="cancelled", reason="push", minutes=90)
GATE = run(20, "sweep", ENTRY, job(3, status="in_progress"), BROKEN_EVAL, status="in_progress", reason="label", minutes=90)


CUT = run(20, "sweep", ENTRY, job(3), job(4, role="eval", concurrency=4, conclusion="cancelled"), conclusion="cancelled", reason="label",
          minutes=90)
WEATHER = run(20, "sweep", ENTRY, job(3), BROKEN_EVAL, conclusion="failure", reason="label", minutes=90)
EARLY = run(20, "sweep", PROPOSAL, job(3, status="in_progress"), status="in_progress", reason="label")
OTHER_LABEL = run(21, "sweep", ENTRY, status="queued", reason="label", minutes=95)
SETUP = job(9, role="other", conclusion="failure")
RULES = bump().subject.rules
BOTH = replace(RULES, sweep=replace(RULES.sweep, labels=("full-sweep-fail-fast",)))
DISPATCHED = replace(RULES, sweep=replace(RULES.sweep, start="dispatch"))
TAKEN_OFF = Labelling(label=LABEL, by="ann", at=later(100), added=False)


def said(*minutes: float) -> tuple[Labelling, ...]:
    """The sweep label put on by us at these moments."""
    return tuple(Labelling(label=LABEL, by=ME, at=later(at), added=True) for at in minutes)


def red(class_: str | None, **changed: object) -> Bump:
    """A finished smoke whose only job failed this way."""
    changed.setdefault("world", {})
    return bump("proposal", runs=(RED,), judgements=(judged(RED, failure(BROKEN_POINT, class_)),), now=60, **changed)


def swept(**changed: object) -> Bump:
    changed.setdefault("judgements", (judged(GATE, failure(BROKEN_EVAL, "tool-parser")),))
    return bump("proposal", "changelog", runs=(GREEN, GATE), labels=(LABEL,), now=180, **changed)


def ended(outcome: Outcome = Outcome.FAILED, cause: Cause = Cause.GATE) -> dict:
    return {"ended": Ended(outcome=outcome, cause=cause, at=later(180), run=20), "evidence": KEPT}


def unkept() -> dict:
    return {**ended(), "evidence": None}


def done(bump_: Bump) -> list:
    return [action for action in decide(bump_, Scheduled(at=bump_.now)) if not isinstance(action, Say)]


def says(bump_: Bump) -> list[str]:
    return [action.slot for action in decide(bump_, Scheduled(at=bump_.now)) if isinstance(action, Say)]


def ends(bump_: Bump) -> tuple[str, str] | None:
    facts = [action.fact for action in done(bump_) if isinstance(action, Remember) and isinstance(action.fact, Ended)]
    return (facts[0].outcome.value, facts[0].cause.value) if facts else None


DAY = Limits(gpu_hours=1000.0, gpu_hours_per_day=100.0)

SITUATIONS = [
    # --- the way of a bump
    ("nothing yet: the edit goes on a branch", bump(), "Opening", [Push]),
    ("the branch is there: the draft is opened", bump("proposal", world={"pull": None}), "Opening", [OpenPull]),
    ("the draft is open: one smoke", bump("proposal"), "SmokeDue", [Dispatch]),
    ("the smoke runs: waiting is returning", bump("proposal", runs=(SMOKING,)), "Smoking", []),
    ("the smoke passed: the changelog entry", bump("proposal", runs=(GREEN,)), "ChangelogDue", [Push]),
    ("the entry stands: the guest's label", bump("proposal", "changelog", runs=(GREEN,)), "SweepDue", [Label]),
    ("the sweep runs", bump("proposal", "changelog", runs=(GREEN, SWEEPING), labels=(LABEL,)), "Sweeping", []),
    ("over is over", bump("proposal", memory={"closed": True}), "Over", []),
    # --- the seed's incidents
    ("two runs for one head: the label's is followed, the push's is already cancelled",
     bump("proposal", "changelog", runs=(GREEN, PUSHED, SWEEPING), labels=(LABEL,)), "Sweeping", []),
    ("two live runs for one head: the older is stopped",
     bump("proposal", "changelog", labels=(LABEL,), runs=(GREEN, run(19, "sweep", ENTRY, status="queued", reason="push", minutes=89), SWEEPING)),
     "Sweeping", [Cancel]),
    ("label on a conflicting head: taken off, the default branch merged, the entry appended again",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), changelog="behind", world={"base_tip": MOVED}, pull_={"mergeable": False}),
     "ChangelogDue", [Unlabel, Push]),
    ("after the sync the label goes on at once: what we merged ourselves does merge",
     bump("proposal", "sync", runs=(GREEN,), pull_={"mergeable": None}), "SweepDue", [Label]),
    ("a package fetch that failed on one node: the failed jobs again, no repair", red("package-fetch"), "SmokeBroken", [Rerun]),
    ("an eval gate that failed on the full sweep, nothing known: the end", swept(), "SweepBroken", [Remember]),
    ("label while the smoke runs: kept in mind and taken off",
     bump("proposal", runs=(SMOKING,), labels=(LABEL,), labelled_by="ann"), "Smoking", [Remember, Unlabel]),
    ("a person pushes to the branch", bump("proposal", runs=(SMOKING,), world={"foreign_head": "e" * 40}), "Taken", [Remember]),
    ("a person labels it theirs", bump("proposal", runs=(SMOKING,), labels=("bumpbot-handoff",)), "Taken", [Remember]),
    ("a person closes it", bump("proposal", runs=(SMOKING,), pull_={"open": False}), "Taken", [Remember]),
    ("a person merges it", bump("proposal", runs=(SMOKING,), pull_={"open": False, "merged": True}), "Taken", [Remember]),
    # --- failures and their repairs
    ("a known repair within scope", red("moved-module", world={"wanted": wanted(RED)}), "SmokeBroken", [Push]),
    ("a repair during a sweep stops it first and takes the label off, or the push would start it again",
     swept(world={"wanted": wanted(GATE)}), "SweepBroken", [Cancel, Unlabel, Push]),
    ("a repaired head gets its own smoke", bump("proposal", "repair", runs=(RED,)), "SmokeDue", [Dispatch]),
    ("a smoke of the old head that still runs is stopped", bump("proposal", "repair", runs=(SMOKING,)), "SmokeDue", [Cancel, Dispatch]),
    ("infrastructure retries have an end",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, job(1, conclusion="failure", attempt=3), attempt=3, conclusion="failure"),),
          judgements=(judged(RED, failure(job(1, conclusion="failure", attempt=3), "node-unhealthy")),)), "SmokeBroken", [Remember]),
    ("one job of the image's own fault outweighs a sick node",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, BROKEN_POINT, BROKEN_EVAL, conclusion="failure"),),
          judgements=(judged(RED, failure(BROKEN_POINT, "node-unhealthy"), failure(BROKEN_EVAL, "oom")),)), "SmokeBroken", [Remember]),
    # --- conflicts and settling
    ("the forge still computes whether it merges",
     bump("proposal", "changelog", runs=(GREEN,), world={"base_tip": MOVED}, pull_={"mergeable": None}), "Settling", []),
    ("a conflict outside the changelog is a person's",
     bump("proposal", "changelog", runs=(GREEN,), world={"base_tip": MOVED}, pull_={"mergeable": False}), "Blocked", [Remember]),
    ("a default branch that moves under a sweep does not start it again",
     bump("proposal", "changelog", runs=(GREEN, SWEEPING), labels=(LABEL,), changelog="behind", world={"base_tip": MOVED}), "Sweeping", []),
    ("a label that was put on a moment ago: its run is not listed yet, a second label would stop it",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), now=5), "Settling", []),
    ("a label that started nothing is put on again",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), now=20), "SweepDue", [Unlabel, Label]),
    ("a person's label that started nothing: put on again, and their wish is kept",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), labelled_by="ann", now=20), "SweepDue", [Remember, Unlabel, Label]),
    ("two sweep labels at once start nothing: one is put on again at once",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL, "full-sweep-fail-fast"), now=1, rules=BOTH), "SweepDue",
     [Unlabel, Unlabel, Label]),
    ("labels that never start anything have an end",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), now=90, world={"labellings": said(0, 20, 40)}), "SweepDue", [Remember]),
    ("a label that a person took off is not put on again",
     bump("proposal", "changelog", runs=(GREEN, CUT), world={"labellings": (*said(0), TAKEN_OFF)}, now=120), "SweepDue", []),
    ("a sweep that failed after a person took its label off waits for them too",
     bump("proposal", "changelog", runs=(GREEN, WEATHER), judgements=(judged(WEATHER, failure(BROKEN_EVAL, "node-unhealthy")),),
          world={"labellings": (*said(0), TAKEN_OFF)}, now=120), "SweepBroken", []),
    # --- runs that were cut short, or show nothing
    ("a sweep that somebody cancelled goes on where it was",
     bump("proposal", "changelog", runs=(GREEN, CUT), labels=(LABEL,), now=120,
          judgements=(judged(CUT, failure(CUT.jobs[1], "cancelled-by-concurrency")),)), "SweepBroken", [Rerun]),
    ("a smoke cancelled before it had a job is asked for again",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, status="completed", conclusion="cancelled"),)), "SmokeBroken", [Dispatch]),
    ("a smoke whose setup failed is run again",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, SETUP, conclusion="failure"),)), "SmokeBroken", [Rerun]),
    ("a green smoke that measured nothing proves nothing", bump("proposal", runs=(run(10, "smoke", PROPOSAL),)), "SmokeBroken", [Remember]),
    ("a smoke whose jobs were all skipped proves nothing",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, job(1, conclusion="skipped")),)), "SmokeBroken", [Remember]),
    ("a broken collector beside jobs that passed", bump("proposal", runs=(run(10, "smoke", PROPOSAL, POINT, SETUP, conclusion="failure"),)),
     "ChangelogDue", [Push]),
    ("two smokes of one head: the older is stopped",
     bump("proposal", runs=(run(9, "smoke", PROPOSAL, status="queued"), SMOKING)), "Smoking", [Cancel]),
    ("a retry that cannot be paid", red("package-fetch", limits=Limits(gpu_hours=20.0)), "SmokeBroken", [Remember]),
    # --- people and other labels in between
    ("a sweep that a person started before the smoke is stopped, their wish is kept",
     bump("proposal", runs=(SMOKING, EARLY), labels=(LABEL,), labelled_by="ann"), "Smoking", [Remember, Unlabel, Cancel]),
    ("a sweep that a person started after the smoke, before the entry: no head is validated without it",
     bump("proposal", runs=(GREEN, EARLY), labels=(LABEL,), labelled_by="ann"), "ChangelogDue", [Remember, Unlabel, Push]),
    ("a sweep of the head before the entry is stopped",
     bump("proposal", "changelog", runs=(GREEN, EARLY)), "SweepDue", [Cancel, Label]),
    ("a run of some other label is the newest: the sweep goes on",
     bump("proposal", "changelog", runs=(GREEN, SWEEPING, OTHER_LABEL), labels=(LABEL,)), "Sweeping", []),
    ("while none of two runs measures yet, neither is stopped",
     bump("proposal", "changelog", runs=(GREEN, run(20, "sweep", ENTRY, status="queued", reason="label", minutes=90), OTHER_LABEL),
          labels=(LABEL,)), "Sweeping", []),
    ("where we dispatch ourselves a label is a wish, and stays on while the smoke runs",
     bump("proposal", runs=(SMOKING,), labels=(LABEL,), labelled_by="ann", rules=DISPATCHED), "Smoking", []),
    ("our own dispatch of the sweep", bump("proposal", "changelog", runs=(GREEN,), rules=DISPATCHED), "SweepDue", [Dispatch]),
    ("a second hang is the engine's",
     bump("proposal", runs=(run(10, "smoke", PROPOSAL, job(1, conclusion="failure", attempt=2), attempt=2, conclusion="failure"),),
          judgements=(judged(RED, failure(job(1, conclusion="failure", attempt=2), "hang")),)), "SmokeBroken", [Remember]),
    ("the cluster's day is promised: the smoke waits", bump("proposal", limits=DAY, world={"promised_today": 90.0}), "SmokeDue", []),
    ("the cluster's day is promised: the sweep waits",
     bump("proposal", "changelog", runs=(GREEN,), limits=DAY, world={"promised_today": 90.0}), "SweepDue", []),
    # --- the end
    ("cleaning up: runs stopped, label off", bump("proposal", "changelog", runs=(GREEN, SWEEPING), labels=(LABEL,), memory=ended()),
     "Finishing", [Cancel, Unlabel]),
    ("all terminal: the evidence is kept before the last word, which names it",
     bump("proposal", "changelog", runs=(GREEN,), memory=unkept(), now=185), "Finishing", [Keep]),
    ("an archive that does not answer for hours is waited for no longer",
     bump("proposal", "changelog", runs=(GREEN,), memory=unkept(), now=180 + 6 * 60), "Finishing", [ClosePull]),
    ("all terminal: closed", bump("proposal", "changelog", runs=(GREEN,), memory=ended()), "Finishing", [ClosePull]),
    ("a draft again before it is closed", bump("proposal", "changelog", runs=(GREEN,), memory=ended(), pull_={"draft": False}),
     "Finishing", [SetDraft, ClosePull]),
    ("validated is made ready and left open", bump("proposal", "changelog", runs=(GREEN,), memory=ended(Outcome.VALIDATED, Cause.VERDICT)),
     "Finishing", [SetDraft]),
    ("what a person takes while we clean up is left as they made it",
     bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), memory=ended(), world={"foreign_head": "e" * 40}, now=200),
     "Finishing", []),
    ("a run that we asked for and that is not listed yet is stopped before the last word",
     bump("proposal", "changelog", runs=(GREEN,), memory={**ended(), "owned": (10, 21)}, now=185), "Finishing", [Cancel]),
    ("a label of a moment ago: its run is waited for before the last word",
     bump("proposal", "changelog", runs=(GREEN,), memory=ended(), now=185, world={"labellings": said(180)}), "Finishing", []),
    ("what a person took is left as they made it",
     bump("proposal", runs=(GREEN,), labels=(LABEL,), memory=ended(Outcome.HANDED_OFF, Cause.PERSON)), "Finishing", []),
]


@pytest.mark.parametrize(("situation", "facts", "phase", "actions"), SITUATIONS, ids=[row[0] for row in SITUATIONS])
def test_situation(situation: str, facts: Bump, phase: str, actions: list[type]) -> None:
    assert type(phase_of(facts)).__name__ == phase
    assert [type(action) for action in done(facts)] == actions


ENDINGS = [
    ("a wanted repair out of scope", red("moved-module", world={"wanted": wanted(RED, available=False)}), ("failed", "unrepairable")),
    ("repair 6 of 5",
     red("oom", world={"wanted": wanted(RED)}, limits=Limits(repairs=0, gpu_hours=1000.0)), ("failed", "repairs-exhausted")),
    ("a smoke's repair that cannot be paid",
     red("oom", world={"wanted": wanted(RED)}, limits=Limits(gpu_hours=100.0)), ("budget-exhausted", "budget")),
    ("a sweep's gate whose repair cannot be paid", swept(world={"wanted": wanted(GATE)}, limits=Limits(gpu_hours=100.0)), ("failed", "gate")),
    ("a sweep's gate with no repair known", swept(), ("failed", "gate")),
    ("an incompatibility a run has proven", red("moved-module"), ("incompatible", "unrepairable")),
    ("an error nobody knows", red(None), ("failed", "unrepairable")),
    ("a model that is not staged", red("model-not-staged"), ("readiness-blocked", "none")),
    ("no nodes", red("capacity"), ("capacity-deferred", "none")),
    ("a smoke that cannot be paid", bump("proposal", limits=Limits(gpu_hours=1.0)), ("budget-exhausted", "budget")),
    ("a sweep that cannot be paid", bump("proposal", "changelog", runs=(GREEN,), limits=Limits(gpu_hours=60.0)), ("budget-exhausted", "budget")),
    ("a smoke that hangs until it has cost more than there is",
     bump("proposal", runs=(SMOKING,), now=600, limits=Limits(gpu_hours=100.0)), ("budget-exhausted", "budget")),
    ("a sweep that runs into the cap",
     bump("proposal", "changelog", runs=(GREEN, SWEEPING), labels=(LABEL,), now=900, limits=Limits(gpu_hours=100.0)),
     ("budget-exhausted", "budget")),
    ("all jobs passed and a point is missing",
     bump("proposal", "changelog", runs=(GREEN, run(20, "sweep", ENTRY, job(3), minutes=90)), labels=(LABEL,),
          judgements=(replace(judged(run(20, "sweep", ENTRY, job(3)), verdict="improved"), gates=("coverage:c2",)),)),
     ("failed", "gate")),
    ("a green smoke at which too many requests failed: no sweep is paid for",
     bump("proposal", runs=(GREEN,), judgements=(replace(judged(GREEN), gates=("failed-requests:c4",)),)), ("failed", "unrepairable")),
    *((f"all jobs passed and the verdict is {verdict}",
       bump("proposal", "changelog", runs=(GREEN, run(20, "sweep", ENTRY, job(3), minutes=90)), labels=(LABEL,),
            judgements=(judged(run(20, "sweep", ENTRY, job(3)), verdict=verdict),)), (outcome, "verdict"))
      for verdict, outcome in (("improved", "validated"), ("neutral", "validated"), ("regressed", "regressed"), ("inconclusive", "uncertain"))),
]


@pytest.mark.parametrize(("situation", "facts", "end"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_ending(situation: str, facts: Bump, end: tuple[str, str]) -> None:
    assert ends(facts) == end
    assert not any(isinstance(action, (Push, Dispatch, Label, Rerun)) for action in done(facts))


class TestWhatIsSaid:
    def test_a_waiting_comment_changes_at_most_every_half_hour(self) -> None:
        facts = bump("proposal", "changelog", runs=(GREEN, SWEEPING), labels=(LABEL,), now=100)
        assert says(facts) == ["sweep-0", "body"]
        told = _told(facts, "sweep-0", at=90)
        assert "sweep-0" not in says(told)
        assert "sweep-0" in says(_told(facts, "sweep-0", at=60))

    def test_what_was_said_is_not_said_again(self) -> None:
        facts = bump("proposal", runs=(SMOKING,))
        first = [action for action in decide(facts, Scheduled(at=facts.now)) if isinstance(action, Say)]
        assert [action.slot for action in first] == ["attempt-0", "body"]
        again = _remembered(facts, first)
        assert decide(again, Scheduled(at=again.now)) == ()

    def test_the_stop_is_told_before_it_is_remembered(self) -> None:
        kinds = [type(action).__name__ + getattr(action, "slot", "") for action in decide(swept(), Scheduled(at=later(180)))]
        assert kinds.index("Saystop") < kinds.index("Remember")

    def test_an_early_label_of_a_person_becomes_an_approval(self) -> None:
        facts = bump("proposal", runs=(SMOKING,), labels=(LABEL,), labelled_by="ann")
        approvals = [action.fact for action in done(facts) if isinstance(action, Remember)]
        assert approvals == [Approval(by="ann", at=facts.now)]

    def test_above_the_threshold_the_sweep_waits_for_a_person(self) -> None:
        limits = Limits(gpu_hours=1000.0, approve_above=10.0)
        waiting = bump("proposal", "changelog", runs=(GREEN,), limits=limits)
        assert done(waiting) == [] and "status" in says(waiting)
        asked = bump("proposal", "changelog", runs=(GREEN,), limits=limits, memory={"approvals": (Approval(by="ann", at=later(5)),)})
        assert [type(action) for action in done(asked)] == [Label]


    def test_labels_that_start_nothing_end_with_their_reason(self) -> None:
        facts = bump("proposal", "changelog", runs=(GREEN,), labels=(LABEL,), now=90, world={"labellings": said(0, 20, 40)})
        assert ends(facts) == ("uncertain", "infrastructure-retries-exhausted")
        assert [action.fact.why for action in done(facts)] == [NOTHING_BEGAN]

    def test_a_label_taken_off_is_answered_with_who_moves_next(self) -> None:
        facts = bump("proposal", "changelog", runs=(GREEN, CUT), world={"labellings": (*said(0), TAKEN_OFF)}, now=120)
        record = next(action.record for action in decide(facts, Scheduled(at=facts.now)) if getattr(action, "slot", "") == "status")
        assert (record.about, record.state.next) == ("sweep-held", "maintainer")

    def test_a_conflict_says_that_it_is_one(self) -> None:
        facts = bump("proposal", "changelog", runs=(GREEN,), world={"base_tip": MOVED}, pull_={"mergeable": False})
        assert [action.fact.why for action in done(facts)] == [CONFLICT]

    def test_a_smoke_that_passed_is_told_also_where_no_changelog_commit_follows(self) -> None:
        facts = bump("proposal", runs=(GREEN,), rules=replace(RULES, changelog=False))
        told = [action.record for action in decide(facts, Scheduled(at=facts.now)) if getattr(action, "slot", "") == "attempt-0"]
        assert [(record.next, record.passed) for record in told] == [("sweep", True)]

    def test_two_people_who_ask_early_are_one_approval_and_one_answer(self) -> None:
        facts = bump("proposal", runs=(SMOKING,), labels=(LABEL, "full-sweep-fail-fast"), labelled_by="ann", rules=BOTH)
        assert [type(action) for action in done(facts)] == [Remember, Unlabel, Unlabel]
        assert says(facts).count("status") == 1

    def test_the_last_look_at_a_sweep_whose_gate_does_not_hold_says_failed(self) -> None:
        sweep = run(20, "sweep", ENTRY, job(3), minutes=90)
        facts = bump("proposal", "changelog", runs=(GREEN, sweep), judgements=(replace(judged(sweep), gates=("coverage:c2",)),),
                     memory=ended())
        told = decide(_told(facts, "sweep-0", at=90), Scheduled(at=facts.now))
        record = next(action.record for action in told if getattr(action, "slot", "") == "sweep-0")
        assert (record.passed, record.reasons) == (False, ("coverage:c2",))

    def test_gates_that_do_not_hold_are_told_in_words_and_no_attempt_passed(self) -> None:
        """Seen: the stop said so, and the table of attempts called the same run passed."""
        facts = bump("proposal", runs=(GREEN,), judgements=(replace(judged(GREEN), gates=("failed-requests:c4", "coverage:c2")),))
        told = {action.slot: action.record for action in decide(facts, Scheduled(at=facts.now)) if isinstance(action, Say)}
        assert told["stop"].why.en == "Every job passed, but too many requests failed at c4, and the point c2 was not measured."
        assert told["stop"].why.zh == "所有作业均已通过，但测点 c4 的失败请求过多，且测点 c2 未被测量。"
        assert [line.result for line in told["body"].attempts] == ["failed"]


class TestNonce:
    def test_the_same_facts_give_the_same_nonce_and_another_head_another(self) -> None:
        first, second = done(bump("proposal"))[0], done(bump("proposal", "repair", runs=(RED,)))[0]
        assert first.nonce == done(bump("proposal", now=5))[0].nonce != second.nonce
        assert first.inputs == {"ref": PROPOSAL, "test-name": first.nonce}


def _told(facts: Bump, slot: str, *, at: float) -> Bump:
    told = Told(slot=slot, comment=1, digest="something else", at=later(at))
    return replace(facts, memory=replace(facts.memory, told=(told,)))


def _remembered(facts: Bump, said: list[Say]) -> Bump:
    told = tuple(Told(slot=action.slot, comment=1, digest=digest(action.record), at=facts.now) for action in said)
    return replace(facts, memory=replace(facts.memory, told=told))
