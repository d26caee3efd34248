"""What the README tells is what the tree does, in both languages alike."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.layout import Scans, load, wanted
from bot.preflight import kept

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "README_zh.md", "CONTRIBUTING.md")
ENGLISH, CHINESE = ((ROOT / name).read_text(encoding="utf-8") for name in PAGES[:2])


def tokens(text: str) -> list[Token]:
    """Every token of a page, those inside a line too."""
    flat = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        flat += [token, *(token.children or [])]
    return flat


def spans(text: str) -> Counter[str]:
    """Code spans: commands, paths, names."""
    return Counter(token.content for token in tokens(text) if token.type == "code_inline")


def blocks(text: str) -> list[str]:
    """Fenced blocks, as they are copied into a terminal or a file."""
    return [token.content for token in tokens(text) if token.type == "fence"]


def commands(text: str) -> list[str]:
    """First column of the command table."""
    table = re.search(r"\n\| (?:command|命令) \|.*?\n\n", text, re.DOTALL)
    assert table
    return re.findall(r"^\| `([^`]+)` \|", table.group(), re.MULTILINE)


def words(command: str) -> list[str]:
    """`ledger show [BUMP]` is called as `ledger show`."""
    return [word for word in command.replace("\\|", "|").split() if re.fullmatch(r"[a-z-]+", word) and word[0] != "-"]


class TestBothLanguages:
    def test_name_the_same_commands_paths_and_options(self) -> None:
        assert spans(ENGLISH) == spans(CHINESE)

    def test_show_the_same_blocks(self) -> None:
        assert blocks(ENGLISH) == blocks(CHINESE) != []

    def test_have_the_same_sections_tables_and_steps(self) -> None:
        shapes = [
            [token.tag for token in tokens(text) if token.type in ("heading_open", "tr_open", "list_item_open")]
            for text in (ENGLISH, CHINESE)
        ]
        assert shapes[0] == shapes[1]

    def test_give_the_same_numbers(self) -> None:
        english, chinese = (Counter(re.findall(r"\d+(?:[./]\d+)*", text)) for text in (ENGLISH, CHINESE))
        assert english == chinese

    @pytest.mark.parametrize("name", PAGES)
    def test_render_without_stray_marks(self, name: str) -> None:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert [token.content for token in tokens(text) if token.type == "text" and "**" in token.content] == []

    @pytest.mark.parametrize("name", PAGES)
    def test_link_only_to_files_that_exist(self, name: str) -> None:
        text = (ROOT / name).read_text(encoding="utf-8")
        targets = [str(token.attrs["href"]) for token in tokens(text) if token.type == "link_open"]
        assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


class TestPromises:
    def test_the_ten_lines_are_those_that_the_workflow_tests_run(self) -> None:
        example = (ROOT / "tests/workflows/examples/stranger.yml").read_text(encoding="utf-8")
        assert example in blocks(ENGLISH) and len(example.splitlines()) == 10

    def test_its_layout_and_the_policies_beside_it_hold(self) -> None:
        layout, policies = (block for block in blocks(ENGLISH) if block.startswith(("version: 1", "policy:")))
        found = load(layout + policies, file="README.md")
        assert wanted(found, "kimi-k3").reason == "waits for a kernel" and wanted(found, "glm5-x").every_days == 14
        assert found.scans == Scans(every_hours=24, begin=0)

    def test_the_tree_has_what_its_table_lists(self) -> None:
        table = ENGLISH[ENGLISH.index("| path | holds |"):].split("\n\n")[0]
        paths = [path for line in table.splitlines()[2:] for path in re.findall(r"`([^`]+)`", line.split("|")[1])]
        assert len(paths) > 5
        assert [path for path in paths if not (ROOT / path).exists()] == []

    def test_make_knows_every_target_told(self) -> None:
        told = set(re.findall(r"\bmake ([a-z]+)", "\n".join([*spans(ENGLISH), *blocks(ENGLISH)])))
        known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {"demo", "test"} <= told <= known

    @pytest.mark.skipif(not (ROOT / "bot" / "cli").exists(), reason="bot/cli does not exist yet")
    @pytest.mark.parametrize("command", commands(ENGLISH))
    def test_every_command_of_the_table_has_help(self, command: str) -> None:
        argv = [sys.executable, "-m", "bot", *words(command), "--help"]
        shown = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert shown.returncode == 0, shown.stderr
        assert words(command)[-1] in shown.stdout


    @pytest.mark.skipif(not (ROOT / "bot" / "cli").exists(), reason="bot/cli does not exist yet")
    def test_the_table_leaves_no_command_out(self) -> None:
        argv = [sys.executable, "-m", "bot", "--help"]
        shown = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60).stdout
        listed = re.findall(r"^  ([a-z-]+)  ", shown[shown.index("Commands:"):], re.MULTILINE)
        assert set(listed) == {words(command)[0] for command in commands(ENGLISH)}


class TestContributing:
    BLOCKS = [token.content for token in tokens((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) if token.type == "fence"]

    def block(self, start: str) -> str:
        found, = (block for block in self.BLOCKS if block.startswith(start))
        return found

    def test_its_preflight_keys_hold_beside_the_layout_of_the_readme(self) -> None:
        layout = next(block for block in blocks(ENGLISH) if block.startswith("version: 1"))
        found = load(layout + self.block("preflight:"), file="CONTRIBUTING.md").preflight
        assert found.coupled[0].name == "dynamo" and found.certify.file and found.staging.file and set(found.off) == {"capacity"}

    def test_the_files_that_they_name_have_the_shapes_that_are_told(self) -> None:
        assert kept.staged(self.block("staged:").encode(), "staged.yaml")[0].locked
        assert kept.loads(self.block("loads:").encode(), "loads.yaml")[0].idle == 4
        assert [one.recipe for one in kept.certified(self.block("certified:").encode(), "certify.yaml", ["dsv4-a", "b"])] == ["dsv4-a"]


class TestContinuousIntegration:
    RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    def test_runs_the_command_that_both_readmes_tell(self, tmp_path: Path) -> None:
        extraction = next(line for line in self.RUN.splitlines() if line.startswith("command=$("))
        for name in PAGES[:2]:
            (tmp_path / "README.md").write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
            shown = subprocess.run(["bash", "-c", f'{extraction}; printf "%s" "$command"'], cwd=tmp_path,
                                   capture_output=True, text=True, timeout=20)
            assert shown.stdout == "make test"

    def test_holds_no_test_command_of_its_own(self) -> None:
        assert "pytest" not in self.RUN
        assert "make test" not in self.RUN

    def test_says_what_it_does_not_run(self) -> None:
        assert all(name in self.RUN for name in ("AIPerf", "lm-eval", "Renovate", "browser", "not run:"))

    def test_workflows_pin_actions_by_commit_and_grant_nothing_at_the_top(self) -> None:
        text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
        uses = re.findall(r"uses: *(.*)", text)
        assert uses
        assert [use for use in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", use)] == []
        assert re.search(r"^permissions: \{\}$", text, re.MULTILINE)
        assert "bash .ci/run" in text
