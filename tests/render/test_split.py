"""A text over the forge's limit becomes parts that each stand alone, and no row is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.render.check import check
from bot.render.split import split
from tests.render.catalogue import CATALOGUE, SWEEP, renderer
from tests.render.figures import INTERIM, run_line
from tests.render.markdown import blocks, tables

OPENED, CLOSED = "<details><summary>中文</summary>\n", "</details>\n"
MANY = tuple(run_line(34460000000 + number, "dispatch", "success") for number in range(900))
SOME = [record for name, record in CATALOGUE.items() if not name.startswith(("last words, ", "cleaning up, ", "a stop because"))]
LONG = replace(CATALOGUE["last words, failed"], runs=MANY)


def bare(part: str) -> str:
    return re.sub(r"\A\(\d+/\d+\)\n\n", "", part)


class TestATextWithinTheLimit:
    def test_stays_whole_and_unnumbered(self) -> None:
        assert split("x" * 100, 100) == ("x" * 100,)


class TestATextOverTheLimit:
    @pytest.mark.parametrize("style", ["full", "folded"])
    def test_becomes_numbered_parts_below_65536_characters(self, style: str) -> None:
        parts = renderer(style).parts(LONG)
        assert len(parts) > 1
        assert [part.split("\n")[0] for part in parts] == [f"({number}/{len(parts)})" for number in range(1, len(parts) + 1)]
        assert all(len(part) < 65_536 for part in parts)

    @pytest.mark.parametrize(("style", "times"), [("full", 2), ("folded", 1)])
    def test_loses_no_row(self, style: str, times: int) -> None:
        whole = "".join(renderer(style).parts(LONG))
        assert all(whole.count(f"[{run.id}/1]") == times for run in MANY)

    def test_every_part_of_a_table_has_its_head(self) -> None:
        for part in renderer("full").parts(LONG):
            assert all(len(table) > 1 for table in tables(part))
            assert part.count("|\n| --- |") == len(tables(part))
            assert re.findall(r"(?m)^\| (?:Run|运行) \|", part)

    @pytest.mark.parametrize("style", ["full", "folded"])
    def test_a_small_limit_cuts_every_record_into_parts_that_stand(self, style: str) -> None:
        one, small = renderer(style), renderer(style, limit=1_200)
        for record in SOME:
            whole = "".join(one.parts(record))
            for part in small.parts(record):
                assert len(part) <= 1_200
                assert part.count(OPENED) == part.count(CLOSED) <= 1
                assert [token.content for token in blocks(part) if token.type == "html_block"] == [OPENED,
                    CLOSED] * part.count(OPENED)
                assert all(line in whole for line in bare(part).split("\n"))

    def test_what_is_folded_is_closed_in_each_part_and_opened_in_the_next(self) -> None:
        progress = tuple(replace(SWEEP.progress[0], running=(f"c{number}",)) for number in range(1500))
        parts = renderer("folded").parts(replace(SWEEP, progress=progress))
        folded = [part for part in parts if OPENED in part]
        assert len(folded) > 1
        assert all(part.endswith(f"\n{CLOSED}") for part in folded)
        assert all(part.startswith(f"({number}/{len(parts)})\n\n") for number, part in enumerate(parts, start=1))

    def test_no_part_ends_in_a_heading_or_in_a_head_without_rows(self) -> None:
        wide = replace(SWEEP, table=replace(INTERIM, lines=INTERIM.lines * 40))
        for limit in range(2_000, 6_000, 397):
            for part in renderer(limit=limit).parts(wide):
                last = part.rstrip("\n").split("\n")[-1]
                assert not last.startswith(("#", "| ---", "| Conc", "| 并发"))

    def test_a_single_line_over_the_limit_is_refused(self) -> None:
        with pytest.raises(RuntimeError, match="longer than a comment may be"):
            split("x" * 500 + "\n", 300)


WORDS = st.text(alphabet="abc中", min_size=1, max_size=20)
TABLE = st.lists(WORDS, min_size=1, max_size=12).map(lambda rows: ["| h |", "| --- |", *(f"| {row} |" for row in rows), ""])
PIECES = st.one_of(WORDS.map(lambda text: [text, ""]), TABLE, WORDS.map(lambda text: [f"## {text}", ""]),
                   st.lists(WORDS, min_size=1, max_size=6).map(lambda items: [*(f"- {item}" for item in items), ""]))


class TestAnyText:
    @given(st.lists(PIECES, min_size=1, max_size=12), st.lists(PIECES, max_size=8), st.integers(min_value=160, max_value=400))
    def test_keeps_every_line_in_its_order_under_its_head(self, before: list[list[str]], folded: list[list[str]],
                                                          limit: int) -> None:
        lines = [line for piece in before for line in piece]
        inner = [line for piece in folded for line in piece]
        text = "\n".join([*lines, OPENED, *inner, CLOSED]) if inner else "\n".join(lines) + "\n"
        parts = split(text, limit)
        assert all(len(part) <= limit for part in parts)
        told = [line for part in parts for line in bare(part).split("\n") if line and not line.startswith("<")
                and line not in ("| h |", "| --- |")]
        assert told == [line for line in [*lines, *inner] if line and line not in ("| h |", "| --- |")]
        for part in parts:
            check(part, ())
            assert len(re.findall(r"(?m)^\| ", part)) == sum(len(table) + 1 for table in tables(part))
