"""Two measurements of one image are kept as noise, and later verdicts are told of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.model.action import Remember
from bot.model.bump import Ended, Judged
from bot.model.ledger import Snapshot
from bot.model.outcome import Cause, Outcome
from bot.model.result import Cell, Proof, Row, Verdict
from bot.verdict.noise import NoiseSeen
from bot.wake.noises import Pairs, kept, known
from tests.fakes.facts import ENTRY, bump, job, run
from tests.wake.made import KNOWN, Shelf

SWEEP, REPEAT = run(20, "sweep", ENTRY, job(1)), run(30, "repeat", ENTRY, job(2), minutes=200)
ENDS = (Remember(fact=Ended(outcome=Outcome.VALIDATED, cause=Cause.VERDICT, at=bump().now)),)
PATH = "memory/noise%2Fgb200%2Fvllm%2F30.json"


def rows(*values: float) -> tuple[Row, ...]:
    return tuple(Row(point=Cell(recipe="r", concurrency=conc), metric="tput_per_gpu", value=value, unit="tok/s/GPU")
                 for conc, value in zip((1, 2, 4), values, strict=False))


def facts(verdict: str = "neutral", *reasons: str, proofs: tuple[Proof, ...] = ()) -> Any:
    first = Judged(run=20, head=ENTRY, seen=(1,), rows=rows(900.0, 1000.0, 1100.0), verdict=Verdict(verdict=verdict, reasons=reasons))
    again = Judged(run=30, head=ENTRY, seen=(2,), rows=rows(990.0, 1000.0), proofs=proofs)
    return bump("proposal", "changelog", runs=(SWEEP, REPEAT), judgements=(first, again))


def left(of: Any, actions: tuple = ENDS, **files: Any) -> dict[str, Any]:
    ledger = Shelf(**files)
    writes, reads = kept(SimpleNamespace(knowledge=KNOWN), ledger.tip(), of, actions)
    assert set(reads) == set(writes)
    return {path: msgspec.json.decode(data, type=Pairs) for path, data in writes.items()}


class TestABumpThatEnds:
    def test_leaves_what_its_repeat_differed_by(self) -> None:
        made = left(facts())
        assert list(made) == [PATH]
        (seen,) = made[PATH].seen
        assert (seen.hardware, seen.engine, seen.metric, seen.source) == ("gb200", "vllm", "tput_per_gpu", "b:20/30")
        assert [round(effect, 4) for effect in seen.effects] == [0.0953, 0.0]

    @pytest.mark.parametrize("of", [facts("regressed"), facts("neutral", "cold-run"),
                                    facts(proofs=tuple(Proof(state="stale", role="throughput", recipe="r", concurrency=conc) for conc in (1, 2)))],
                             ids=["confirmed", "cold", "another image"])
    def test_leaves_none_where_the_difference_is_something_else(self, of: Any) -> None:
        assert left(of) == {}

    def test_leaves_none_before_it_ends_and_none_twice(self) -> None:
        assert left(facts(), ()) == {} == left(facts(), **{PATH: Pairs(seen=())})

    def test_leaves_none_without_a_repeat(self) -> None:
        of = facts()
        assert left(replace(of, memory=replace(of.memory, judged=of.memory.judged[:1]))) == {}


class TestALaterVerdict:
    def told(self, **files: Any) -> dict:
        narrated: list[str] = []
        context: Any = SimpleNamespace(knowledge=KNOWN, ledger=Shelf(**files), narrate=narrated.append)
        return dict(known(context, facts(), rows(1.0)))

    def pairs(self, *effects: float, hardware: str = "gb200") -> Pairs:
        return Pairs(seen=(NoiseSeen(hardware=hardware, engine="vllm", metric="tput_per_gpu", stat=None, workload=None, effects=effects),))

    def test_is_told_of_this_hardware_and_engine_alone(self) -> None:
        loud = self.pairs(0.2, -0.2, 0.2, -0.2, 0.2, -0.2)
        assert self.told(**{PATH: loud})["tput_per_gpu"].sigma > 0.05
        assert self.told(**{PATH.replace("gb200", "h200"): loud}) == {} == self.told()

    def test_hears_nothing_of_a_tip_without_a_branch(self) -> None:
        context: Any = SimpleNamespace(knowledge=KNOWN, narrate=print, ledger=SimpleNamespace(tip=lambda: Snapshot(oid=None, paths={})))
        assert dict(known(context, facts(), ())) == {}
