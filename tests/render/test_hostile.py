"""Whatever a string of a record holds, tables, code spans, lists and our hidden markers stay what they are."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.lines import Cell, Regression, Table
from bot.model.record import Swept
from bot.model.sweptlines import Curve
from bot.model.text import Text
from bot.render.safe import cell, code, link, name, plain, seen
from tests.render.catalogue import CATALOGUE, TEMPLATES, renderer
from tests.render.markdown import PARSER, blocks, inline, tables

# Strings that stand behind one another in one record. Backticks come last, so that a span which they open hides none of the
# others; each group is short enough that a name which is cut at 120 letters still ends with it; "---" stands alone because its
# letters are harmless ones, which `name` leaves bare.
HOSTILE = (
    ("---",),
    ("$x$", "\u3000", "：**", "a\\", "a`b"),
    ("a|b", "**b**", "x\n- y", "</details>", "> q", "``"),
    ("a\\|b", "_e_", "\t", "<b>", "***", "# h", "```\nx\n```"),
    ("| x |", "~~s~~", "a\r\nb", "[x](https://e.example)", "- l", "="),
    ("a\n\n| b |", "![i](x)", "&amp;", "1. n", "    code"),
    ("<!-- bumpbot:end -->", "`<!-- bumpbot:x:body:1 -->`"),
)
# Words of closed sets and addresses are no free text; a kind, a date or a fingerprint is.
SOME = [name for name in CATALOGUE if not name.startswith(("last words, ", "cleaning up, ", "a stop because", "an answer, ", "an answer to ")) or "failed" in name]
CLOSED = {"phase", "next", "reason", "result", "conclusion", "about", "verdict", "provenance", "cause", "retry", "start", "url",
          "kind", "style", "check", "state", "who", "same", "answer", "how", "doubts"}


def mutated(value: Any, put: Any, field: str = "") -> Any:
    """The record with every free string in it replaced by what `put` makes of it."""
    if isinstance(value, Text):
        return Text(en=put(value.en), zh=put(value.zh))
    if isinstance(value, msgspec.Struct):
        ids = {"metric", "metrics"} if isinstance(value, (Cell, Curve, Regression, Swept, Table)) else set()
        free = [one for one in value.__struct_fields__ if one not in ids]
        return replace(value, **{one: mutated(getattr(value, one), put, one) for one in free})
    if isinstance(value, tuple):
        return tuple(mutated(item, put, field) for item in value)
    if isinstance(value, dict):
        return {f"{key} {put('')}": mutated(item, put, field) for key, item in value.items()}
    if isinstance(value, str) and not isinstance(value, Enum) and field not in CLOSED:
        return put(value)
    return value


def skeleton(text: str) -> Counter[str]:
    """The shape: how many of each block there are, and how wide the tables."""
    shape = Counter(token.type for token in blocks(text) if token.type != "inline")
    shape.update(f"table of {len(rows[0])} x {len(rows)}" for rows in tables(text))
    shape.update(token.type for token in inline(text) if token.type in ("strong_open", "em_open", "image", "html_inline", "s_open"))
    return shape


def html(text: str) -> list[str]:
    return [token.content for token in blocks(text) if token.type == "html_block"]


@cache
def tame(style: str, name: str) -> tuple[Counter[str], list[str]]:
    """The shape and the HTML of a record with every free string a little longer, which changes nothing of them."""
    text = "".join(renderer(style, forbidden=()).parts(mutated(CATALOGUE[name], lambda value: f"{value}x")))
    return skeleton(text), html(text)


class TestEveryRecordWithHostileStrings:
    @pytest.mark.parametrize("style", ["full", "folded"])
    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_keeps_its_shape(self, style: str, hostile: tuple[str, ...]) -> None:
        one, behind = renderer(style, forbidden=(), limit=1_000_000), "".join(f"{each}x" for each in hostile)
        for chosen in SOME:
            shape, marked = tame(style, chosen)
            after = "".join(one.parts(mutated(CATALOGUE[chosen], lambda value: f"{value}{behind}")))
            assert (skeleton(after), html(after)) == (shape, marked), chosen
            assert "<!--" not in after

    @settings(max_examples=60)
    @given(st.sampled_from(SOME), st.data())
    def test_of_any_mixture(self, chosen: str, data: st.DataObject) -> None:
        pieces = st.lists(st.sampled_from([*"`|\\\n*_<>[]()#-!&~$ ab1.", "<!--", "-->", "</details>"]), max_size=8).map("".join)
        shape, _ = tame("full", chosen)
        after = "".join(renderer(forbidden=()).parts(mutated(CATALOGUE[chosen], lambda value: f"{value}{data.draw(pieces)}x")))
        assert skeleton(after) == shape


ANYTHING = st.text(alphabet=st.sampled_from("ab1 `|\\\n*_<>[]()#-+=!&~$.;:/@中：{}%\"'"), max_size=30)


class TestOneValue:
    @given(ANYTHING)
    def test_plain_renders_as_itself(self, value: str) -> None:
        tokens = PARSER.parse(f"x {plain(value)}")
        seen = "".join(child.content for child in tokens[1].children)
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert seen == " ".join(["x", *value.replace("`", "'").split()]).replace("<!--", "<! --")

    @given(ANYTHING)
    def test_plain_starts_no_block_at_the_head_of_a_line(self, value: str) -> None:
        kinds = {token.type for token in PARSER.parse(str(plain(value)))}
        assert kinds <= {"paragraph_open", "inline", "paragraph_close"}

    @given(ANYTHING)
    def test_code_is_one_span_of_the_same_letters(self, value: str) -> None:
        shown = str(code(value))
        wanted = " ".join(value.replace("`", "'").split()).replace("<!--", "<! --")
        if not wanted:
            assert shown == ""
            return
        (span,) = PARSER.parse(f"x {shown}")[1].children[1:]
        assert (span.type, span.content) == ("code_inline", wanted)

    @given(st.lists(ANYTHING, min_size=1, max_size=4), st.booleans())
    def test_a_cell_is_one_cell(self, values: list[str], spans: bool) -> None:
        row = [cell(code(value) if spans else value) for value in values]
        text = f"| {' | '.join('h' for _ in row)} |\n| {' | '.join('---' for _ in row)} |\n| {' | '.join(row)} |"
        (table,) = tables(text)
        assert [len(line) for line in table] == [len(values)] * 2

    @given(ANYTHING)
    def test_what_a_check_saw_is_one_code_span_without_what_others_may_slip_in(self, value: str) -> None:
        shown = seen(value)
        assert not set(shown) & set("`|\\\n") and len(shown) <= 300
        assert all(len(run) <= 120 for run in re.findall(r"[A-Za-z0-9_.:/+-]+", shown))
        (span, *more) = PARSER.parse(f"x {code(shown)}")[1].children[1:] or [None]
        assert span is None or (span.type, more) == ("code_inline", [])

    def test_what_a_check_saw_keeps_our_words_and_cuts_long_runs(self) -> None:
        assert seen("--tp -> --tp-size at a/b.py:3, 2 of 4") == "--tp -> --tp-size at a/b.py:3, 2 of 4"
        assert seen("x" * 121) == "x" * 119 + "…" and seen("x" * 120) == "x" * 120
        assert seen("镜像 a") == "… a"
        assert len(seen("word " * 200)) == 300

    def test_a_phrase_that_must_not_be_posted_is_not_repeated_from_a_check_either(self) -> None:
        line = replace(CATALOGUE["the body with a question"].questions[0], evidence="/reuse-sweep-run", where="w")
        text = renderer().half(replace(CATALOGUE["the body with a question"], questions=(line,), checks=(line,)), "en")
        assert "/reuse-sweep-run" not in text and text.count("not repeated here") == 2

    def test_a_cell_shows_the_pipe_it_was_given(self) -> None:
        (table,) = tables(f"| a |\n| --- |\n| {cell(code('x|y'))} |")
        assert table[1] == ["`x|y`"]
        # Parsers differ on two backslashes before a pipe: one of them takes the pipe for the end of the cell.
        assert cell(code("x\\\\|y")) == "`x\\|y`"

    def test_a_name_of_harmless_letters_is_bare(self) -> None:
        assert name("13.0.1") == "13.0.1"
        assert name("a b") == "`a b`"
        assert len(name("x" * 500)) == 122

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a.example/x y", "https://a.example/)(", "//a.example",
                                     "http://[", "", "https://u@a.example/",
                                     "data:text/html,x", "https://a.example/<!--"])
    def test_what_is_no_plain_address_is_no_link(self, url: str) -> None:
        assert link("x", url) == "x"

    def test_an_address_loses_its_query(self) -> None:
        assert link("x", "https://a.example/b?token=secret#f") == "[x](https://a.example/b)"

    def test_nothing_is_never_printed(self) -> None:
        for value in (None, True):
            with pytest.raises(RuntimeError, match="a template prints"):
                plain(value)

    def test_a_template_that_forgets_a_filter_opens_no_hole(self) -> None:
        careless = {**TEMPLATES, "en/status.md": "{{ about }}", "zh/status.md": "{{ about }}"}
        text = renderer(templates=careless).half(replace(CATALOGUE["a short answer, label-waits"], about="<!-- **x** --> [a](b)"),
                                                 "en")
        assert not re.search(r"(?<!\\)[*<\[]", text)


class TestDatesAreNoStrings:
    def test_so_nothing_of_them_is_mutated(self) -> None:
        assert mutated(datetime(2026, 9, 10), lambda value: "x") == datetime(2026, 9, 10)
