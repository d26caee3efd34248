"""The rendered texts as CommonMark with tables: what is meant as bold, list, table or fold is one, and nothing else is."""

from __future__ import annotations

import re
from functools import cache

import pytest
from markdown_it import MarkdownIt

from bot.model.outcome import Cause, Outcome
from tests.render.catalogue import CATALOGUE, PROPOSAL, SWEEP, final, renderer
from tests.render.figures import RUNS
from tests.render.markdown import blocks, inline, tables

STYLES = ("full", "folded")
FULL = renderer()
ALL = pytest.mark.parametrize("name", CATALOGUE)
HTML = ["<details><summary>中文</summary>\n", "</details>\n"]
WIDE = tuple("，。：；！？、）】」』…")


RENDERERS = {style: renderer(style) for style in STYLES}


@cache
def text_of(style: str, name: str) -> str:
    (part,) = RENDERERS[style].parts(CATALOGUE[name])
    return part


class TestEveryRecordInEveryStyle:
    @ALL
    def test_bold_is_bold(self, name: str) -> None:
        for style in STYLES:
            text = text_of(style, name)
            assert not [token.content for token in inline(text) if token.type == "text" and "**" in token.content]
            assert sum(token.type == "strong_open" for token in inline(text)) == len(re.findall(r"\*\*", text)) // 2
            assert not [bold for bold in re.findall(r"\*\*(.+?)\*\*", text) if bold.endswith(WIDE)]

    @ALL
    def test_tables_are_tables_and_every_row_has_the_cells_of_its_head(self, name: str) -> None:
        for style in STYLES:
            text = text_of(style, name)
            found = tables(text)
            assert all(len(row) == len(table[0]) for table in found for row in table)
            assert sum(len(table) + 1 for table in found) == len(re.findall(r"(?m)^\|", text))
            assert all(cell.strip() for table in found for row in table for cell in row)

    @ALL
    def test_lists_are_lists_and_tight(self, name: str) -> None:
        for style in STYLES:
            lines = text_of(style, name).split("\n")
            apart = [line for before, line in zip(lines, lines[1:], strict=False)
                     if line.startswith("- ") and before and not before.startswith("- ")]
            assert not apart
            items = [token for token in blocks("\n".join(lines)) if token.type == "list_item_open"]
            assert len(items) == sum(line.startswith("- ") for line in lines)
            loose = re.findall(r"(?m)^- .*\n\n(?=- )", "\n".join(lines))
            assert not loose

    @ALL
    def test_nothing_becomes_code_a_quote_or_html_by_accident(self, name: str) -> None:
        for style in STYLES:
            found = blocks(text_of(style, name))
            assert not {"code_block", "blockquote_open", "lheading_open"} & {token.type for token in found}
            # A chart stands in a fence of its own, and is drawn; nothing else does.
            charts = len(getattr(CATALOGUE[name], "curves", ())) * (2 if style == "full" else 1)
            assert [token.info for token in found if token.type == "fence"] == ["mermaid"] * charts
            assert [token.content for token in found if token.type == "html_block"] == (HTML if style == "folded" else [])
            assert not [token for token in inline(text_of(style, name)) if token.type == "html_inline"]
            assert all(token.markup == "##" or token.markup == "###" for token in found if token.type == "heading_open")

    @ALL
    def test_blanks_are_where_they_mean_something(self, name: str) -> None:
        for style in STYLES:
            text = text_of(style, name)
            assert "\n\n\n" not in text
            assert not re.search(r"[ \t]\n", text)
            assert not re.search(r"(?m)^[ \t]", text)
            assert not re.search(r"(?<=\S)  +(?=\S)", text)
            assert text == text.strip() + "\n"

    @ALL
    def test_sentences_end_once(self, name: str) -> None:
        for style in STYLES:
            words = re.sub(r"`[^`]*`|\]\([^)]*\)", "x", text_of(style, name))
            assert not re.search(r"\.\.|。。|,,|，，|;;|；；|\.。|。\.|：：| [.,;:](?=\s)| [，。；：]|[，。；：] ", words)


class TestTheTwoStyles:
    def test_full_is_english_a_rule_and_chinese_with_tables_in_both(self) -> None:
        text = text_of("full", "the body")
        english, chinese = text.split("\n---\n")
        assert len(tables(english)) == len(tables(chinese)) == 2
        assert [token.type for token in blocks(text)].count("hr") == 1
        assert "**State:**" in english and "**状态**：" in chinese

    def test_folded_draws_tables_once_and_folds_the_chinese_prose(self) -> None:
        text = text_of("folded", "the body")
        english, chinese = text.split("<details><summary>中文</summary>\n")
        assert len(tables(english)) == 2 and not tables(chinese)
        assert chinese.count("见上表。") == 2
        assert "**状态**：" in chinese and chinese.endswith("\n</details>\n")

    def test_a_folded_smoke_of_several_points_points_to_its_tables_once_a_place(self) -> None:
        chinese = renderer("folded").half(CATALOGUE["a smoke of several points"], "zh", tables=False)
        assert chinese.count("见上表。") == 2  # the points and the evals

    def test_the_style_changes_the_frame_alone(self) -> None:
        english = {style: renderer(style).half(PROPOSAL, "en") for style in STYLES}
        assert english["full"] == english["folded"]
        assert all(english[style] in text_of(style, "the body") for style in STYLES)


