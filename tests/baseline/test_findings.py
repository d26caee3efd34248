"""What a frozen baseline asks of people before a bump goes on."""

from __future__ import annotations

import msgspec
import pytest

from bot.baseline import findings
from bot.model.result import Absent, Baseline, Cell

BASE = Baseline(date="2026-08-21", image="a/b:1", run=7, attempt=1, head=None, pull=None, fingerprint="f", rows=(), source="api")


def told(*notes, absent=()):
    return findings(msgspec.structs.replace(BASE, notes=notes, absent=absent))


@pytest.mark.parametrize(("note", "class_", "action", "who"), [
    ("points-gone:32", "baseline-gap", "ask", "maintainer"), ("eval-size-changed:gsm8k:1319:1", None, "note", "bot"),
    ("eval-not-comparable:gsm8k:gone", None, "note", "bot"), ("points-new:16", None, "note", "bot"),
    ("eval-new:gsm8k", None, "note", "bot"), ("folder-empty:basslines", None, "ask", "maintainer"),
    ("result-unreadable:results/r/6.json", None, "ask", "operator")])
def test_a_difference_is_a_finding_with_its_evidence_and_who_moves(note, class_, action, who):
    (found,) = told(note, "baseline-single")
    made = msgspec.to_builtins(found)
    assert (made["check"], made["class"], made["action"], made["evidence"], made["who"]) == ("roster", class_, action, note, who)
    assert made["where"] == "api of 2026-08-21, run 7" and made["next"]["en"] and made["next"]["zh"] and made["what"]["zh"]


def test_points_without_a_baseline_are_one_finding_a_reason():
    absent = [Absent(point=Cell(recipe="r", concurrency=conc, topology="TP4"), why=why)
              for conc, why in ((8, "other-configuration"), (16, "other-configuration"), (1, "not-published"))]
    assert [one.evidence for one in told(absent=absent)] == ["other-configuration: TP4 c8, TP4 c16"]


def test_a_baseline_that_is_whole_or_absent_has_none():
    assert told("baseline-single") == findings(None) == findings(None, "no-source") == ()


def test_only_another_configuration_of_the_same_image_is_a_gap():
    (found,) = findings(None, "other-configuration")
    assert (found.class_, found.action) == ("baseline-gap", "ask") and "dropped" not in found.next.en  # no point was


@pytest.mark.parametrize(("why", "who"), [("folder-empty:basslines", "maintainer"), ("result-unreadable:results/r/6.json", "operator")])
def test_a_source_that_is_broken_is_told_where_it_is_why_there_is_none(why, who):
    (found,) = findings(None, why)
    assert (found.action, found.evidence, found.who) == ("ask", why, who)


def test_a_configuration_is_told_as_it_is_called():
    (found,) = told("configuration-gone:2P(TP8) x 1D(TP8/EP8) 1k1k")
    assert found.what.en.endswith(": 2P(TP8) x 1D(TP8/EP8) 1k1k") and found.what.zh.endswith("：2P(TP8) x 1D(TP8/EP8) 1k1k")
