"""The changelog: its first bytes never change, whoever appends and however often main moves."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.errors import BadInput
from bot.layout import Changelog, Layout
from bot.recipe import changelog
from bot.recipe.changelog import Entry

LINK = "https://github.com/SemiAnalysisAI/InferenceX/pull/2900"
HOUSE = Changelog(file="perf-changelog.yaml", keys="config-keys", scenarios="scenario-type",
                  scenario_names=("fixed-seq-len", "agentic-coding"), flags=("evals-only", "append-only", "all-evals"), counts=("eval-min-prefill-ep",),
                  apart=(("append-only", "evals-only", "all-evals", "eval-min-prefill-ep"),),
                  pull="https://github.com/SemiAnalysisAI/InferenceX/pull/{number}",
                  placeholders=("https://github.com/SemiAnalysisAI/InferenceX/pull/XXX",))
BASE = b'- config-keys:\n    - old-key\n  description:\n    - "One \xc3\xbc"\n  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/1\n'
ENTRY = Entry(keys=("k1", "k1-mtp"), description=('Update to "x": see #5', "# second"), link=LINK, scenarios=("agentic-coding",))


class TestAppending:
    def test_writes_the_house_style(self) -> None:
        made = changelog.append(BASE, ENTRY, HOUSE)
        assert made == BASE + (
            b"\n- config-keys:\n    - k1\n    - k1-mtp\n  scenario-type:\n    - agentic-coding\n  description:\n"
            b'    - "Update to \\"x\\": see #5"\n    - "# second"\n  pr-link: ' + LINK.encode() + b"\n")
        assert changelog.check(BASE, made, HOUSE) == () and changelog.check(BASE, made, HOUSE, link=LINK) == ()

    def test_the_seeds_repository_takes_it(self, excerpt: Any, inferencex: Layout) -> None:
        assert inferencex.changelog is not None
        base = excerpt.files["perf-changelog.yaml"]
        made = changelog.append(base, ENTRY, inferencex.changelog)
        assert made.startswith(base) and yaml.safe_load(made)[-1]["config-keys"] == ["k1", "k1-mtp"]

    def test_its_neighbours_would_have_been_written_so_too(self, excerpt: Any, inferencex: Layout) -> None:
        assert inferencex.changelog is not None
        data = excerpt.files["perf-changelog.yaml"]
        written = [changelog.text_of(Entry(keys=tuple(entry["config-keys"]), description=tuple(entry["description"]),
                                           link=entry["pr-link"], scenarios=tuple(entry["scenario-type"])), inferencex.changelog)
                   for entry in yaml.safe_load(data)]
        assert "\n".join(written).encode() == data

    def test_ours_has_its_own_words(self, own: Layout) -> None:
        assert own.changelog is not None
        made = changelog.append(b"", Entry(keys=("a",), description=("Update.",), link="https://x.example/pull/1"), own.changelog)
        assert made == b'- recipes:\n    - a\n  description:\n    - "Update."\n  pull: https://x.example/pull/1\n'

    def test_adds_no_second_blank_line(self) -> None:
        assert changelog.append(BASE + b"\n", ENTRY, HOUSE).count(b"\n\n") == 1

    @pytest.mark.parametrize("base", [BASE.rstrip(b"\n"), BASE.replace(b"\n", b"\r\n"), BASE + b"\t\n", BASE + b"\0\n", b"a: 1\n"])
    def test_refuses_a_file_that_breaks_the_rules_already(self, base: bytes) -> None:
        with pytest.raises(BadInput, match="perf-changelog.yaml"):
            changelog.append(base, ENTRY, HOUSE)

    @pytest.mark.parametrize("change", [{"keys": ()}, {"keys": ("k*",)}, {"description": ()}, {"description": ("a\nb",)},
                                        {"description": ("tab\there",)}, {"link": "two words"}, {"link": "a: b"}, {"link": ""},
                                        {"link": "https://github.com/other/repo/pull/1"},
                                        {"scenarios": ("agentic",)}])
    def test_refuses_an_entry_that_would_break_them(self, change: dict[str, Any]) -> None:
        fields = {"keys": ENTRY.keys, "description": ENTRY.description, "link": ENTRY.link, **change}
        with pytest.raises(BadInput):
            changelog.append(BASE, Entry(**fields), HOUSE)

    @given(lines=st.lists(st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1)
                          .filter(lambda text: bool(text.strip())), min_size=1, max_size=4),
           keys=st.lists(st.from_regex(r"[a-z][a-z0-9.-]{0,12}", fullmatch=True), min_size=1, max_size=3, unique=True),
           times=st.integers(1, 3))
    def test_is_a_prefix_always_and_reads_back_as_written(self, lines: list[str], keys: list[str], times: int) -> None:
        made = BASE
        for _ in range(times):
            longer = changelog.append(made, Entry(keys=tuple(keys), description=tuple(lines), link=LINK), HOUSE)
            assert longer.startswith(made) and changelog.check(made, longer, HOUSE) == ()
            made = longer
        last = yaml.safe_load(made)[-1]
        assert last == {"config-keys": keys, "description": lines, "pr-link": LINK}


NEXT = changelog.append(BASE, ENTRY, HOUSE)


class TestChecking:
    @pytest.mark.parametrize(("head", "problem"), [
        (NEXT.rstrip(b"\n"), "does not end with a newline"),
        (NEXT + b"\n", "ends with a blank line"),
        (NEXT.replace(b"\n\n- config", b"\n- config"), "exactly one blank line"),
        (NEXT.replace(b"\n\n- config", b"\n\n\n- config"), "exactly one blank line"),
        (NEXT.replace(b"old-key", b"new-key"), "history changed"),
        (NEXT.replace(b'- "One', b'-  "One'), "bytes of history changed"),
        (NEXT.replace(LINK.encode(), b"TBD"), "pr-link is TBD"),
        (NEXT.replace(b"  description:\n    - \"Update", b"  note: x\n  description:\n    - \"Update"), "unknown field note"),
        (NEXT.replace(b"\n    - k1\n    - k1-mtp", b" k1"), "config-keys is no list"),
        (NEXT.replace(b"    - agentic-coding", b"    - agentic"), "no list of fixed-seq-len, agentic-coding"),
        (NEXT.replace(b"  description:\n    - \"Update", b"  evals-only: maybe\n  description:\n    - \"Update"), 'is "maybe", not true or false'),
        (NEXT.replace(b"  description:\n    - \"Update", b"  evals-only: 0\n  description:\n    - \"Update"), "is 0, not true or false"),
        (BASE + b"---\n" + BASE, "not one list"),
        (NEXT[len(BASE) + 1:] + b"\n" + BASE, "history changed"),
        (BASE.replace(b"old-key", b"new-key"), "nothing is appended"),
        (NEXT.replace(b"  pr-link: " + LINK.encode(), b"  pr-link: " + LINK.encode() + b"\n  pr-link: x"), "stands twice"),
        (b"", "entries were deleted"), (b"# nothing yet\n", "entries were deleted"),
    ])
    def test_tells_what_is_wrong(self, head: bytes, problem: str) -> None:
        assert any(problem in said for said in changelog.check(BASE, head, HOUSE))

    @pytest.mark.parametrize("more", [b"evals-only: true", b"append-only: false", b"scenario-type:"])
    def test_fields_that_the_house_knows_may_stand_there(self, more: bytes) -> None:
        head = NEXT.replace(b"  scenario-type:\n    - agentic-coding\n", b"  " + more + b"\n")
        assert changelog.check(BASE, head, HOUSE) == ()

    def test_an_old_link_may_be_corrected_alone(self) -> None:
        placeholder = BASE.replace(b"pull/1\n", b"pull/XXX\n")
        assert changelog.check(placeholder, BASE, HOUSE) == ()
        assert changelog.check(BASE, placeholder, HOUSE)
        mixed = changelog.append(BASE, ENTRY, HOUSE)
        assert changelog.check(placeholder, mixed, HOUSE)

    def test_another_pull_requests_link_is_not_ours(self) -> None:
        assert changelog.check(BASE, NEXT, HOUSE, link=LINK.replace("2900", "2901"))


class TestMainMovesOn:
    OTHER = Entry(keys=("k2",), description=("Other.",), link=LINK.replace("2900", "2800"))

    def test_the_state_says_what_to_do(self) -> None:
        main = changelog.append(BASE, self.OTHER, HOUSE)
        assert changelog.state(BASE, BASE, ENTRY, HOUSE) == "absent"
        assert changelog.state(BASE, NEXT, ENTRY, HOUSE) == "present"
        assert changelog.state(main, NEXT, ENTRY, HOUSE) == "behind"
        assert changelog.state(BASE, NEXT, replace(ENTRY, link=LINK[:-1]), HOUSE) == "absent"

    def test_both_of_two_entries_survive(self) -> None:
        main = changelog.append(BASE, self.OTHER, HOUSE)
        made = changelog.sync(main, ENTRY, HOUSE)
        assert made.startswith(main) and changelog.state(main, made, ENTRY, HOUSE) == "present"
        assert [entry["config-keys"] for entry in yaml.safe_load(made)] == [["old-key"], ["k2"], ["k1", "k1-mtp"]]

    def test_a_main_that_holds_it_already_stays(self) -> None:
        assert changelog.sync(NEXT, ENTRY, HOUSE) == NEXT
