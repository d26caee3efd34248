"""The last look at the bytes: what starts other people's bots, calls people or hides from a reader is never posted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.render.check import check
from tests.render.catalogue import CATALOGUE, FORBIDDEN, renderer

AROUND = st.text(alphabet="ab 中。(\n", max_size=12)
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}


def refused(text: str) -> str:
    with pytest.raises(RuntimeError) as raised:
        check(text, FORBIDDEN)
    assert "nothing was posted" in str(raised.value)
    return str(raised.value)


class TestTriggerPhrases:
    @given(AROUND, st.sampled_from(FORBIDDEN), AROUND, st.data())
    def test_are_found_in_any_case_and_any_width(self, before: str, phrase: str, after: str, data: st.DataObject) -> None:
        letters = [data.draw(st.sampled_from([letter.lower(), letter.upper(), letter, letter.translate(WIDE)]))
                   for letter in phrase]
        refused(f"{before} {''.join(letters)} {after}")

    @pytest.mark.parametrize("text", ["`@claude`", "x @CLAUDE please", "run /reuse-sweep-run 5", "/STAGE-RESULTS", "＠ｃｌａｕｄｅ",
                                      "&#64;claude",
                                      "As a  PR reviewer\nand CODEOWNER", "As\u00a0a PR reviewer and CODEOWNER",
                                      "𝐀s a PR reviewer and CODEOWNER"])
    def test_in_code_or_wrapped_or_spelt_otherwise(self, text: str) -> None:
        refused(text)

    def test_that_only_resemble_one_pass(self) -> None:
        text = "Klaud Cold and claude say: a PR reviewer reuses a sweep run\n"
        assert check(text, FORBIDDEN) == text

    def test_of_no_layout_forbid_nothing(self) -> None:
        assert check("`/stage-results`", ()) == "`/stage-results`"


class TestMentions:
    @given(AROUND, st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}", fullmatch=True), AROUND)
    def test_outside_code_are_refused(self, before: str, login: str, after: str) -> None:
        name = "x" + login  # `sha256` is no login of anybody's
        glued = before[-1:].isascii() and (before[-1:].isalnum() or before[-1:] == "_")
        text = f"{before}@{name}{after}"
        if glued:
            assert check(text, ()) == text
        else:
            with pytest.raises(RuntimeError, match="mention"):
                check(text, ())

    @pytest.mark.parametrize("text", ["@bob", "由@bob处理", "see /@bob", "a.@bob", "-@bob", "(@bob)", "@@bob", "@org/team", "＠bob",
                                      "&commat;bob", "\\@bob",
                                      "`a`@bob", "` @bob", "\\`@bob\\`", "``@bob", "`a\n@bob`"])
    def test_as_the_forge_reads_them(self, text: str) -> None:
        assert "mention" in refused(text)

    @pytest.mark.parametrize("text", ["`@bob`", "vllm/vllm-openai:x@sha256:42e17a3c", "mail me at a@b.example",
                                      "`a` and `x @bob y`", "3 @ 5", "@ bob"])
    def test_that_are_none_pass(self, text: str) -> None:
        assert check(text, FORBIDDEN) == text


class TestCharactersNobodySees:
    @given(AROUND, st.characters(categories=["Cc", "Cf", "Co", "Zl", "Zp"], exclude_characters="\n"), AROUND)
    def test_are_refused(self, before: str, letter: str, after: str) -> None:
        with pytest.raises(RuntimeError, match="control character"):
            check(f"{before}{letter}{after}", ())

    @pytest.mark.parametrize("letter", ["\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\u2028", "\x85", "\x1b", "\r", "\t",
                                        "\U000e0041"])
    def test_for_example(self, letter: str) -> None:
        assert unicodedata.category(letter) in {"Cc", "Cf", "Zl"}
        assert f"U+{ord(letter):04X}" in refused(f"a{letter}b")


class TestHiddenMarkers:
    @pytest.mark.parametrize("text", ["<!-- bumpbot:end -->", "`<!-- x -->`", "&lt;!-- x", "＜!--"])
    def test_are_for_the_one_who_posts(self, text: str) -> None:
        assert "hidden marker" in refused(text)


GOOD = "| a | b |\n| --- | ---: |\n| 1 | 2 |\n"


class TestTables:
    @pytest.mark.parametrize("text", [GOOD, f"x\n\n{GOOD}\ny\n", f"{GOOD}\n{GOOD}", "| a |\n| --- |\n| x \\| y |\n", "a | b"])
    def test_that_hold_pass(self, text: str) -> None:
        assert check(text, FORBIDDEN) == text

    @pytest.mark.parametrize(("text", "line"), [
        (GOOD.replace("| 1 | 2 |", "| 1 | 2 | 3 |"), 3),
        (GOOD.replace("| 1 | 2 |", "| 1 |"), 3),
        (GOOD.replace("| 1 | 2 |", "| 1\n2 | 2 |"), 3),
        (GOOD + "and so on", 4),
        (GOOD.replace("| --- | ---: |\n", ""), 1),
        (GOOD.replace("---:", "--:"), 1),
        ("a\n\n" + GOOD.replace("2 |", "2"), 5),
    ])
    def test_that_break_are_refused_with_their_line(self, text: str, line: int) -> None:
        assert f"table that breaks at its line {line}:" in refused(text)


class TestARenderer:
    def test_checks_every_part_and_the_title(self) -> None:
        for text in ("@claude", "x\u202ey"):
            with pytest.raises(RuntimeError):
                renderer().parts(replace(CATALOGUE["the body"], engine=text))
            with pytest.raises(RuntimeError):
                renderer().title(replace(CATALOGUE["the body"], recipe=text))

    def test_takes_the_phrases_of_the_layout(self) -> None:
        with pytest.raises(RuntimeError, match="trigger phrase"):
            renderer(forbidden=("SMOKE passed",)).parts(CATALOGUE["the body"])
