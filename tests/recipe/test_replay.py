"""Real bumps by people, done again: from the tree before, the same bytes as after. Skipped where they are not recorded."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from bot.layout import Layout
from bot.recipe import changelog
from bot.recipe.shelf import Shelf
from tests.recipe.conftest import SHARED
from tests.recipe.replays import Bump, again, recorded, told

REPLAY = SHARED / "replay"
pytestmark = pytest.mark.skipif(not REPLAY.is_dir(), reason="the recorded bumps are not beside this repository")

# Changelogs of people that InferenceX's own strict rules refuse, and by which. Its validator says the same of each commit,
# but for a link `XXX`: on a pull request it lets that pass, on main neither that nor `.../pull/XXX`.
REFUSED = {
    "5f22f77c9c61": "pr-link", "2c679ab9dc47": "pr-link", "6e35460d2e6f": "pr-link", "5ed92842272c": "pr-link",
    "2a796d10eca6": "bytes of history", "851c236d27a3": "bytes of history", "c9939f89b840": "bytes of history",
    "d0fda0139662": "blank line", "da5515841bba": "blank line", "12ba0ae07289": "blank line", "4c6038cc2c46": "blank line",
    "64c03138aa0e": "blank line",
    "589f3b95e6d9": "entry 87 of history", "bdccf006cd84": "entry 269 of history", "5be6ec0c3cae": "entry 524 of history",
    "cad1169b9a14": "deleted", "888ac6b63614": "deleted",
}


@cache
def bumps(name: str) -> list[Bump]:
    return recorded(REPLAY, name)


class TestBumpsOfOneFile:
    def test_give_the_same_bytes_in_every_file(self, inferencex: Layout) -> None:
        assert (len(bumps("open")), sum(len(bump.keys) for bump in bumps("open"))) == (79, 103)
        for bump in bumps("open"):
            made, refusals = again(Shelf(bump.before), bump, inferencex)
            assert refusals == {}, bump.commit
            made = {file: bump.before.read(file) for file in bump.files} | made
            assert made == {file: bump.after.read(file) for file in bump.files}, bump.commit

    def test_their_changelogs_pass_and_fail_as_their_own_validator_says(self, inferencex: Layout) -> None:
        style = inferencex.changelog
        assert style is not None
        found = {bump.commit: " / ".join(changelog.check(bump.before.read(style.file) or b"", bump.after.read(style.file) or b"", style))
                 for bump in bumps("open")}
        refused = {commit: problems for commit, problems in found.items() if problems}
        assert (len(found) - len(refused), refused.keys()) == (62, REFUSED.keys())
        assert {commit for commit, word in REFUSED.items() if word not in refused[commit]} == set()


class TestBumpsOfLinkedFiles:
    def test_hold_what_people_wrote_at_every_site_or_the_files_say_why_not(self, inferencex: Layout) -> None:
        found = [told(bump, inferencex) for bump in bumps("linked-open")]
        assert [case for one in found for case in one.unexplained] == []
        assert (sum(one.moved for one in found), sum(one.lines for one in found)) == (100, 100)
        assert all(same for one in found for same in one.masters.values())
        assert Counter(reason for one in found for reason, cases in one.reasons.items() for _ in cases) == {
            "no recipe of the bump links the file": 6, "people left the old image behind": 2,
            "people put an image in place of an alias": 2}