class TestBoldBeforeChinese:
    """CommonMark closes bold only where the flanking rules allow it: `**状态：**已` shows its asterisks."""

    def test_the_parser_of_these_tests_sees_the_fault(self) -> None:
        wrong, right = (MarkdownIt("commonmark").render(text) for text in ("**状态：**已验证", "**状态**：已验证"))
        assert "**" in wrong and "<strong>状态</strong>：" in right


class TestWhatADiagnosisContradictsIsNotSaid:
    def test_nothing_speaks_of_proof_beside_a_proven_cause(self) -> None:
        one = FULL
        for name, record in CATALOGUE.items():
            text = one.half(record, "en") + one.half(record, "zh")
            told = "does not prove" in text or "不能证明" in text
            assert told == (name.startswith("last words, ") and f"unproven-{record.outcome.value}" in UNPROVEN
                            and record.why is None)

    def test_a_merge_or_a_newer_candidate_is_no_interruption(self) -> None:
        for outcome in (Outcome.MERGED, Outcome.SUPERSEDED, Outcome.VALIDATED, Outcome.HANDED_OFF):
            text = FULL.half(final(outcome, Cause.PERSON, proven=False, why=None), "en")
            assert "prove" not in text

    def test_a_known_class_is_never_called_an_unknown_error(self) -> None:
        text = FULL.half(CATALOGUE["an initial attempt that failed"], "en")
        assert text.count("fits no known signature") == 1

    def test_void_figures_say_that_they_are_void(self) -> None:
        assert "void as evidence" in text_of("full", "a sweep that failed its gate")
        assert "void" not in text_of("full", "a sweep that runs")


UNPROVEN = {f"unproven-{word}" for word in ("budget-exhausted", "readiness-blocked", "capacity-deferred", "uncertain", "stopped",
                                            "closed-by-maintainer", "crashed")}


class TestEveryNumberHasItsUnitAndSource:
    def test_the_heads_of_tables_carry_unit_statistic_and_direction(self) -> None:
        (head, *_), *_ = tables(text_of("full", "the body"))
        assert head == ["Conc", "total tput / GPU (tok/s/GPU) ↑", "output throughput (tok/s) ↑", "median TTFT (s) ↓",
                        "median ITL (s) ↓",
                        "median interactivity (tok/s/user) ↑"]

    def test_a_mean_says_that_it_is_one(self) -> None:
        assert "mean TTFT (s) ↓" in text_of("full", "the body of a bare baseline")

    def test_the_seeds_table_comes_out_to_the_digit(self) -> None:
        rows = next(table for table in tables(text_of("full", "a sweep that runs")) if table[0][1].startswith("total"))
        assert rows[1][:6] == ["1", "917.3 → 971.0 (+5.8%)", "112.3 → 117.4 (+4.6%)", "2.158 → 1.589 (-26.4%)",
                               "0.00448 → 0.00428 (-4.5%)", "223.2 → 233.6 (+4.7%)"]

    def test_points_name_the_runs_on_both_sides(self) -> None:
        for name in ("a sweep that runs", "a repair that passed"):
            text = text_of("full", name)
            assert f"(run {CATALOGUE[name].table.runs[0]})" in text and "baseline (run 32424103771)" in text

    def test_every_run_has_its_reason(self) -> None:
        text = text_of("full", "last words, failed")
        rows = next(table for table in tables(text) if table[0][0] == "Run")[1:]
        assert [row[2] for row in rows] == ["dispatch", "dispatch", "push", "label", "unlabel", "ready for review"]
        assert len(rows) == len(RUNS)

    def test_invalid_requests_are_told_by_phase(self) -> None:
        text = text_of("full", "a repair that passed")
        assert "c1, smoke: 7 / 241 requests of the profiling phase invalid (2.9%)" in text
        assert "c1, baseline: 1 / 233 requests of the profiling phase invalid (0.43%); warm-up 10 / 11 invalid" in text

    def test_a_link_loses_its_query_and_is_one_only_to_a_web_address(self) -> None:
        links = [str(token.attrs["href"]) for token in inline(text_of("full", "the body")) if token.type == "link_open"]
        assert set(links) == {"https://github.com/vllm-project/vllm/compare/main...75c2eef"}
        assert SWEEP.runs[0].url in text_of("full", "a sweep that runs")
