"""A chain decided again, and shown."""

from __future__ import annotations

import json

import msgspec

from bot.ledger import claim_entry, replay, show, text
from bot.ledger.chain import decode, encode
from bot.model.action import Label, Remember, Unlabel
from bot.model.bump import Approval
from bot.model.event import Commented, Scheduled
from tests.ledger.chains import HEAD, WHEN, facts, stored

ACTIONS = (Label(name="go", head=HEAD), Unlabel(name="stop"))


class TestReplay:
    def test_the_same_decisions_leave_no_difference(self):
        seen = []
        assert replay(stored(6), lambda bump, event: seen.append((bump, event)) or ACTIONS) is None
        assert seen == [(facts(), Scheduled(at=WHEN))] * 3

    def test_nothing_stored_differs_in_nothing(self):
        assert replay([], lambda bump, event: ACTIONS) is None

    def test_another_version_shows_its_first_difference(self):
        calls = iter([ACTIONS, (ACTIONS[0], Unlabel(name="halt")), ()])
        found = replay(stored(6), lambda bump, event: next(calls))
        assert (found.n, found.index, found.version) == (3, 1, "0.1")
        assert json.loads(found.stored)["name"] == "stop" and json.loads(found.decided)["name"] == "halt"

    def test_an_action_more_or_less_is_a_difference(self):
        more = replay(stored(2), lambda bump, event: (*ACTIONS, Unlabel(name="x")))
        assert (more.index, more.stored) == (2, None) and json.loads(more.decided) == {"do": "unlabel", "name": "x"}
        less = replay(stored(2), lambda bump, event: ())
        assert (less.index, less.decided) == (0, None)

    def test_the_order_of_actions_matters(self):
        assert replay(stored(2), lambda bump, event: ACTIONS[::-1]).index == 0


class TestShow:
    def test_each_entry_says_when_why_what_and_what_came_of_it(self):
        lines = show(stored(2))
        assert [(line.n, line.kind, line.of, line.event) for line in lines] == [
            (1, "claim", None, "schedule"), (2, "record", 1, None)]
        assert text(lines) == (
            "   1  2026-07-28 05:00:00Z  claim   schedule\n"
            f"      - label name=go head={HEAD}\n"
            "      - unlabel name=stop\n"
            "   2  2026-07-28 05:00:00Z  record  of claim 1\n"
            "      = 1 done\n")

    def test_untrusted_text_cannot_move_the_terminal(self):
        event = Commented(at=WHEN, pull=1, comment=2, actor="eve\x1b[2J\u202e\n" + "x" * 500)
        entry = claim_entry([], wake="w", version="0.1", at=WHEN, event=event, facts=facts(),
                            actions=[Remember(fact=Approval(by="ann", at=WHEN))])
        shown = text(show([decode("bumps/kimi-1/1.json", encode(entry, "bumps/kimi-1/1.json"))]))
        assert all(letter.isprintable() or letter == "\n" for letter in shown) and len(shown) < 300
        assert "comment pull=1 comment=2 actor=eve" in shown and "- remember approval\n" in shown

    def test_lines_are_data_too(self):
        assert json.loads(msgspec.json.encode(show(stored(1))))[0]["actions"][1] == "unlabel name=stop"
