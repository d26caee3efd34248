"""The nouns: what follows from recorded facts alone, and that every fact survives being written down."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.action import Action, Result
from bot.model.bump import Bump, Judged, Memory, Told
from bot.model.event import Event, Labelled, PullChanged, Requested, RunFinished, Scheduled
from bot.model.lines import State
from bot.model.outcome import ENDINGS, Cause, Disposition, Outcome
from bot.model.recipe import KeyChange
from bot.model.record import SLOTS, Record, Status, template
from tests.fakes.facts import ENTRY, PROPOSAL, REPAIR, START, SYNC, bump, failure, job, judged, later, run, wanted

WHYS = st.lists(st.sampled_from(["repair", "changelog", "sync"]), max_size=8).map(lambda rest: ("proposal", *rest))


class TestHeads:
    @given(WHYS)
    def test_the_tested_head_is_the_last_that_changed_what_runs(self, whys: tuple[str, ...]) -> None:
        facts = bump(*whys)
        assert facts.head == facts.memory.heads[-1].sha
        assert facts.tested_head == (REPAIR if "repair" in whys else PROPOSAL)

    @given(WHYS)
    def test_repairs_used_are_repairs_made_and_nothing_else(self, whys: tuple[str, ...]) -> None:
        assert bump(*whys).memory.repairs_used == whys.count("repair")

    def test_before_the_proposal_there_is_no_head(self) -> None:
        assert bump().head is None and bump().tested_head is None and bump().memory.repairs_used == 0


class TestJobsAndRuns:
    @pytest.mark.parametrize(("one", "hours"), [
        (job(1, minutes=90), 24.0), (job(1, conclusion="cancelled", minutes=30), 8.0), (job(1, status="queued"), 0.0),
        (job(1, status="in_progress"), 32.0), (replace(job(1), gpus=0), 0.0)])
    def test_gpu_hours_are_gpus_times_hours_cancelled_ones_too(self, one: object, hours: float) -> None:
        assert one.gpu_hours(later(120)) == hours

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), unique=True, max_size=12), st.randoms())
    def test_the_newest_attempt_of_each_job_counts_in_any_order(self, made: list[tuple[str, int]], random: object) -> None:
        jobs = [replace(job(number), name=name, attempt=attempt) for number, (name, attempt) in enumerate(made)]
        expected = {name: max(attempt for other, attempt in made if other == name) for name, _ in made}
        random.shuffle(jobs)
        assert {one.name: one.attempt for one in run(1, "smoke", PROPOSAL, *jobs).latest_jobs} == expected

    def test_a_run_costs_all_its_attempts(self) -> None:
        both = run(1, "smoke", PROPOSAL, job(1, conclusion="failure"), job(2, attempt=2), attempt=2)
        assert both.gpu_hours(later(999)) == 32.0 and bump("proposal", runs=(both, both)).gpu_hours == 64.0

    @pytest.mark.parametrize(("status", "terminal"), [("queued", False), ("in_progress", False), ("completed", True)])
    def test_only_a_completed_run_is_terminal(self, status: str, terminal: bool) -> None:
        assert run(1, "smoke", PROPOSAL, status=status).terminal is terminal


class TestMemory:
    def test_the_last_judgement_of_a_run_counts(self) -> None:
        made = run(10, "smoke", PROPOSAL, job(1))
        old, new = Judged(run=10, head=PROPOSAL, seen=()), judged(made)
        assert bump("proposal", judgements=(old, new)).judged(10) is new and bump("proposal").judged(10) is None

    def test_a_slot_is_told_once_or_not_at_all(self) -> None:
        told = Told(slot="body", comment=0, digest="d", at=START)
        facts = bump("proposal", memory={"told": (told,)})
        assert facts.told("body") is told and facts.told("final") is None


class TestChanges:
    @pytest.mark.parametrize(("old", "new", "words"), [
        ("vllm", None, "a.b: dropped (was vllm)"), ("1", 2, "a.b: 1 -> 2"), (None, "x", "a.b: - -> x"), ("true", False, "a.b: true -> False")])
    def test_one_line_a_change(self, old: str | None, new: object, words: str) -> None:
        assert KeyChange(file="f", path=("a", "b"), old=old, new=new, guard=("a",), guarded="g").words == words

    def test_a_repairs_files_are_named_once_each_in_order(self) -> None:
        one = wanted(run(1, "smoke", PROPOSAL)).edits[0]
        two = replace(wanted(run(1, "smoke", PROPOSAL)), edits=(one, replace(one, file="z"), replace(one, path=("y",))))
        assert two.files == ("recipes/r.yaml", "z") and len(two.changes) == 3


class TestOutcomes:
    def test_the_words_are_those_of_the_contract(self) -> None:
        assert {one.value for one in Outcome} == set("""validated regressed failed budget-exhausted incompatible readiness-blocked
            capacity-deferred uncertain superseded handed-off stopped closed-by-maintainer merged reverted crashed""".split())
        assert {one.value for one in Disposition} == set("already-current duplicate retired pinned observed-only capped".split())

    @pytest.mark.parametrize("outcome", Outcome)
    def test_every_outcome_says_what_becomes_of_the_branch_and_who_moves(self, outcome: Outcome) -> None:
        ending = ENDINGS[outcome]
        assert (ending.branch == "theirs") <= (ending.pull == "leave" and ending.next == "maintainer")
        assert (ending.pull == "ready") == (outcome is Outcome.VALIDATED)

    def test_causes_are_distinct_words(self) -> None:
        assert len({one.value for one in Cause}) == len(Cause)


class TestWrittenDown:
    def test_the_facts_of_a_bump_come_back_as_they_were(self) -> None:
        red = run(10, "smoke", PROPOSAL, job(1, conclusion="failure"), conclusion="failure")
        facts = bump("proposal", "repair", "changelog", "sync", runs=(red,), judgements=(judged(red, failure(red.jobs[0], "oom")),),
                     labels=("x",), memory={"applied": (wanted(red),), "owned": (10,)}, world={"wanted": wanted(red)})
        assert msgspec.json.decode(msgspec.json.encode(facts), type=Bump) == facts
        assert msgspec.json.encode(facts, order="deterministic") == msgspec.json.encode(bump_again(facts), order="deterministic")

    @pytest.mark.parametrize("event", [
        Scheduled(at=START), Requested(at=START, recipe="r"), Labelled(at=START, pull=1, label="l", actor="a"),
        PullChanged(at=START, pull=1, action="closed", actor="a"), RunFinished(at=START, run=1, workflow="w", head=ENTRY)])
    def test_an_event_says_its_kind(self, event: Event) -> None:
        assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event

    @pytest.mark.parametrize("union", [Action, Event])
    @pytest.mark.parametrize("text", [b"{}", b'{"do":"explode"}', b'{"kind":"schedule","at":"2026-01-01T00:00:00Z","more":1}'])
    def test_what_is_not_of_the_closed_set_is_refused(self, union: object, text: bytes) -> None:
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(text, type=union)

    def test_every_action_has_a_word_of_its_own(self) -> None:
        words = [kind.__struct_config__.tag for kind in get_args(Action)]
        assert len(set(words)) == len(words) == 14

    def test_facts_are_frozen(self) -> None:
        with pytest.raises(AttributeError):
            bump("proposal").now = START + timedelta(1)
        with pytest.raises(AttributeError):
            Result(index=0, ok=True).ok = False

    def test_an_empty_memory_is_the_beginning(self) -> None:
        assert msgspec.json.decode(b"{}", type=Memory) == Memory() == bump().memory


class TestRecords:
    def test_every_record_has_a_template(self) -> None:
        assert {kind.__struct_config__.tag for kind in get_args(Record)} == {*SLOTS.values(), "attempt"}
        state = State(phase="proposed", next="bot", repairs=0, repairs_max=5, gpu_hours=0.0)
        assert template(Status(about="x", by=None, state=state)) == "status"


def bump_again(facts: Bump) -> Bump:
    """The same facts after a journey through bytes, heads in the same order."""
    assert [head.sha for head in facts.memory.heads][-1] == SYNC
    return msgspec.json.decode(msgspec.json.encode(facts), type=Bump)
