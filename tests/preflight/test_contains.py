"""The check of changes: what fits is named, what clashes stops, what nobody knows does neither."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from bot.model.upstream import CarriedHeld, Change, Choice, Contained, Held
from bot.model.uses import Carried, Pin, Uses, Written
from bot.preflight.contains import check
from tests.preflight.worlds import facts

NAME = "vllm-project/vllm"
FIX = Change(repository=NAME, pull=54853, wanted="must-have")
BREAK = Change(repository=NAME, pull=54819, wanted="must-not-have")
AT = Written(file="patches/x.sh", line=4)


def choice(name: str, fix: bool | None, broken: bool | None) -> Choice:
    return Choice(name=name, commit=name * 2, held=(Held(change=FIX, holds=fix), Held(change=BREAK, holds=broken)))


def asked(told: tuple[Contained, ...] | None, **more):
    return check(replace(facts(), contained=told, **more))


class TestACandidateThatViolates:
    def test_is_repaired_first_by_the_tag_that_fits(self) -> None:
        good, bad = choice("nightly-b", True, False), choice("nightly-c", True, True)
        found, = asked((Contained(of="docker.io/vllm/vllm-openai", candidate=bad, choices=(bad, good), best="nightly-b"),)).findings
        assert (found.action, found.class_, found.who) == ("repair-first", "engine-regression", "maintainer")
        assert "nightly-b" in found.next.en and "nightly-b" in found.next.zh and found.release is None
        assert "54819" in found.what.en and "54853" not in found.what.en

    def test_stops_where_no_tag_can_fit(self) -> None:
        bad = choice("v0.29.0", False, False)
        clash = (f"must-have {NAME} 54853: nightly-c", f"must-not-have {NAME} 54819: nightly-b to nightly-c")
        found, = asked((Contained(of="docker.io/vllm/vllm-openai", candidate=bad, choices=(bad,), clash=clash),)).findings
        assert (found.action, found.class_, found.check, found.who) == ("stop", "engine-regression", "contains", "upstream")
        assert all(one in found.evidence for one in clash)
        assert found.release and found.release.of == "contains"

    def test_of_a_pin_is_told_where_to_move_it(self) -> None:
        bad = choice("dynamo 1.1.0", False, False)
        pin = Pin(name="dynamo", package="ai-dynamo", module="dynamo", version="1.1.0", at=AT, owned=True)
        for owned, who in ((True, "maintainer"), (False, "operator")):
            uses = Uses(engine="vllm", pins=(replace(pin, owned=owned),))
            found, = asked((Contained(of="dynamo", candidate=bad, best="1.2.0"),), uses=uses).findings
            assert (found.action, found.who) == ("repair-first", who) and "move the pin dynamo to 1.2.0" in found.next.en

    def test_is_told_without_links_or_mentions(self) -> None:
        bad = choice("v1@x#1", True, True)
        found, = asked((Contained(of="x`y", candidate=bad, best="<b>"),)).findings
        for text in (found.what, found.next):
            assert not re.search(r"[#@`<>]", text.en + text.zh)


class TestWhatNobodyKnows:
    @pytest.mark.parametrize("told", [choice("n", None, False), choice("n", True, None), choice("n", None, None)])
    def test_is_said_and_is_no_finding(self, told) -> None:
        made = asked((Contained(of="x", candidate=told),))
        assert made.findings == () and made.unknown is not None and NAME in made.unknown.en

    def test_does_not_hide_what_is_known_to_be_wrong(self) -> None:
        made = asked((Contained(of="x", candidate=choice("n", None, True)),))
        assert [one.action for one in made.findings] == ["stop"] and made.unknown is not None

    def test_is_everything_where_nobody_asked(self) -> None:
        assert asked(None).unknown is not None and asked(()).unknown is None and asked(()).findings == ()


class TestACandidateThatFits:
    def test_finds_nothing(self) -> None:
        made = asked((Contained(of="x", candidate=choice("n", True, False), best="n"),))
        assert (made.findings, made.unknown) == ((), None) and made.about.en.startswith("2 ")


class TestACarriedPatch:
    @pytest.mark.parametrize(("holds", "count"), [(True, 1), (False, 0), (None, 0)])
    def test_is_dropped_where_the_candidate_holds_it(self, holds, count) -> None:
        held = CarriedHeld(carried=Carried(at=AT, pulls=(54853,)), held=(Held(change=FIX, holds=holds, by="pull", commit="ab" * 20),))
        found = asked(None, carried=(held,)).findings
        assert [(one.action, one.class_, one.where) for one in found] == [("note", None, "patches/x.sh:4")] * count
        assert all("drop the patch" in one.next.en and "54853" in one.what.zh for one in found)
