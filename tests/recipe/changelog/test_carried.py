"""Entries of a branch carried over to a main that moved on: as the branch wrote them, and only those that are its own."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.layout.records import Changelog
from bot.recipe.changelog import check
from bot.recipe.changelog.carry import Carried, carry
from bot.recipe.changelog.sides import Side

STYLE = Changelog(file="log.yaml", keys="config-keys", scenarios="scenario-type", flags=("evals-only",), counts=("eval-min-prefill-ep",),
                  pull="https://github.com/o/r/pull/{number}", placeholders=("XXX",))


PULL = "https://github.com/o/r/pull/"


def entry(link: str | int, key: str = "a", more: str = "", said: str = "v2") -> str:
    link = f"{PULL}{link}" if isinstance(link, int) else link
    return f'- config-keys:\n    - {key}\n{more}  description:\n    - "{said}"\n  pr-link: {link}\n'


def log(*entries: str) -> str:
    return "\n".join(entries)


def carry_all(main: str, head: str, base: str | None = None) -> Carried:
    one, two = Side.read(main.encode(), "main.yaml", STYLE), Side.read(head.encode(), "head.yaml", STYLE)
    made = carry(one, two, STYLE, None if base is None else Side.read(base.encode(), "base.yaml", STYLE))
    assert made.data is None or check(main.encode(), made.data, STYLE) == ()
    return made


def carried(main: str, head: str, base: str | None = None) -> str | None:
    data = carry_all(main, head, base).data
    return data.decode() if data is not None else None


def told(main: str, head: str, base: str | None = None) -> tuple[str, ...]:
    return carry_all(main, head, base).notes


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

    @pytest.mark.parametrize(("ours", "said"), [
        (OURS + "  note: mine\n", "entry 2 holds the unknown field note"), (OURS.replace("    - a", "  - a") + "  evals-only: true\n", "field evals-only"),
        (entry("TBD"), "pr-link is TBD"), (OURS.replace('"v2"', '"a\\tb"').replace("    - a", "  - a"), "control character"),
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


class TestEntriesOfOnePullRequest:
    """Of 772 real entries 33 share their link with another, 20 of these their keys too."""

    MORE = entry(3, "c")

    @pytest.mark.parametrize(("main", "made"), [
        (log(OLD, OURS), log(OLD, OURS, MORE)), (log(OLD, MORE), log(OLD, MORE, OURS)), (log(OLD, THEIRS), log(OLD, THEIRS, OURS, MORE)),
        (log(OLD, entry(3, said="reworded")), log(OLD, entry(3, said="reworded"), MORE)),
        (log(OLD, entry(3, "other")), log(OLD, entry(3, "other"), OURS, MORE)),
    ])
    def test_are_each_carried_that_main_lacks(self, main: str, made: str) -> None:
        head = log(OLD, OURS, self.MORE)
        assert carried(main, head) == carried(main, head, OLD) == made

    def test_may_have_the_same_keys(self) -> None:
        second = entry(3, said="v3")
        assert carried(log(OLD, OURS), log(OLD, OURS, second)) == log(OLD, OURS, second)
        assert carried(log(OLD, entry(3, said="reworded")), log(OLD, OURS, second)) == log(OLD, entry(3, said="reworded"), second)

    def test_are_known_by_keys_and_link_and_then_mains_words_stand(self) -> None:
        main = log(OLD, entry(3, said="reworded"))
        assert carried(main, log(OLD, OURS)) is None
        assert told(main, log(OLD, OURS)) == (f"head.yaml: entry 2 is taken for entry 2 (a; {PULL}3) of main.yaml, whose words stand",)

    def test_with_a_placeholder_are_no_ones_but_those_that_say_the_same(self) -> None:
        first, second = entry("XXX"), entry("XXX", "c")
        assert carried(log(OLD, first), log(OLD, first, second)) == log(OLD, first, second)
        assert carried(log(OLD, entry("XXX", said="theirs")), log(OLD, first)) == log(OLD, entry("XXX", said="theirs"), first)
        assert carried(log(entry(1), THEIRS), log(entry(1), first)) == log(entry(1), THEIRS, first), "an old one says the same"


class TestWhatMainTookBack:
    GONE = entry(8, "gone")

    @pytest.mark.parametrize(("main", "head"), [
        (log(OLD), log(OLD, GONE, OURS)), (log(OLD, THEIRS), log(OLD, GONE, THEIRS, OURS)), (log(OLD), log(GONE, OLD, OURS)),
        (log(OLD, THEIRS), log(OLD, GONE, entry(9, "also"), OURS)), (log(OLD, THEIRS), log(OLD, GONE, OURS)),
    ])
    def test_stays_away_and_the_branchs_own_is_carried(self, main: str, head: str) -> None:
        assert carried(main, head) == carried(main, head, head.removesuffix("\n" + OURS)) == log(main, OURS)
        assert told(main, head, head.removesuffix("\n" + OURS)) == ()

    def test_is_named_where_the_ancestor_is_not(self) -> None:
        [first, second] = told(log(OLD), log(OLD, self.GONE, entry("XXX", "x"), OURS))
        assert f"head.yaml: entry 2 (gone; {PULL}8) is not in main.yaml and is not carried" in first and "--base" in first
        assert "entry 3 (x; XXX)" in second

    def test_stays_away_where_the_branch_has_none_of_its_own(self) -> None:
        assert carried(log(OLD), log(OLD, self.GONE), log(OLD, self.GONE)) is None
        assert carried(log(OLD, THEIRS), log(OLD, self.GONE, THEIRS)) is None

    def test_may_be_all_that_there_was(self) -> None:
        assert carried("# none\n", log(self.GONE, OURS), self.GONE) == log("# none\n", OURS)


class TestTheAncestor:
    def test_tells_each_own_entry_whatever_its_link(self) -> None:
        own = (entry("XXX", "x"), entry(4, "d"), OURS)
        assert carried(log(OLD, THEIRS), log(OLD, *own), OLD) == log(OLD, THEIRS, *own)

    def test_may_have_had_no_entry(self) -> None:
        assert carried(THEIRS, OURS, "") == log(THEIRS, OURS)
        assert carried(log("# ours\n", THEIRS), log("# ours\n", OURS), "# ours\n") == log("# ours\n", THEIRS, OURS)

    def test_tells_an_old_entry_whose_link_the_branch_corrected_from_its_own(self) -> None:
        assert carried(log(entry("XXX", "old"), THEIRS), log(OLD, OURS), entry("XXX", "old")) == log(entry("XXX", "old"), THEIRS, OURS)

    def test_must_be_one(self) -> None:
        with pytest.raises(BadInput, match=r"head.yaml: holds no entry of base.yaml, which is no ancestor"):
            carried(log(OLD, THEIRS), log(OLD, OURS), entry(7, "z"))

    def test_is_asked_for_where_the_sides_know_nothing_of_each_other(self) -> None:
        for head in (OURS, log(entry(7, "z"), OURS)):
            with pytest.raises(BadInput, match=r"head.yaml: holds no entry of main.yaml.*--base"):
                carried(log(OLD, THEIRS), head)

    def test_is_not_needed_by_two_first_entries_behind_the_same_comment(self) -> None:
        assert carried(log("# ours\n", THEIRS), log("# ours\n", OURS)) == log("# ours\n", THEIRS, OURS)


class TestAComment:
    def test_within_an_entry_stays(self) -> None:
        ours = OURS.replace("  description:\n", "  # why\n  description:\n    # what\n")
        assert carried(log(OLD, THEIRS), log(OLD, ours)) == log(OLD, THEIRS, ours)

    @pytest.mark.parametrize("head", [
        log(OLD, "# mine\n" + OURS), log(OLD, "# mine\n", OURS), log(OLD, OURS) + "# mine\n", log(OLD, OURS, "# mine\n"),
        OLD + "# mine\n\n" + OURS, log(OLD, OURS, "# mine\n" + entry(3, "c")),
    ])
    def test_beside_an_entry_is_told_since_nothing_but_entries_may_be_appended(self, head: str) -> None:
        made, notes = carried(log(OLD, THEIRS), head), told(log(OLD, THEIRS), head)
        assert made is not None and "# mine" not in made
        assert len(notes) == 1 and notes[0].startswith("head.yaml: the comment beside entry ")

    def test_that_main_has_is_not_told(self) -> None:
        assert told(log(OLD + "# old\n", THEIRS), log(OLD + "# old\n", OURS)) == ()

    def test_of_an_entry_that_is_written_anew_is_told(self) -> None:
        assert "is written anew, without comments" in told(log(OLD, THEIRS), log(OLD, OURS.replace('"v2"', "v2  # two")))[0]
