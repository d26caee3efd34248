"""The file of a cluster's day: what is promised before a dispatch, and what takes its place once the runs have held it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.ledger import moved_path
from bot.model.action import React, Rerun
from bot.model.bump import Bump, Ended
from bot.model.ledger import DaySpent, Snapshot
from bot.model.outcome import Cause, Outcome
from bot.wake import holding
from tests.fakes.facts import PROPOSAL, bump, job, run

TIP = Snapshot(oid="0" * 40, paths={})


def day(**hours: float) -> Any:
    """A ledger that has one day's file."""
    return SimpleNamespace(load=lambda snapshot, path, kind: DaySpent(gpu_hours=hours))


def smoked(*, minutes: float | None) -> Bump:
    """A bump whose smoke on 16 GPUs took so long, or goes on."""
    one = job(1, minutes=minutes) if minutes else job(1, status="in_progress")
    over = {} if minutes else {"status": "in_progress"}
    return bump("proposal", runs=(run(10, "smoke", PROPOSAL, one, **over),), now=60)


def promised(ledger: Any, facts: Bump) -> float:
    return holding.promised(ledger, TIP, facts).world.promised_today


class TestAProvenImage:
    """What a recipe's cadence counts from."""

    def ended(self, outcome: Outcome) -> list[str]:
        facts = smoked(minutes=30)
        over = replace(facts, memory=replace(facts.memory, ended=Ended(outcome=outcome, cause=Cause.VERDICT, at=facts.now)))
        empty: Any = SimpleNamespace(load=lambda snapshot, path, kind: None)
        return [path for path in holding.released(empty, TIP, over)[0] if path.startswith("moved/")]

    def test_is_remembered_for_each_recipe_of_its_family(self) -> None:
        assert self.ended(Outcome.VALIDATED) == [moved_path(recipe.key) for recipe in smoked(minutes=30).subject.family]

    @pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.VALIDATED])
    def test_is_none_where_the_bump_ended_otherwise(self, outcome: Outcome) -> None:
        assert self.ended(outcome) == []


class TestTheDay:
    def test_counts_a_run_as_forecast_while_it_goes_on_and_as_held_once_it_is_over(self) -> None:
        assert promised(day(b=40.0, other=5.0), smoked(minutes=None)) == 45.0
        assert promised(day(b=40.0, other=5.0), smoked(minutes=30)) == 5.0 + 8.0

    def test_counts_what_a_run_holds_beyond_its_forecast(self) -> None:
        assert promised(day(b=1.0), smoked(minutes=None)) > 1.0

    def test_is_written_with_what_was_held_and_the_new_price(self) -> None:
        (path, data), = holding.promise(day(b=40.0, other=5.0), TIP, smoked(minutes=30), [Rerun(run=10, attempt=1, gpu_hours=3.0)])[0].items()
        assert path.endswith("2026-09-10.json")
        assert msgspec.json.decode(data)["gpu_hours"] == {"b": pytest.approx(11.0), "other": 5.0}

    def test_is_not_written_by_what_spends_nothing(self) -> None:
        assert holding.promise(day(), TIP, smoked(minutes=30), [React(comment=1, content="+1")]) == ({}, ())
