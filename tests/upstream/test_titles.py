"""What titles say of pull requests, reverts and re-lands."""

from __future__ import annotations

import pytest

from bot.upstream import titles


@pytest.mark.parametrize(("title", "numbers"), [
    ("Fix it (#12)", (12,)), ("Fix it (#12) (#19)", (19, 12)), ("Fix it (#12)(#19) ", (19, 12)), ("Fix #12", ()), ("Fix (fixes #12)", ()),
    ('Revert "Fix it (#12)" (#19)', (19,)), ('Revert "Fix it" (#12) (#19)', (19,)), ("Follow-up to (#12) (#19)", (19,)),
    ("Merge pull request #12 from a/b", (12,)), ("Auto merge of #12 - a:b, r=c", (12,)), ("x (#)", ()), ("(#1234567890)", ()), ("", ()),
    ("(#x)", ()), ("(#12", ()), ("#12)", ()), ("(#12)", (12,)), (")", ()), ("f(#1) (a)", ()), ("(#٣)", (3,)),
])
def test_the_pull_requests_of_a_title_are_those_at_its_end(title, numbers) -> None:
    assert titles.pulls(title) == numbers


@pytest.mark.parametrize(("title", "other", "same"), [
    ("[Bugfix] Repair the table (#1)", "[Bugfix] Repair the table (#2)", True), ('Reland "Repair the table" (#2)', "Repair the table", True),
    ("[release/1] Repair the table (#2)", "[V1] Repair  the Table", True), ("Repair the table", "Repair the tables", False),
    ("Fix typo", "Fix typo", False)])
def test_a_title_is_known_again_without_tags_and_numbers(title, other, same) -> None:
    assert titles.same(title, other) is same


@pytest.mark.parametrize(("title", "is_one"), [
    ('Revert "Repair the table (#1)" (#2)', True), ("[Bugfix] revert: Repair the table", True), ("Reverting is slow", False),
    ("Repair the table", False)])
def test_a_revert_begins_as_one(title, is_one) -> None:
    assert titles.is_revert(title) is is_one
    assert titles.reverts(title, "Repair the table (#1)") is is_one
