"""What planning should have found, case by case: the records of real bumps, and cases of the same kinds that nobody had. Each
is played through the whole plan, and once more without the fact that decides it, and once with that fact unknown.

A case names its expected finding; nothing may outrank it that the case does not name under `also`.
"""

from __future__ import annotations

import re

import pytest

from bot.errors import Refusal
from bot.model.finding import PlanFinding
from tests.preflight.told import Case, cases

HELD = {"stop": 0, "ask": 1, "repair-first": 2, "note": 3}
ALL = cases()
FOUND = [one for one in ALL if one.told.expect is not None]
CLEAN = [one for one in ALL if one.told.expect is None]


def named(kept: list[Case]) -> dict[str, object]:
    return {"argvalues": kept, "ids": [one.name for one in kept]}


def fits(one: PlanFinding, case: Case) -> bool:
    wanted = case.told.expect
    assert wanted is not None
    return (one.check, one.class_, one.action) == (wanted.check, wanted.class_, wanted.action)


def spoken(found: tuple[PlanFinding, ...]) -> list[str]:
    return [f"{one.check}/{one.class_}/{one.action}: {one.evidence} [{one.where}]" for one in found]


@pytest.mark.parametrize("case", **named(FOUND))
class TestARecordedEnd:
    def test_is_seen_at_planning(self, case: Case) -> None:
        found, wanted = case.findings(), case.told.expect
        mine = [one for one in found if fits(one, case)]
        assert mine, spoken(found)
        assert wanted is not None and wanted.repair in (None, *(one.repair for one in mine))
        for word in wanted.says:
            assert any(word in f"{one.evidence} {one.where} {one.next.en} {one.what.en if one.what else ''}" for one in mine), spoken(found)

    def test_is_outranked_by_nothing_that_the_record_does_not_hold(self, case: Case) -> None:
        told = case.told
        assert told.expect is not None
        worse = [one for one in case.findings() if HELD[one.action] < HELD[told.expect.action]
                 or (one.action == "stop" and not fits(one, case))]
        assert not spoken(tuple(one for one in worse if told.also.get(one.check) != one.action))

    def test_is_not_found_without_the_fact_that_decides(self, case: Case) -> None:
        told = case.told
        assert told.without, "each case names the fact that decides it, and how it would be otherwise"
        other = case.but(told.without)
        if told.refused:
            with pytest.raises(Refusal):
                other.subject()
            return
        assert not spoken(tuple(one for one in other.findings() if fits(one, case)))

    def test_is_unknown_where_nobody_tells_the_fact(self, case: Case) -> None:
        told = case.told
        if told.unknown is None:
            pytest.skip("the fact stands in the repository itself")
        if told.refused:
            with pytest.raises(Refusal):
                case.but(told.unknown).subject()
            return
        checks = case.but(told.unknown).checks()
        assert not spoken(tuple(one for check in checks for one in check.findings if fits(one, case)))
        assert [one.unknown for one in checks if told.expect and one.check == told.expect.check and one.unknown]


@pytest.mark.parametrize("case", **named(CLEAN))
class TestABumpThatValidated:
    def test_is_neither_stopped_nor_asked_about(self, case: Case) -> None:
        told = case.told
        held = [one for one in case.findings() if one.action in ("stop", "ask", "repair-first")]
        assert not spoken(tuple(one for one in held if told.also.get(one.check) != one.action))

    def test_is_not_stopped_where_the_world_does_not_answer(self, case: Case) -> None:
        away = {"away": ["upstreams", "fleet", "settings", "neighbours", "published"], "lessons": None}
        assert not spoken(tuple(one for one in case.but(away).findings() if one.action == "stop"))


LETTERS = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("case", **named(ALL))
class TestAStop:
    def test_says_in_both_languages_what_must_change_before_the_next_try(self, case: Case) -> None:
        for one in (one for one in case.findings() if one.action == "stop"):
            assert one.release is not None, spoken((one,))
            assert one.release.says.en and LETTERS.search(one.release.says.zh), one.release
            assert not LETTERS.search(one.release.says.en)
            assert one.release.subject or one.check == "history"
