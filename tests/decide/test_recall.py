"""What a bump remembers of a step: only what came true, and an outcome only once."""

from __future__ import annotations

from bot.model.action import Dispatch, Push, Remember, Result, Say
from bot.model.bump import Approval, Ended
from bot.model.lines import State
from bot.model.outcome import Cause, Outcome
from bot.model.record import Status
from bot.wake.recall import after
from tests.fakes.facts import BASE, MOVED, PROPOSAL, REPAIR, SYNC, bump, later, run, wanted

FAILED = Ended(outcome=Outcome.FAILED, cause=Cause.GATE, at=later(1))
MERGED = Ended(outcome=Outcome.MERGED, cause=Cause.PERSON, at=later(2))
STATE = State(phase="proposed", next="bot", repairs=0, repairs_max=5, gpu_hours=0.0)
DISPATCH = Dispatch(workflow="smoke.yml", ref="main", inputs={}, nonce="n", head=PROPOSAL)


def ok(index: int = 0, **found: object) -> Result:
    return Result(index=index, ok=True, **found)


class TestAfter:
    def test_what_failed_leaves_no_trace(self) -> None:
        facts = bump("proposal")
        actions = (Remember(fact=FAILED), Push(why="sync", expected=PROPOSAL), DISPATCH)
        assert after(facts, actions, [Result(index=at, ok=False, head=SYNC, run=9) for at in range(3)]) == facts.memory
        assert after(facts, actions, []) == facts.memory

    def test_but_a_changelog_commit_that_a_rule_refused_is_remembered_by_its_head(self) -> None:
        facts, no = bump("proposal"), Result(index=0, ok=False, refused=True)
        for why, kept in (("changelog", PROPOSAL), ("sync", PROPOSAL), ("repair", None)):
            assert after(facts, (Push(why=why, expected=PROPOSAL),), [no]).refused == kept
        assert after(facts, (DISPATCH,), [no]).refused is None

    def test_an_outcome_that_was_decided_stays(self) -> None:
        decided = bump("proposal", memory={"ended": FAILED})
        assert after(decided, (Remember(fact=MERGED),), [ok()]).ended == FAILED
        assert after(bump("proposal"), (Remember(fact=MERGED),), [ok()]).ended == MERGED

    def test_a_run_that_a_dispatch_named_is_ours_once(self) -> None:
        assert after(bump("proposal"), (DISPATCH, DISPATCH), [ok(run=9), ok(1, run=9)]).owned == (9,)
        assert after(bump("proposal"), (DISPATCH,), [ok()]).owned == ()

    def test_a_repair_is_a_head_and_an_applied_change_on_the_same_base(self) -> None:
        repair = wanted(run(10, "smoke", PROPOSAL))
        memory = after(bump("proposal"), (Push(why="repair", expected=PROPOSAL, repair=repair, base_tip=MOVED),), [ok(head=REPAIR)])
        assert (memory.repairs_used, memory.applied, memory.heads[-1].contains_base) == (1, (repair,), BASE)

    def test_only_a_proposal_and_a_sync_stand_on_a_new_base(self) -> None:
        for why, base in (("sync", MOVED), ("changelog", BASE)):
            memory = after(bump("proposal"), (Push(why=why, expected=PROPOSAL, base_tip=MOVED),), [ok(head=SYNC)])
            assert memory.heads[-1].contains_base == base and memory.repairs_used == 0

    def test_an_approval_is_kept_and_the_final_word_closes(self) -> None:
        approval = Approval(by="ann", at=later(3))
        assert after(bump("proposal"), (Remember(fact=approval),), [ok()]).approvals == (approval,)
        for slot, closed in (("status", False), ("final", True)):
            said = Say(slot=slot, record=Status(about="x", by=None, state=STATE))
            assert after(bump("proposal"), (said,), [ok(comment=7)]).closed is closed
