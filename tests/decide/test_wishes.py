"""What people ask of the bot beyond the sweep: the smoke again, what failed once more, a sweep that stops at the first fault;
and whose word counts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.decide import decide
from bot.decide.people import asked_for_sweep, fail_fast, held, needs_approval
from bot.decide.phase import SmokeDue, Smoking, SweepDue, Sweeping, phase_of
from bot.decide.report.attempt import stages
from bot.decide.runs import smokes
from bot.decide.starting import dispatch_smoke, dispatch_sweep, labels_off, relabel
from bot.model.action import Cancel, Dispatch, Label, Remember, Rerun, Say, Unlabel
from bot.model.bump import Approval, Asked, Bump, Ended, Told
from bot.model.event import Scheduled
from bot.model.forge import Labelling
from bot.model.outcome import Cause, Outcome
from bot.model.rules import Limits, Smoke
from tests.fakes.facts import BASE, KEPT, LABEL, ME, PROPOSAL, STAGED, bump, failure, job, judged, later, run, smoke, subject

QUICK, AGAIN = "full-sweep-fail-fast", "sweep-enabled"
PLAN = replace(subject().plan, smoke=smoke(*STAGED))


def own(*whys: str, said: tuple[Labelling, ...] = (), **facts: object) -> Bump:
    """A bump of a repository that dispatches its own sweep; its labels only wake the bot."""
    sample = subject().rules
    rules = replace(sample, changelog=False, sweep=replace(sample.sweep, start="dispatch", labels=(LABEL, QUICK), fail_fast=(QUICK,)),
                    smoke=Smoke(workflow="smoke.yml", ref="main", stages=STAGED, label=AGAIN, inputs={
                        "recipe": "{keys}", "commit": "{head}", "nonce": "{nonce}", "points": "{points}",
                        "eval-limit": "{eval-limit}", "fail-fast": "{fail-fast}", "note": "{unknown}"}))
    world = {"labellings": said, **facts.pop("world", {})}
    labels = tuple(dict.fromkeys(one.label for one in said if one.added))
    return bump(*whys, plan=PLAN, rules=rules, labels=labels, world=world, **facts)


def put(label: str, *, by: str = "ann", minutes: float = 300.0, write: bool = True) -> Labelling:
    return Labelling(label=label, by=by, at=later(minutes), added=True, write=write)


def passed(step: int, number: int | None = None, minutes: float = 0.0) -> object:
    role = "eval" if step == 1 else "throughput"
    return run(number or 10 + step, "smoke", PROPOSAL, job(step, role=role, concurrency=4, minutes=60), step=step, minutes=minutes)


SMOKED = (passed(1), passed(2), passed(3))
SWEEPING = run(40, "sweep", PROPOSAL, job(9, status="in_progress"), status="in_progress", minutes=200)


class TestTheStages:
    def test_come_one_after_the_other(self) -> None:
        assert [phase_of(own("proposal", runs=SMOKED[:done])) for done in range(3)] == [SmokeDue(PROPOSAL, step) for step in (1, 2, 3)]
        assert phase_of(own("proposal", runs=SMOKED)) == SweepDue(PROPOSAL)

    def test_each_names_its_points_its_sample_and_its_place_in_the_nonce(self) -> None:
        asked = [dispatch_smoke(own("proposal", runs=SMOKED[:2]), PROPOSAL, step).inputs for step in (1, 2, 3)]
        assert [inputs["points"] for inputs in asked] == ["eval-4", "throughput-1", "throughput-4"]
        assert [inputs.get("eval-limit") for inputs in asked] == ["50", None, None]
        assert [inputs["nonce"] for inputs in asked] == [f"bumpbot-b-smoke{step}-{over}-{'a' * 12}" for step, over in ((1, 1), (2, 1), (3, 0))]
        assert asked[0]["note"] == "{unknown}" and asked[0]["commit"] == PROPOSAL

    def test_a_guest_is_told_the_concurrencies_of_a_stage(self) -> None:
        guest = own("proposal")
        rules = replace(guest.subject.rules, smoke=Smoke(
            workflow="e2e.yml", ref="main", stages=STAGED, inputs={"command": "test {arguments}"},
            arguments={"evals": ("--evals-only",), "highest": ("--no-evals", "--conc", "{concurrencies}")}))
        guest = replace(guest, subject=replace(guest.subject, rules=rules))
        assert [dispatch_smoke(guest, PROPOSAL, step).inputs["command"] for step in (1, 2, 3)] == [
            "test --evals-only", "test", "test --no-evals --conc 4"]

    def test_are_told_with_what_came_of_each(self) -> None:
        bad = run(12, "smoke", PROPOSAL, job(2, concurrency=1, conclusion="failure"), conclusion="failure", step=2)
        told = [[(line.name, line.points, line.result, line.sample) for line in stages(own("proposal", runs=runs))]
                for runs in ((passed(1), bad), (passed(1),))]
        assert told[0] == [("evals", ("eval c4",), "passed", 50), ("lowest", ("c1",), "failed", None), ("highest", ("c4",), "not-reached", None)]
        assert [result for _, _, result, _ in told[1]] == ["passed", "waiting", "waiting"]

    def test_a_stage_of_nothing_is_no_stage(self) -> None:
        bare = replace(PLAN, smoke=tuple(point for point in PLAN.smoke if point.stage != 1))
        assert phase_of(replace(own("proposal"), subject=replace(own("proposal").subject, plan=bare))) == SmokeDue(PROPOSAL, 2)


class TestTheSmokeAgain:
    def test_begins_with_its_first_stage_under_a_new_nonce(self) -> None:
        asked = own("proposal", runs=SMOKED, now=400, memory={"asked": (Asked(what="smoke", by="ann", at=later(300)),)})
        assert phase_of(asked) == SmokeDue(PROPOSAL, 1)
        started, = [action for action in decide(asked, Scheduled(at=asked.now)) if isinstance(action, Dispatch)]
        assert started.nonce == f"bumpbot-b-smoke1-1-{'a' * 12}"

    def test_is_asked_for_by_a_label_too(self) -> None:
        assert phase_of(own("proposal", runs=SMOKED, said=(put(AGAIN),))) == SmokeDue(PROPOSAL, 1)

    def test_takes_the_label_off_that_asked_for_it_so_that_it_can_be_put_on_again(self) -> None:
        asked = own("proposal", runs=SMOKED, said=(put(AGAIN),), now=400)
        done = decide(asked, Scheduled(at=asked.now))
        assert Unlabel(name=AGAIN) in done and any(isinstance(action, Dispatch) for action in done)

    def test_does_not_let_the_old_stages_speak_for_the_new_ones(self) -> None:
        begun = own("proposal", runs=(*SMOKED, passed(1, 20, minutes=310)), said=(put(AGAIN),))
        assert phase_of(begun) == SmokeDue(PROPOSAL, 2) and [one.id for one in smokes(begun)] == [20]

    def test_asked_for_while_one_runs_is_that_one(self) -> None:
        running = run(30, "smoke", PROPOSAL, job(9, status="in_progress"), status="in_progress", minutes=200)
        assert phase_of(own("proposal", runs=(running,), said=(put(AGAIN),))) == Smoking(running)

    def test_is_nobodys_without_write_access(self) -> None:
        assert phase_of(own("proposal", runs=SMOKED, said=(put(AGAIN, write=False),))) == SweepDue(PROPOSAL)

    def test_asked_for_while_the_sweep_runs_does_not_throw_the_sweep_away(self) -> None:
        sweeping = own("proposal", runs=(*SMOKED, SWEEPING), said=(put(AGAIN, minutes=250),), now=400)
        done = decide(sweeping, Scheduled(at=sweeping.now))
        assert isinstance(phase_of(sweeping), Sweeping)
        assert Unlabel(name=AGAIN) in done and not any(isinstance(action, (Cancel, Dispatch)) for action in done)

    def test_begins_its_count_of_retries_anew(self) -> None:
        """A smoke that was retried twice and passed says nothing of the one that somebody asked for later."""
        old = replace(passed(1), attempt=3)
        bad = job(9, role="eval", concurrency=4, conclusion="failure")
        red = run(20, "smoke", PROPOSAL, bad, conclusion="failure", step=1, minutes=310)
        facts = own("proposal", runs=(old, *SMOKED[1:], red), judgements=(judged(red, failure(bad, "package-fetch")),), now=400,
                    limits=Limits(gpu_hours=1000.0, infrastructure_retries=1), said=(put(AGAIN),))
        assert [type(action) for action in decide(facts, Scheduled(at=facts.now)) if isinstance(action, (Rerun, Remember))] == [Rerun]


class TestTheSweep:
    COSTLY = Limits(gpu_hours=1000.0, approve_above=1.0)

    def test_waits_for_a_label_of_somebody_who_may_write(self) -> None:
        assert needs_approval(own("proposal", runs=SMOKED, limits=self.COSTLY))
        assert needs_approval(own("proposal", runs=SMOKED, limits=self.COSTLY, said=(put(LABEL, write=False),)))
        assert needs_approval(own("proposal", runs=SMOKED, limits=self.COSTLY, said=(put(LABEL, by=ME),)))
        assert not needs_approval(own("proposal", runs=SMOKED, limits=self.COSTLY, said=(put(LABEL),)))

    def test_a_label_only_wakes_the_bot_which_dispatches_for_the_exact_head(self) -> None:
        asked = own("proposal", runs=SMOKED, limits=self.COSTLY, said=(put(QUICK),), now=400)
        started, = [action for action in decide(asked, Scheduled(at=asked.now)) if isinstance(action, (Dispatch, Label))]
        assert isinstance(started, Dispatch) and started.head == PROPOSAL and started.nonce == f"bumpbot-b-sweep-0-{'a' * 12}"

    @pytest.mark.parametrize(("said", "quick"), [((put(LABEL),), False), ((put(QUICK),), True), ((put(QUICK, write=False),), False), ((), False)])
    def test_stops_at_the_first_fault_where_that_was_asked(self, said: tuple[Labelling, ...], quick: bool) -> None:
        facts = own("proposal", runs=SMOKED, said=said)
        rules = replace(facts.subject.rules, sweep=replace(facts.subject.rules.sweep, inputs={"fail-fast": "{fail-fast}", "points": "{points}"}))
        facts = replace(facts, subject=replace(facts.subject, rules=rules))
        assert dispatch_sweep(facts, PROPOSAL, 1.0).inputs == {"fail-fast": "true" if quick else "false"}
        assert fail_fast(facts) is quick

    def test_a_guests_label_that_came_too_early_is_kept_with_what_it_asked(self) -> None:
        rules = replace(subject().rules, sweep=replace(subject().rules.sweep, labels=(LABEL, QUICK), fail_fast=(QUICK,)))
        early = bump("proposal", rules=rules, labels=(QUICK,), labelled_by="ann", now=5)
        assert labels_off(early) == (Remember(fact=Approval(by="ann", at=early.now, fail_fast=True)), Unlabel(name=QUICK))
        kept = bump("proposal", rules=rules, memory={"approvals": (Approval(by="ann", at=later(5), fail_fast=True),)})
        assert relabel(kept, PROPOSAL, 1.0)[-1] == Label(name=QUICK, head=PROPOSAL, gpu_hours=1.0)

    def test_a_stranger_s_early_label_is_taken_off_and_not_kept(self) -> None:
        early = bump("proposal", labels=(LABEL,), world={"labellings": (put(LABEL, minutes=0, write=False),)})
        assert labels_off(early) == (Unlabel(name=LABEL),) and not asked_for_sweep(early)

    def test_that_a_person_stopped_goes_on_once_one_says_so(self) -> None:
        off = Labelling(label=LABEL, by="ann", at=later(300), added=False)
        stopped = own("proposal", runs=SMOKED, world={"labellings": (put(LABEL, minutes=200), off)})
        assert held(stopped)
        again = replace(stopped, memory=replace(stopped.memory, approvals=(Approval(by="bob", at=later(310), comment=5),)))
        assert not held(again)
        early = replace(stopped, memory=replace(stopped.memory, approvals=(Approval(by="bob", at=later(200)),)))
        assert held(early), "what was said before it was stopped does not start it again"

    OFF = Labelling(label=LABEL, by="ann", at=later(300), added=False)

    def test_is_stopped_by_us_where_a_label_did_not_start_it(self) -> None:
        """Where the bot dispatches, nothing else stops the runners when the label goes."""
        stopped = own("proposal", runs=(*SMOKED, SWEEPING), now=400, world={"labellings": (put(LABEL, minutes=100), self.OFF)})
        done = decide(stopped, Scheduled(at=stopped.now))
        assert Cancel(run=40) in done
        assert [action.record.about for action in done if isinstance(action, Say) and action.slot == "status"] == ["sweep-held"]

    def test_that_a_person_stopped_is_not_started_by_somebody_without_a_say(self) -> None:
        again = (put(LABEL, minutes=200), self.OFF, put(LABEL, by="guest", minutes=350, write=False))
        assert held(own("proposal", runs=SMOKED, said=again))
        assert not held(own("proposal", runs=SMOKED, said=(*again[:2], put(LABEL, minutes=350))))


class TestWhatFailedOnceMore:
    def broken(self, *asked: Asked, retries: int = 0) -> Bump:
        bad = job(1, role="eval", concurrency=4, conclusion="failure")
        red = run(10, "smoke", PROPOSAL, bad, conclusion="failure", step=1)
        return own("proposal", runs=(red,), judgements=(judged(red, failure(bad, "eval-gate")),), now=400,
                   limits=Limits(gpu_hours=1000.0, infrastructure_retries=retries), memory={"asked": asked})

    def actions(self, facts: Bump) -> tuple:
        return decide(facts, Scheduled(at=facts.now))

    def test_ends_the_bump_where_nobody_insists(self) -> None:
        ends = [action.fact for action in self.actions(self.broken()) if isinstance(action, Remember)]
        assert [end.outcome for end in ends if isinstance(end, Ended)] == [Outcome.FAILED]

    def test_runs_again_when_somebody_insists_and_spends_no_repair(self) -> None:
        facts = self.broken(Asked(what="retry", by="ann", at=later(300)))
        assert [action for action in self.actions(facts) if isinstance(action, Rerun)] == [Rerun(run=10, attempt=1, gpu_hours=8.0)]
        assert not any(isinstance(action, Remember) for action in self.actions(facts))

    def test_is_not_asked_for_by_what_was_said_before_it_failed(self) -> None:
        assert not any(isinstance(action, Rerun) for action in self.actions(self.broken(Asked(what="retry", by="ann", at=later(30)))))

    def test_is_paid_from_the_same_cap(self) -> None:
        facts = self.broken(Asked(what="retry", by="ann", at=later(300)))
        poor = replace(facts, subject=replace(facts.subject, limits=Limits(gpu_hours=17.0)))
        ends = [action.fact for action in self.actions(poor) if isinstance(action, Remember)]
        assert [end.outcome for end in ends] == [Outcome.BUDGET_EXHAUSTED]


class TestAnAnswerThatWaits:
    def test_says_at_the_end_that_nothing_is_waited_for_any_more(self) -> None:
        waited = Told(slot="status", comment=5, digest="of a label", at=later(100))
        ended = Ended(outcome=Outcome.UNCERTAIN, cause=Cause.NONE, at=later(200))
        over = own("proposal", runs=SMOKED, memory={"told": (waited,), "ended": ended, "evidence": KEPT}, now=400)
        said = {action.slot: action.record for action in decide(over, Scheduled(at=over.now)) if isinstance(action, Say)}
        assert said["status"].about == "over" and "final" in said


class TestATagThatWasPushedAgain:
    MOVED = "sha256:" + "e" * 64

    def test_ends_the_bump_and_names_the_next_candidate(self) -> None:
        facts = own("proposal", runs=SMOKED, world={"tag_digest": self.MOVED}, now=400)
        end, = [action.fact for action in decide(facts, Scheduled(at=facts.now)) if isinstance(action, Remember)]
        assert (end.outcome, end.successor) == (Outcome.SUPERSEDED, f"vllm/vllm-openai:new@{self.MOVED}")
        assert self.MOVED in end.why.en and facts.subject.candidate.new.digest in end.why.zh

    def test_does_not_stop_the_sweep_of_a_pinned_digest(self) -> None:
        facts = own("proposal", runs=(*SMOKED, run(40, "sweep", PROPOSAL, job(9, status="in_progress"), status="in_progress")),
                    world={"tag_digest": self.MOVED})
        assert type(phase_of(facts)).__name__ == "Superseded"
        pinned = replace(facts.subject.candidate, text=f"{facts.subject.candidate.text}@{facts.subject.candidate.new.digest}")
        assert type(phase_of(replace(facts, subject=replace(facts.subject, candidate=pinned)))).__name__ == "Sweeping"

    @pytest.mark.parametrize("digest", [None, subject().candidate.new.digest])
    def test_is_none_when_it_holds_what_it_held_or_nobody_knows(self, digest: str | None) -> None:
        assert phase_of(own("proposal", runs=SMOKED, world={"tag_digest": digest, "base_tip": BASE})) == SweepDue(PROPOSAL)
