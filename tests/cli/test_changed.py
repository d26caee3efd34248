"""matrix --changed: what runs otherwise than at an earlier revision."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli import worlds
from tests.cli.shell import ROOT, Done, bumpbot
from tests.cli.test_movable import KEY, LINKED


def git(repo: Path, *argv: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *argv], cwd=repo, check=True, capture_output=True)


def changed(repo: Path, *argv: str, base: str = "base") -> Done:
    return bumpbot("--repo", repo, "--layout", "own", "matrix", "--changed", base, "--format", "json", *argv)


def cells(done: Done) -> list[tuple[str, int, str]]:
    assert done.code == 0, done.err
    return [(point["recipe"], point["concurrency"], point["kind"]) for point in done.json]


@pytest.fixture
def tracked(repo: Path) -> Path:
    """The small repository under git, with a second recipe; the branch `base` is as it was."""
    text = worlds.RECIPE.format(name=worlds.NAME)
    (repo / "recipes" / "other.yaml").write_text(text.replace("name: toy", "name: other"))
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "a"), ("branch", "base")):
        git(repo, *words)
    return repo


def edited(repo: Path, old: str, new: str) -> Path:
    file = repo / "recipes" / "toy.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return repo


class TestWhatRunsOtherwise:
    @pytest.mark.parametrize(("old", "new"), [(":v1.0.0", ":v1.1.0"), ("kind: chat", "kind: chat, output: 64"),
                                              ("hardware:", "serve: {args: {tp: 2}}\nhardware:"), ("gpus: 4", "gpus: 8")])
    def test_is_the_whole_recipe_where_its_server_changed(self, tracked: Path, old: str, new: str) -> None:
        assert cells(changed(edited(tracked, old, new))) == [
            ("toy", 1, "throughput"), ("toy", 16, "throughput"), ("toy", 16, "eval")]

    def test_is_one_point_where_its_requests_changed(self, tracked: Path) -> None:
        assert cells(changed(edited(tracked, "16: 32", "16: 64"))) == [("toy", 16, "throughput")]

    def test_is_the_eval_where_its_gate_changed(self, tracked: Path) -> None:
        assert cells(changed(edited(tracked, "threshold: 0.9", "threshold: 0.91"))) == [("toy", 16, "eval")]
        assert cells(changed(edited(tracked, "0.91", "0.9, metric: exact_match,strict-match"))) == [("toy", 16, "eval")]

    def test_is_no_comment_and_no_policy(self, tracked: Path) -> None:
        done = changed(edited(tracked, "# Measured since spring.\n", "# Measured since June.\npolicy: {channel: nightly}\n"))
        assert cells(done) == [] and "nothing that runs changed since base" in done.err

    def test_is_counted_from_the_working_tree_and_not_from_what_is_committed(self, tracked: Path) -> None:
        edited(tracked, ":v1.0.0", ":v1.1.0")
        git(tracked, "commit", "-qam", "b")
        assert cells(changed(tracked, base="HEAD")) == [] != cells(changed(tracked, base="HEAD~1"))

    def test_of_a_smoke_is_what_the_smoke_would_run_of_it(self, tracked: Path) -> None:
        done = changed(edited(tracked, "16: 32", "4: 8, 16: 64"), "--smoke")
        assert [(point["concurrency"], point["stage"]) for point in done.json] == [(4, 2), (16, 3)]

    def test_of_a_recipe_named_is_that_ones(self, tracked: Path) -> None:
        assert cells(changed(edited(tracked, ":v1.0.0", ":v1.1.0"), "other")) == []


class TestRecipesThatCameAndWent:
    def test_a_new_one_counts_whole(self, tracked: Path) -> None:
        (tracked / "recipes" / "new.yaml").write_text(worlds.RECIPE.format(name=worlds.NAME).replace("name: toy", "name: new"))
        assert [cell[0] for cell in cells(changed(tracked))] == ["new"] * 3

    def test_one_that_is_gone_is_told(self, tracked: Path) -> None:
        (tracked / "recipes" / "other.yaml").unlink()
        done = changed(tracked)
        assert cells(done) == [] and "other is gone since base" in done.err

    def test_one_that_could_not_be_read_then_counts_whole(self, tracked: Path) -> None:
        git(tracked, "checkout", "-q", "base")
        edited(tracked, "requests: {1: 8", "requests: {0: 8")
        git(tracked, "commit", "-qam", "broken")
        git(tracked, "checkout", "-q", "main")
        done = changed(tracked)
        assert [cell[0] for cell in cells(done)] == ["toy"] * 3 and "toy cannot be read at the base" in done.err


class TestAFileThatNobodyCanRead:
    @pytest.mark.parametrize("text", ["x: [\n", "<<<<<<< ours\n", "a:\tb\n\tc: 1\n"])
    def test_is_refused_and_not_taken_for_recipes_that_are_gone(self, tracked: Path, text: str) -> None:
        file = tracked / "recipes" / "toy.yaml"
        file.write_text(file.read_text() + text)
        done = changed(tracked)
        assert done.code == 1 and done.out == "" and "recipes/toy.yaml:" in done.line
        assert cells(changed(tracked, "other")) == []

    def test_is_refused_where_it_names_no_recipe(self, tracked: Path) -> None:
        file = tracked / "recipes" / "toy.yaml"
        file.write_text(file.read_text().replace("name: toy", "nmae: toy"))
        done = changed(tracked)
        assert done.code == 1 and "recipes/toy.yaml: no recipe stands here: nothing is at .name" in done.line

    def test_at_the_base_makes_its_points_new(self, tracked: Path) -> None:
        file = tracked / "recipes" / "toy.yaml"
        whole = file.read_text()
        git(tracked, "checkout", "-q", "base")
        file.write_text("[")
        git(tracked, "commit", "-qam", "broken")
        git(tracked, "checkout", "-q", "main")
        assert file.read_text() == whole
        done = changed(tracked)
        assert [cell[0] for cell in cells(done)] == ["toy"] * 3 and "not read at the base" in done.err


class TestBadInput:
    @pytest.mark.parametrize("base", ["nope", "--help", "HEAD:recipes", "", "@{u}"])
    def test_what_is_no_revision_is_a_bad_argument(self, tracked: Path, base: str) -> None:
        done = bumpbot("--repo", tracked, "--layout", "own", "matrix", f"--changed={base}")
        assert done.code == 2 and "is no commit of" in done.line

    def test_a_folder_without_history_is_told(self, repo: Path) -> None:
        done = changed(repo, base="HEAD")
        assert done.code == 2 and "is not the top folder of a git repository" in done.line

    def test_without_a_recipe_and_without_a_base_there_is_nothing_to_do(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "matrix")
        assert done.code == 2 and "name one, or ask for what changed: --changed BASE" in done.line


class TestAGuest:
    def test_is_compared_row_by_row(self, tmp_path: Path) -> None:
        source = ROOT / "tests" / "recipe" / "data" / "inferencex"
        for file in source.rglob("*"):
            if file.is_file():
                at = tmp_path / "guest" / file.relative_to(source)
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_bytes(file.read_bytes())
        guest = tmp_path / "guest"
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "a")):
            git(guest, *words)
        key = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
        moved = bumpbot("--repo", guest, "--layout", "inferencex", "edit", key, "--image", "vllm/vllm-openai:v0.27.0", "--write")
        assert moved.code == 0, moved.err
        done = bumpbot("--repo", guest, "--layout", "inferencex", "matrix", "--changed", "HEAD", "--format", "json")
        assert {point["recipe"] for point in done.json} == {key} and len(done.json) == 6

    def test_counts_what_its_linked_files_say_and_no_comment_in_them(self, tmp_path: Path) -> None:
        guest = tmp_path / "guest"
        shutil.copytree(ROOT / "tests" / "recipe" / "data" / "inferencex", guest)
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "a")):
            git(guest, *words)
        file = guest / LINKED
        argv = ("--repo", guest, "--layout", "inferencex", "matrix", "--changed", "HEAD", "--format", "json")
        file.write_text("# more\n" + file.read_text())
        assert bumpbot(*argv).json == []
        file.write_text(file.read_text() + "more: 1\n")
        assert {point["recipe"] for point in bumpbot(*argv).json} == {KEY}
