"""What the ending of a bump teaches: findings, failures with the repair that was tried, or at least how it ended."""

from __future__ import annotations

from msgspec.structs import replace

from bot.decide.learnt import learnt
from bot.model.bump import Bump, Ended
from bot.model.memory import Lesson
from bot.model.outcome import Cause, Outcome
from tests.fakes.facts import PROPOSAL, REPAIR, START, bump, failure, job, judged, run, wanted
from tests.fakes.found import found

RED, GREEN = job(1, conclusion="failure"), job(2)
BROKEN = run(10, "smoke", PROPOSAL, RED)
PASSED = run(11, "smoke", REPAIR, GREEN, minutes=60)


def lessons(facts: Bump, outcome: Outcome, *findings: object, of: int | None = None) -> tuple[Lesson, ...]:
    return learnt(facts, Ended(outcome=outcome, cause=Cause.NONE, at=START, found=findings, run=of))


def mended(again: str | None = None) -> Bump:
    """A smoke that failed, its repair, and the smoke after it, which passed or failed in this way."""
    after = replace(PASSED, jobs=(job(2, conclusion="failure"),)) if again else PASSED
    told = (judged(BROKEN, failure(RED, "moved-module")), judged(after, *([failure(after.jobs[0], again)] if again else [])))
    return bump("proposal", "repair", runs=(BROKEN, after), judgements=told, memory={"applied": (wanted(BROKEN),)})


class TestLessons:
    def test_tell_each_finding_that_stopped_it_with_its_release(self) -> None:
        one, other = lessons(bump(), Outcome.READINESS_BLOCKED, found("staging", "stop", "model-not-staged", subject="gb200 x"),
                             found("imports", "stop", "moved-module"))
        assert (one.check, one.class_, one.release.subject, one.outcome) == (
            "staging", "model-not-staged", "gb200 x", Outcome.READINESS_BLOCKED)
        assert (other.check, other.class_, other.release) == ("imports", "moved-module", None)
        assert one.recipes == ("r",) and one.image == "vllm/vllm-openai:new" and one.digest == bump().subject.candidate.new.digest

    def test_tell_a_repair_that_helped(self) -> None:
        (one,) = lessons(mended(), Outcome.VALIDATED, of=20)
        assert (one.signature, one.repair, one.helped) == ("moved-module", "native-chat-processor", True)

    def test_tell_a_repair_that_did_not(self) -> None:
        (one,) = lessons(mended("moved-module"), Outcome.FAILED, of=11)
        assert (one.repair, one.helped) == ("native-chat-processor", False)

    def test_tell_a_repair_after_which_something_else_broke(self) -> None:
        one, other = lessons(mended("oom"), Outcome.FAILED, of=11)
        assert (one.signature, one.helped, other.signature, other.repair) == ("moved-module", True, "oom", None)

    def test_leave_out_the_weather(self) -> None:
        first, second = job(1, conclusion="failure"), job(2, attempt=2)
        again = run(10, "smoke", PROPOSAL, first, second, attempt=2)
        facts = bump("proposal", runs=(again,), judgements=(judged(again, failure(first, "package-fetch")),))
        (one,) = lessons(facts, Outcome.VALIDATED, of=20)
        assert (one.class_, one.outcome) == (None, Outcome.VALIDATED)

    def test_of_a_blocked_run_wait_for_the_check_that_can_see_it(self) -> None:
        facts = bump("proposal", runs=(BROKEN,), judgements=(judged(BROKEN, failure(RED, "model-not-staged")),))
        (one,) = lessons(facts, Outcome.READINESS_BLOCKED, of=10)
        assert one.release is not None and (one.release.of, one.release.subject) == ("staging", "")
        (other,) = lessons(facts, Outcome.FAILED, of=10)
        assert other.release is None

    def test_are_at_least_one_and_none_of_what_says_nothing_of_the_image(self) -> None:
        (one,) = lessons(bump("proposal"), Outcome.REGRESSED)
        assert (one.class_, one.outcome) == (None, Outcome.REGRESSED)
        assert lessons(bump("proposal"), Outcome.SUPERSEDED) == lessons(bump("proposal"), Outcome.CRASHED) == ()

    def test_are_the_same_for_the_same_facts(self) -> None:
        assert lessons(mended(), Outcome.VALIDATED, of=20) == lessons(mended(), Outcome.VALIDATED, of=20)
