"""layout check and schema, and which layout a command takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest

from bot.recipe import own
from bot.strict import parse
from tests.cli import worlds
from tests.cli.shell import bumpbot


def git(repo: Path, *argv: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *argv], cwd=repo, check=True, capture_output=True)


def committed(repo: Path, branch: str = "main") -> Path:
    git(repo, "init", "--quiet", f"--initial-branch={branch}")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "all")
    return repo


class TestCheck:
    def test_a_layout_that_holds(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "layout", "check")
        assert (done.code, done.err) == (0, "")
        assert "holds: 1 place of recipes, 1 repository of images allowed" in done.out

    @pytest.mark.parametrize(("text", "line"), [
        ("version: 1\npreset: own\nallowed: [x]\n", "3: allowed: unknown key"),
        ("version: 1\npreset: mine\n", "2: preset: no preset is called 'mine'"),
        ("version: 1\npreset: own\nallow:\n  - docker.io/a/b:c\n", "4: allow.0: not a registry/repository"),
        ("version: 1\npreset: own\nbranch: '..'\n", "3: branch: not a branch prefix"),
        ("version: [\n", "not YAML"),
        ("version: 1\nversion: 1\n", "2: version: this key stands twice"),
    ])
    def test_a_fault_is_one_line_with_file_line_and_key(self, repo: Path, text: str, line: str) -> None:
        file = repo / ".github" / "bumpbot.yml"
        file.write_text(text)
        done = bumpbot("layout", "check", file)
        assert done.code == 1
        assert done.line.startswith(f"bumpbot: {file}:") and line in done.line

    def test_a_folder_of_baselines_that_is_none_is_told(self, repo: Path) -> None:
        file = repo / ".github" / "bumpbot.yml"
        file.write_text(f"{file.read_text()}baselines: {{folder: basslines}}\n")
        assert "baselines.folder: no .json or .jsonl file is at basslines" in bumpbot("--repo", repo, "layout", "check").err
        (repo / "basslines" / "2026-09-01").mkdir(parents=True)
        (repo / "basslines" / "2026-09-01" / "rows.jsonl").write_text("")
        assert bumpbot("--repo", repo, "layout", "check").err == ""

    @pytest.mark.parametrize("preset", ["own", "inferencex"])
    def test_the_presets_hold(self, preset: str) -> None:
        assert bumpbot("--layout", preset, "layout", "check").code == 0

    def test_without_a_file_it_says_what_counts_then(self, tmp_path: Path) -> None:
        done = bumpbot("--repo", tmp_path, "layout", "check")
        assert done.code == 0
        assert "there is no" in done.line and "preset own" in done.line


class TestSchema:
    def test_is_json_schema_that_takes_a_good_layout_and_no_unknown_key(self) -> None:
        schema = jsonschema_rs.validator_for(bumpbot("layout", "schema").json)
        good, _ = parse(worlds.LAYOUT.format(name=worlds.NAME), file="x")
        assert schema.is_valid(good)
        assert not schema.is_valid({**good, "foo": 1})

    def test_of_an_own_recipe_is_another(self) -> None:
        found = bumpbot("layout", "schema", "--recipe").json
        assert found == json.loads(json.dumps(own.schema())) and found["$ref"].endswith("OwnRecipe")


class TestWhichLayout:
    """--layout; else the default branch's file; else `own`. The file beside the work is no policy (SECURITY.md rule 1)."""

    def allowed(self, repo: Path, *options: str) -> tuple[bool, str]:
        done = bumpbot("--repo", repo, *options, "edit", "toy", "--image", f"{worlds.NAME}:v1.1.0")
        assert done.code == 0, done.err
        return "is not on the layout's list" not in done.err, done.err

    def test_a_plain_folder_has_its_own(self, repo: Path) -> None:
        assert self.allowed(repo)[0]

    @pytest.mark.parametrize("branch", ["main", "master", "trunk"])
    def test_a_repository_has_its_default_branchs(self, repo: Path, branch: str) -> None:
        committed(repo, branch)
        (repo / ".github" / "bumpbot.yml").write_text("version: 1\npreset: own\nallow: [evil.example/x/y]\n")
        assert self.allowed(repo)[0]

    def test_of_a_clone_it_is_the_remotes(self, repo: Path, tmp_path: Path) -> None:
        git(committed(repo, "trunk"), "clone", "--quiet", str(repo), str(tmp_path / "clone"))
        git(tmp_path / "clone", "checkout", "--quiet", "-b", "main")
        (tmp_path / "clone" / ".github" / "bumpbot.yml").unlink()
        git(tmp_path / "clone", "commit", "--quiet", "--all", "--message", "no layout here")
        assert self.allowed(tmp_path / "clone")[0]

    def test_what_is_not_committed_yet_is_told_and_not_used(self, repo: Path) -> None:
        layout = repo / ".github" / "bumpbot.yml"
        text = layout.read_text()
        layout.unlink()
        committed(repo)
        layout.write_text(text)
        allowed, told = self.allowed(repo)
        assert not allowed and "is not on main yet" in told
        assert self.allowed(repo, "--layout", str(layout))[0]

    @pytest.mark.parametrize("ref", ["FETCH_HEAD", "refs/remotes/pull/1/merge", "refs/remotes/origin/work"])
    def test_of_what_is_checked_out_it_is_not(self, repo: Path, tmp_path: Path, ref: str) -> None:
        here = tmp_path / "here"
        here.mkdir()
        git(here, "init", "--quiet")
        git(here, "fetch", "--quiet", str(committed(repo, "trunk")), f"trunk:{ref}" if ref != "FETCH_HEAD" else "trunk")
        git(here, "checkout", "--quiet", "--detach", ref)
        allowed, told = self.allowed(here)
        assert not allowed and "which branch is the default one is not known here" in told
        assert "git remote set-head origin --auto" in told and f"--layout {here / '.github' / 'bumpbot.yml'}" in told
        assert self.allowed(here, "--layout", str(here / ".github" / "bumpbot.yml"))[0]

    def test_a_repository_without_a_commit_has_own(self, repo: Path) -> None:
        git(repo, "init", "--quiet")
        allowed, told = self.allowed(repo)
        assert not allowed and "is not on any branch yet" in told

    def test_a_repository_without_one_has_own(self, repo: Path) -> None:
        (repo / ".github" / "bumpbot.yml").unlink()
        assert not self.allowed(repo)[0]

    def test_a_fault_on_the_default_branch_names_it(self, repo: Path) -> None:
        (repo / ".github" / "bumpbot.yml").write_text("version: 1\nfoo: 2\n")
        done = bumpbot("--repo", committed(repo), "matrix", "toy")
        assert done.code == 1
        assert done.line.startswith("bumpbot: .github/bumpbot.yml of main:2: foo: unknown key")

    def test_a_bare_repository_has_no_files_to_work_on(self, repo: Path, tmp_path: Path) -> None:
        git(committed(repo), "clone", "--quiet", "--bare", str(repo), str(tmp_path / "bare.git"))
        done = bumpbot("--repo", tmp_path / "bare.git", "matrix", "toy")
        assert done.code == 1 and "bare repository" in done.line
