"""What an ending taught lies in memory/, written once, and is read by the next plan."""

from __future__ import annotations

import msgspec

from bot.ledger import kept, learnt, lessons, memory_path
from bot.model.ledger import Step
from bot.model.memory import Lesson
from bot.model.outcome import Outcome
from tests.fakes.found import lesson


def write(ledger, writes):
    step = Step(bump="b", kind="record", entry=next(iter(writes)), writes=writes, reads=frozenset(writes))
    ledger.record(ledger.tip(), [step], wake="test")


def learn(ledger, *told: Lesson, bump: str = "kimi-1"):
    write(ledger, dict(kept(ledger.tip(), bump, told)))


class TestMemory:
    def test_gives_back_what_was_learnt_bump_by_bump(self, world):
        ledger = world.writer().ledger
        learn(ledger, one := lesson("kimi-1", subject="x"), other := lesson("kimi-1", class_="oom"))
        learn(ledger, third := lesson("glm-2"), bump="glm-2")
        again = world.writer().ledger
        assert lessons(again, again.tip()) == (third, one, other)
        assert lessons(again, again.tip(), of="kimi-1") == (one, other)

    def test_keeps_both_endings_of_a_bump_that_was_opened_again(self, world):
        ledger = world.writer().ledger
        learn(ledger, first := lesson("kimi-1", subject="x"))
        learn(ledger, second := lesson("kimi-1", Outcome.VALIDATED))
        assert lessons(ledger, ledger.tip()) == (first, second)

    def test_is_not_what_else_lies_there(self, world):
        ledger = world.writer().ledger
        write(ledger, {memory_path("noise/h200/vllm/1"): b"{}\n"})
        assert lessons(ledger, ledger.tip()) == ()

    def test_that_cannot_be_read_is_told_and_takes_no_other_away(self, world):
        ledger, told = world.writer().ledger, []
        learn(ledger, good := lesson("kimi-1"))
        write(ledger, {"memory/kimi-1/2.json": b'{"bump": 7}\n'})
        assert lessons(ledger, ledger.tip(), told.append) == (good,)
        assert len(told) == 1 and "memory/kimi-1/2.json" in told[0]

    def test_knows_its_own_json(self):
        told = lesson(subject="gb200 x", repair="drop", helped=True, signature="s")
        assert msgspec.json.decode(msgspec.json.encode(told), type=Lesson) == told


def test_a_lesson_reads_as_one_line():
    told = lesson(subject="x", signature="s", repair="drop-it", helped=False, evidence="not\x1b[31mthere")
    (line,) = learnt([told])
    assert line == "staging/model-not-staged/s; readiness-blocked; not [31mthere; drop-it did not help; released by staging: it is staged"
