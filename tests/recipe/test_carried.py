"""Entries of a branch carried over to a main that moved on: as the branch wrote them, and only those that are its own."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.carried import Side, carry
from bot.recipe.changelog import check

STYLE = Changelog(file="log.yaml", keys="config-keys", scenarios="scenario-type", optional=("evals-only", "eval-min-prefill-ep"),
                  pull="https://github.com/o/r/pull/{number}", placeholders=("XXX",))


def entry(link: str | int, key: str = "a", more: str = "", said: str = "v2") -> str:
    link = f"https://github.com/o/r/pull/{link}" if isinstance(link, int) else link
    return f'- config-keys:\n    - {key}\n{more}  description:\n    - "{said}"\n  pr-link: {link}\n'


def log(*entries: str) -> str:
    return "\n".join(entries)


def carried(main: str, head: str) -> str | None:
    made = carry(Side.read(main.encode(), "main.yaml", STYLE), Side.read(head.encode(), "head.yaml", STYLE), STYLE)
    assert made is None or check(main.encode(), made, STYLE) == ()
    return made.decode() if made is not None else None


OLD, THEIRS, OURS = entry(1, "old"), entry(2, "b"), entry(3)


class TestWhatIsCarried:
    @pytest.mark.parametrize("ours", [
        entry(3, more="  evals-only: true\n"), entry(3, more="  eval-min-prefill-ep: 4\n"),
        OURS + "  evals-only: true\n", entry(3, more="  scenario-type:\n    - agentic-coding\n"),
        OURS + "  scenario-type:\n    - agentic-coding\n  evals-only: false\n", entry(3, said="更新 “x”: \\u00e9"), entry("XXX"),
        entry(3).replace("    - a\n", "    - a\n    - b\n"),
    ])
    def test_stays_byte_for_byte_what_the_branch_wrote(self, ours: str) -> None:
        assert carried(log(OLD, THEIRS), log(OLD, ours)) == log(OLD, THEIRS, ours)

    def test_is_each_entry_of_several_in_their_order(self) -> None:
        more = entry(3, "c", "  evals-only: true\n")
        assert carried(log(OLD, THEIRS), log(OLD, OURS, more)) == log(OLD, THEIRS, OURS, more)

    @pytest.mark.parametrize("ours", [
        OURS.replace("    - ", "  - "), OURS.replace('"v2"', "v2"), OURS.replace('"v2"', "'v2'"), OURS.replace('"v2"', '"v2"  '),
        OURS.replace("  description:", "  description:   # why"), OURS.replace("\n", "\r\n"), OURS.replace("pr-link: ", "pr-link:   "),
    ])
    def test_is_written_in_the_houses_style_where_it_was_not(self, ours: str) -> None:
        assert carried(log(OLD, THEIRS), log(OLD, ours)) == log(OLD, THEIRS, OURS)

    @pytest.mark.parametrize("end", ["\n", "\n\n", "  \n"])
    def test_gains_no_blank_line_that_stood_behind_it(self, end: str) -> None:
        assert carried(log(OLD, THEIRS), log(OLD, OURS) + end) == log(OLD, THEIRS, OURS)

    def test_follows_a_main_that_ends_with_its_blank_line_already_or_is_empty(self) -> None:
        assert carried(log(OLD, THEIRS) + "\n", log(OLD, OURS)) == log(OLD, THEIRS, OURS)
        assert carried("", OURS) == OURS

    def test_is_a_bump_that_says_what_another_said_under_its_own_link(self) -> None:
        assert carried(log(OLD, entry(9)), log(OLD, OURS)) == log(OLD, entry(9), OURS)


class TestWhatIsNot:
    @pytest.mark.parametrize(("main", "head"), [
        (log(OLD), log(OLD)), (log(OLD, THEIRS), log(OLD)), (log(OLD, OURS), log(OLD, OURS)), (log(OLD, OURS, THEIRS), log(OLD, OURS)),
        (log(OLD, entry(3, said="reworded"), THEIRS), log(OLD, OURS)), (log(OLD, OURS), log(OLD, entry("XXX"))), (log(OLD), ""),
    ])
    def test_is_what_main_holds(self, main: str, head: str) -> None:
        assert carried(main, head) is None

    @pytest.mark.parametrize("was", ["XXX", "https://github.com/o/other/pull/1"])
    def test_is_an_old_entry_whose_link_main_corrected(self, was: str) -> None:
        assert carried(log(OLD, THEIRS), log(entry(was, "old"), OURS)) == log(OLD, THEIRS, OURS)

    def test_is_a_change_of_history(self) -> None:
        with pytest.raises(BadInput, match="head.yaml: entry 1 is not in main.yaml, which holds a later one"):
            carried(log(OLD, THEIRS), log(entry(7, "new"), THEIRS, OURS))

    @pytest.mark.parametrize(("ours", "said"), [
        (OURS + "  note: mine\n", "entry 2 holds the unknown field note"), (OURS.replace("    - a", "  - a") + "  evals-only: true\n", "field evals-only"),
        (entry("TBD"), "pr-link is TBD"), (OURS.replace('"v2"', '"a\\tb"').replace("    - a", "  - a"), "control characters"),
        (OURS.replace("    - a\n", ""), "entry 2: config-keys is no list of texts"), (OURS.replace('"v2"', '"v\t2"'), "contains a tab"),
    ])
    def test_is_an_entry_that_main_could_not_take(self, ours: str, said: str) -> None:
        with pytest.raises(BadInput, match=said) as told:
            carried(log(OLD, THEIRS), log(OLD, ours))
        assert "head.yaml" in str(told.value)

    @pytest.mark.parametrize(("main", "said"), [(log(OLD).rstrip(), "newline"), (log(OLD).replace("\n", "\r\n"), "CR")])
    def test_goes_behind_a_main_that_breaks_its_rules(self, main: str, said: str) -> None:
        with pytest.raises(BadInput, match=f"main.yaml: .*{said}"):
            carried(main, log(OLD, OURS))
