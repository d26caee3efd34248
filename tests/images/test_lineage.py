"""The order of commits from a listing: it says what the listing proves, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.images.lineage import lineage
from bot.model.upstream import Commit


def sha(number: int) -> str:
    return f"{number:08x}".ljust(40, "e")


def commit(number: int, *parents: int) -> Commit:
    return Commit(sha=sha(number), title="", date="", parents=tuple(sha(parent) for parent in parents))


# 6 is the tip; 5 merges the side line 4, 3 into 2; 1 is the last that is listed, its parent is not.
LISTED = (commit(6, 5), commit(5, 2, 4), commit(4, 3), commit(3, 1), commit(2, 1), commit(1, 0))


class TestTheOrder:
    def test_is_that_of_the_main_line(self) -> None:
        order = lineage(LISTED)
        assert (order(sha(6), sha(1)), order(sha(1), sha(2)), order(sha(5), sha(5)[:9])) == ("newer", "older", "same")

    def test_reaches_commits_that_were_merged(self) -> None:
        order = lineage(LISTED)
        assert (order(sha(5), sha(4)), order(sha(3), sha(6)), order(sha(4), sha(3))) == ("newer", "older", "newer")

    def test_of_two_lines_that_never_met_is_not_known(self) -> None:
        order = lineage(LISTED)
        assert order(sha(2), sha(4)) is None and order(sha(4), sha(2)) is None

    def test_of_what_is_not_listed_or_fits_several_is_not_known(self) -> None:
        order = lineage((*LISTED, commit(0x60), Commit(sha=sha(6)[:12] + "0" * 28, title="", date="")))
        assert order(sha(0), sha(6)) is None and order(sha(6)[:10], sha(1)) is None and order("00000", sha(1)) is None
        assert order(sha(6), sha(1)) == "newer" and lineage(())(sha(1), sha(2)) is None

    def test_of_a_history_in_a_circle_ends(self) -> None:
        order = lineage((commit(1, 2), commit(2, 3), commit(3, 1)))
        assert order(sha(1), sha(4)) is None and order(sha(1), sha(2)) in ("newer", "older")

    @given(st.lists(st.lists(st.integers(0, 30), max_size=3), min_size=2, max_size=30), st.data())
    def test_is_never_both_ways_and_always_along_parents(self, drawn: list[list[int]], data: st.DataObject) -> None:
        """Each commit's parents are among those listed after it."""
        count = len(drawn)
        edges = {number: tuple(dict.fromkeys(number + 1 + jump % (count - number) for jump in jumps if number + 1 < count))
                 for number, jumps in enumerate(drawn)}
        edges = {number: tuple(one for one in those if one < count) for number, those in edges.items()}
        order = lineage(tuple(commit(number, *those) for number, those in edges.items()))

        def behind(start: int) -> set[int]:
            seen: set[int] = set()
            left = [start]
            while left:
                left += [one for one in edges[left.pop()] if one not in seen]
                seen.update(left)
            return seen

        one, other = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
        truth = "same" if one == other else "newer" if other in behind(one) else "older" if one in behind(other) else None
        assert order(sha(one), sha(other)) == truth
