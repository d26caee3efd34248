"""Where a bump stands, at the corners: attempts, cancelled runs, other heads, labels, approvals, a base that moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide.people import held, labelled_by, needs_approval, sweep_labels
from bot.decide.phase import Barred, phase_of
from bot.decide.runs import alive_sweeps, failed_jobs, passed, rerunnable, starting, sweep_of
from bot.model.bump import Approval, Bump
from bot.model.forge import Labelling
from bot.model.rules import Limits
from bot.model.run import Run
from tests.fakes.facts import (
    BASE,
    ENTRY,
    LABEL,
    ME,
    MOVED,
    PROPOSAL,
    REPAIR,
    SYNC,
    bump,
    failure,
    job,
    judged,
    later,
    run,
)

GREEN = run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", concurrency=4))
DONE = run(20, "sweep", ENTRY, job(3), job(4, role="eval", concurrency=4), reason="label", minutes=90)
RULES = bump().subject.rules
DISPATCHED = replace(RULES, sweep=replace(RULES.sweep, start="dispatch"))
BOTH = replace(RULES, sweep=replace(RULES.sweep, labels=("full-sweep-fail-fast",)))


def phase(facts: Bump) -> str:
    return type(phase_of(facts)).__name__


def smoked(*jobs: object, **changed: object) -> Bump:
    """A bump whose smoke holds these jobs, judged with one moved module for each that failed."""
    made = run(10, "smoke", PROPOSAL, *jobs, **changed)
    failures = [failure(one, "moved-module") for one in made.jobs if one.conclusion == "failure"]
    return bump("proposal", runs=(made,), judgements=(judged(made, *failures),), now=200)


def swept(*runs: Run, **changed: object) -> Bump:
    changed.setdefault("labels", (LABEL,))
    changed.setdefault("now", 200)
    return bump("proposal", "changelog", runs=(GREEN, *runs), **changed)


class TestAttempts:
    """A rerun of the failed jobs keeps the others as they were: of each job its newest attempt counts."""

    def test_what_passed_when_it_was_run_again_has_passed(self) -> None:
        assert phase(smoked(job(1, conclusion="failure"), job(5, attempt=2), attempt=2)) == "ChangelogDue"

    def test_what_failed_when_it_was_run_again_has_failed(self) -> None:
        assert phase(smoked(job(1), job(5, attempt=2, conclusion="failure"), attempt=2, conclusion="failure")) == "SmokeBroken"

    def test_the_order_in_which_the_forge_lists_them_means_nothing(self) -> None:
        assert phase(smoked(job(5, attempt=2), job(1, conclusion="failure"), attempt=2)) == "ChangelogDue"

    def test_the_jobs_that_were_not_run_again_stay_as_they_were(self) -> None:
        kept = job(2, role="eval", concurrency=4, conclusion="failure")
        facts = smoked(job(1, conclusion="failure"), kept, job(5, attempt=2), attempt=2, conclusion="failure")
        assert phase(facts) == "SmokeBroken" and failed_jobs(facts.world.runs[0]) == (kept,)

    def test_a_rerun_that_goes_on_is_waited_for(self) -> None:
        jobs = job(1, conclusion="failure"), job(5, attempt=2, status="queued")
        again = run(10, "smoke", PROPOSAL, *jobs, status="queued", attempt=2)
        assert phase(bump("proposal", runs=(again,), judgements=(judged(again, failure(job(1), "oom")),))) == "Smoking"

    def test_a_sweep_whose_failed_job_is_run_again_is_not_broken_any_more(self) -> None:
        first = job(3, conclusion="failure")
        again = run(20, "sweep", ENTRY, first, job(6, attempt=2, status="in_progress"), status="in_progress", attempt=2, minutes=90)
        assert phase(swept(again, judgements=(judged(again, failure(first, "eval-gate")),))) == "Sweeping"

    def test_a_second_hang_breaks_a_sweep_while_its_other_jobs_still_run(self) -> None:
        for attempt, expected in ((1, "Sweeping"), (2, "SweepBroken")):
            hung = job(3, conclusion="failure", attempt=attempt)
            other = job(4, concurrency=2, status="in_progress")
            going = run(20, "sweep", ENTRY, hung, other, status="in_progress", attempt=attempt)
            assert phase(swept(going, judgements=(judged(going, failure(hung, "hang")),))) == expected


class TestWhatPassed:
    @pytest.mark.parametrize(("made", "good"), [
        (GREEN, True),
        (run(10, "smoke", PROPOSAL), False),
        (run(10, "smoke", PROPOSAL, conclusion="cancelled"), False),
        (run(10, "smoke", PROPOSAL, job(1, conclusion="skipped")), False),
        (run(10, "smoke", PROPOSAL, job(9, role="other")), False),
        (run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", conclusion="skipped")), True),
        (run(10, "smoke", PROPOSAL, job(1), job(9, role="other", conclusion="failure"), conclusion="failure"), True),
        (run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", conclusion="cancelled"), conclusion="cancelled"), False),
        (run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", conclusion="timed_out"), conclusion="failure"), False),
        (run(10, "smoke", PROPOSAL, job(1), status="in_progress"), False),
    ])
    def test_a_run_is_judged_by_its_measuring_jobs(self, made: Run, good: bool) -> None:
        assert passed(made) is good

    def test_only_a_run_with_a_bad_job_can_be_run_again(self) -> None:
        collector = run(10, "smoke", PROPOSAL, job(9, role="other", conclusion="failure"))
        assert rerunnable(collector) and not failed_jobs(collector)
        assert not rerunnable(GREEN) and not rerunnable(run(10, "smoke", PROPOSAL, conclusion="cancelled"))

    def test_a_failed_smoke_that_is_not_judged_yet_is_waited_for(self) -> None:
        red = run(10, "smoke", PROPOSAL, job(1, conclusion="failure"), conclusion="failure")
        assert phase(bump("proposal", runs=(red,))) == "Smoking"


class TestHeads:
    def test_a_smoke_of_another_head_proves_nothing_for_this_one(self) -> None:
        assert phase(bump("proposal", "repair", runs=(GREEN,))) == "SmokeDue"
        assert phase_of(bump("proposal", "repair", runs=(GREEN,))).head == REPAIR

    def test_changelog_and_sync_leave_the_smoke_valid(self) -> None:
        assert phase(bump("proposal", "changelog", "sync", runs=(GREEN,))) == "SweepDue"

    def test_a_repair_after_the_changelog_is_smoked_again_and_needs_no_second_entry(self) -> None:
        facts = bump("proposal", "changelog", "repair", runs=(GREEN, run(30, "smoke", REPAIR, job(7), minutes=200)))
        assert phase_of(facts).head == REPAIR and phase(facts) == "SweepDue"

    def test_a_sweep_of_the_head_before_the_sync_does_not_count(self) -> None:
        facts = bump("proposal", "changelog", "sync", runs=(GREEN, DONE), judgements=(judged(DONE, verdict="neutral"),))
        assert phase(facts) == "SweepDue" and phase_of(facts).head == SYNC

    def test_the_newest_smoke_of_a_head_counts(self) -> None:
        later_one = run(11, "smoke", PROPOSAL, job(5, status="in_progress"), status="in_progress", minutes=30)
        assert phase(bump("proposal", runs=(GREEN, later_one))) == "Smoking"


class TestBase:
    MOVED_ON = {"base_tip": MOVED}

    def test_a_base_that_moved_without_conflict_changes_nothing(self) -> None:
        assert phase(swept(labels=(), world=self.MOVED_ON)) == "SweepDue"

    def test_what_was_built_on_the_tip_needs_no_answer_of_the_forge(self) -> None:
        assert phase(swept(labels=(), pull_={"mergeable": None})) == "SweepDue"
        assert phase(swept(labels=(), pull_={"mergeable": None}, world=self.MOVED_ON)) == "Settling"

    def test_validated_stays_validated_when_the_base_moves_after_it(self) -> None:
        facts = swept(DONE, judgements=(judged(DONE, verdict="neutral"),), changelog="behind", world=self.MOVED_ON,
                      pull_={"mergeable": False})
        assert phase(facts) == "Swept"

    def test_an_entry_that_is_absent_is_due_even_under_a_sweep(self) -> None:
        early = run(20, "sweep", PROPOSAL, job(3, status="in_progress"), status="in_progress", reason="label")
        assert phase(bump("proposal", runs=(GREEN, early), labels=(LABEL,), labelled_by="ann")) == "ChangelogDue"

    def test_a_conflict_that_a_sync_cannot_solve_is_a_persons(self) -> None:
        assert phase(swept(labels=(), changelog="blocked", pull_={"mergeable": None}, world=self.MOVED_ON)) == "Blocked"

    @pytest.mark.parametrize("whys", [("proposal",), ("proposal", "changelog")])
    def test_a_changelog_that_breaks_its_rules_takes_no_entry_and_is_not_repaired(self, whys: tuple[str, ...]) -> None:
        assert phase_of(bump(*whys, runs=(GREEN,), changelog="broken")) == Barred("changelog")

    def test_one_that_breaks_under_a_sweep_is_the_merges_business_once_our_entry_is_in(self) -> None:
        early = run(20, "sweep", PROPOSAL, job(3, status="in_progress"), status="in_progress", reason="label")
        assert phase(swept(run(20, "sweep", ENTRY, job(3, status="in_progress"), status="in_progress"), changelog="broken")) == "Sweeping"
        assert phase(bump("proposal", runs=(GREEN, early), labels=(LABEL,), labelled_by="ann", changelog="broken")) == "Barred"

    @pytest.mark.parametrize("state", ["absent", "behind"])
    def test_a_commit_that_the_repository_refused_is_not_tried_again_on_the_same_head(self, state: str) -> None:
        facts = bump("proposal", "changelog", runs=(GREEN,), changelog=state, memory={"refused": ENTRY})
        assert phase_of(facts) == Barred("repository")
        assert phase(replace(facts, memory=replace(facts.memory, refused=PROPOSAL))) == "ChangelogDue"

    def test_a_repository_without_a_changelog_never_owes_an_entry(self) -> None:
        facts = bump("proposal", runs=(GREEN,), rules=replace(RULES, changelog=False), changelog="none")
        assert phase(facts) == "SweepDue" and facts.memory.heads[-1].contains_base == BASE


class TestSweeps:
    def test_two_labels_at_once_are_both_seen(self) -> None:
        assert sweep_labels(swept(labels=(LABEL, "full-sweep-fail-fast", "x"), rules=BOTH)) == (LABEL, "full-sweep-fail-fast")

    def test_the_push_run_of_a_head_counts_once_a_label_is_on(self) -> None:
        pushed = run(19, "sweep", ENTRY, status="queued", reason="push", minutes=89)
        assert alive_sweeps(swept(pushed, labels=())) == ()
        assert alive_sweeps(swept(pushed)) == (pushed,)
        assert alive_sweeps(swept(pushed, labels=(), rules=DISPATCHED)) == (pushed,)

    def test_one_that_measures_is_followed_before_a_younger_one_that_does_not_yet(self) -> None:
        going = run(20, "sweep", ENTRY, job(3, status="in_progress"), status="in_progress", reason="label", minutes=90)
        fresh = run(21, "sweep", ENTRY, status="queued", reason="label", minutes=95)
        assert alive_sweeps(swept(going, fresh)) == (going, fresh)
        assert sweep_of(swept(replace(going, status="completed", conclusion="failure"), fresh)) == fresh

    def test_one_that_was_cancelled_goes_on_unless_a_person_took_the_label_off(self) -> None:
        cut = run(20, "sweep", ENTRY, job(3), job(4, concurrency=2, conclusion="cancelled"), conclusion="cancelled", minutes=90)
        off = Labelling(label=LABEL, by="ann", at=later(95), added=False)
        assert sweep_of(swept(cut)) == cut
        assert sweep_of(swept(cut, labels=(), world={"labellings": (off,)})) is None

    def test_cancelled_before_it_measured_it_is_no_sweep_at_all(self) -> None:
        assert sweep_of(swept(run(19, "sweep", ENTRY, conclusion="cancelled", reason="push"))) is None


class TestLabels:
    def test_who_labelled_last(self) -> None:
        said = [Labelling(label=LABEL, by=by, at=later(at), added=added) for by, at, added in (("ann", 1, True), ("bob", 2, False))]
        assert labelled_by(bump("proposal", world={"labellings": tuple(said)}), LABEL) == "ann"
        assert labelled_by(bump("proposal"), LABEL) is None

    @pytest.mark.parametrize(("by", "on", "waits"), [("ann", (), True), (ME, (), False), ("ann", (LABEL,), False)])
    def test_a_sweep_is_held_by_the_person_who_took_the_label_off(self, by: str, on: tuple[str, ...], waits: bool) -> None:
        off = Labelling(label=LABEL, by=by, at=later(9), added=False)
        facts = bump("proposal", labels=on, world={"labellings": (Labelling(label=LABEL, by=ME, at=later(1), added=True), off)})
        assert held(facts) is waits

    def test_any_other_label_holds_nothing(self) -> None:
        assert not held(bump("proposal", world={"labellings": (Labelling(label="x", by="ann", at=later(9), added=False),)}))

    @pytest.mark.parametrize(("now", "reason", "waits"), [
        (5, None, True), (16, None, False), (5, "label", False), (5, "ready", False), (5, "push", True)])
    def test_a_label_is_answered_by_its_run_or_by_time(self, now: float, reason: str | None, waits: bool) -> None:
        runs = (run(20, "sweep", ENTRY, status="queued", reason=reason),) if reason else ()
        assert starting(swept(*runs, now=now)) is waits

    def test_a_label_older_than_the_head_started_nothing_for_it(self) -> None:
        facts = swept(now=5)
        younger = replace(facts.memory.heads[-1], at=later(2))
        assert not starting(replace(facts, memory=replace(facts.memory, heads=(younger,))))

    def test_where_we_dispatch_no_label_starts_anything(self) -> None:
        assert not starting(swept(now=5, rules=DISPATCHED))
        smoking = run(10, "smoke", PROPOSAL, status="queued")
        assert phase(bump("proposal", runs=(smoking,), labels=(LABEL,), rules=DISPATCHED)) == "Smoking"


class TestApproval:
    """A full sweep of these four points is forecast at 88 GPU-hours."""

    ABOVE = Limits(gpu_hours=None, approve_above=50.0)

    def asked(self, **changed: object) -> bool:
        return needs_approval(bump("proposal", "changelog", runs=(), limits=changed.pop("limits", self.ABOVE), **changed))

    def test_above_the_threshold_somebody_must_ask(self) -> None:
        assert self.asked() and self.asked(labels=(LABEL,), labelled_by=ME)

    def test_a_person_who_labels_or_was_remembered_has_asked(self) -> None:
        assert not self.asked(labels=(LABEL,), labelled_by="ann")
        assert not self.asked(memory={"approvals": (Approval(by="ann", at=later(1)),)})

    def test_below_it_or_without_one_nobody_must(self) -> None:
        assert not self.asked(limits=Limits(approve_above=88.0)) and not self.asked(limits=Limits())


class TestPeople:
    @pytest.mark.parametrize(("pull", "world", "labels", "outcome"), [
        ({"open": False}, {}, (), "closed-by-maintainer"), ({"open": False, "merged": True}, {}, (), "merged"),
        ({}, {"foreign_head": "e" * 40}, (), "handed-off"), ({}, {}, ("bumpbot-handoff",), "handed-off")])
    def test_a_person_takes_over_in_any_phase(self, pull: dict, world: dict, labels: tuple[str, ...], outcome: str) -> None:
        for runs in ((), (GREEN,)):
            assert phase_of(bump("proposal", runs=runs, pull_=pull, world=world, labels=labels)).outcome.value == outcome

    def test_reopened_before_anybody_looked_it_goes_on(self) -> None:
        assert phase(bump("proposal", runs=(GREEN,), pull_={"open": True})) == "ChangelogDue"

    def test_over_stays_over_when_the_pull_request_is_opened_again(self) -> None:
        assert phase(bump("proposal", memory={"closed": True}, pull_={"open": True})) == "Over"
