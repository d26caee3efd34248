"""A plain repository under ten lines of layout, worked with as a newcomer would: scan, check, edit, and the edit undone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bot.layout import load
from tests.cli.shell import ROOT, bumpbot
from tests.cli.test_layout import committed, git

LAYOUT = """version: 1
recipes:
  - files: deploy/*.yaml
    key: .metadata.name
    image: [.spec.template.spec.containers.*.image]
  - files: "**/Dockerfile"
allow: [docker.io/vllm/vllm-openai, docker.io/lmsysorg/sglang]
"""
VLLM, SGLANG = "vllm/vllm-openai", "lmsysorg/sglang"
FILES = {
    "deploy/chat.yaml": f"""# Chat, behind its proxy.
apiVersion: v1
kind: Service
metadata: {{name: chat}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  template:
    spec:
      containers:
        - {{name: proxy, image: nginx:1.27}}
        - name: engine
          image: {VLLM}:v0.25.0   # the engine
---
kind: Deployment
metadata: {{name: embed}}
spec: {{template: {{spec: {{containers: [{{image: {VLLM}:v0.24.0}}]}}}}}}
""",
    "deploy/windows.yaml": "kind: Deployment\nmetadata: {name: grüße}\nspec:\n  template:\n    spec:\n      containers:\n"
                           f"      - image: {SGLANG}:v0.5.20\n".replace("\n", "\r\n"),
    "deploy/quoted.yaml": "kind: StatefulSet\nmetadata: {name: 'quoted'}\nspec:\n  template:\n    spec:\n      containers:\n"
                          f"      - name: \"界\"\n        image: '{VLLM}:v0.25.0'",
    "docker/serving/Dockerfile": f"# syntax=docker/dockerfile:1\nARG VERSION=0.25.0\nFROM {VLLM}:v${{VERSION}} AS base\n"
                                 "COPY --from=ghcr.io/astral-sh/uv:0.8 /uv /bin/\nRUN <<EOF\nFROM here\nEOF\nFROM base\n",
}
RECIPES = {"chat": f"{VLLM}:v0.25.0", "embed": f"{VLLM}:v0.24.0", "quoted": f"{VLLM}:v0.25.0", "grüße": f"{SGLANG}:v0.5.20",
           "docker-serving-Dockerfile": f"{VLLM}:v0.25.0"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "plain"
    for name, text in {**FILES, ".github/bumpbot.yml": LAYOUT}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return committed(root)


def files(repo: Path) -> dict[str, bytes]:
    return {name: (repo / name).read_bytes() for name in FILES}


class TestAPlainRepository:
    def test_is_laid_out_in_under_ten_lines(self) -> None:
        assert len(LAYOUT.splitlines()) < 10

    def test_is_scanned_whole(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "--offline", "scan", "--format", "json")
        assert done.code == 0 and {one["recipe"]: one["image"] for one in done.json} == RECIPES
        assert {one["scheme"] for one in done.json} == {"release"}

    def test_is_checked(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "layout", "check")
        assert (done.code, done.err) == (0, "") and "2 places of recipes, 2 repositories of images allowed" in done.out

    @pytest.mark.parametrize("recipe", RECIPES)
    def test_is_edited_to_the_byte_and_back(self, repo: Path, recipe: str) -> None:
        old, before = RECIPES[recipe], files(repo)
        new = old.rpartition(":")[0] + ":v9.9.9"
        done = bumpbot("--repo", repo, "edit", recipe, "--image", new, "--write")
        assert done.code == 0, done.err
        changed = {name: data for name, data in files(repo).items() if data != before[name]}
        assert len(changed) == 1
        for name, data in changed.items():
            assert sum(a != b for a, b in zip(data.split(b"\n"), before[name].split(b"\n"), strict=True)) == 1
            assert data.count(b"9.9.9") == 1
        assert bumpbot("--repo", repo, "edit", recipe, "--image", old, "--write").code == 0
        assert files(repo) == before

    def test_gives_a_diff_that_git_applies(self, repo: Path) -> None:
        for recipe in RECIPES:
            diff = bumpbot("--repo", repo, "edit", recipe, "--image", f"{VLLM}:v9.9.9").out
            subprocess.run(["git", "apply", "--check"], cwd=repo, input=diff.encode("utf-8"), check=True)

    def test_that_the_readme_shows_is_one(self) -> None:
        for page in ("README.md", "README_zh.md"):
            shown = re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
            whole = [text for text in shown if text.startswith("version:")]
            assert whole and all(load(text).recipes and len(text.splitlines()) < 10 for text in whole)


class TestABrokenFile:
    def test_is_told_after_every_other_recipe(self, repo: Path) -> None:
        (repo / "deploy" / "broken.yaml").write_text("metadata: {name: broken\n")
        done = bumpbot("--repo", repo, "--offline", "scan", "--format", "json")
        assert done.code == 1 and len(done.json) == len(RECIPES)
        assert "not read: deploy/broken.yaml:2: not YAML" in done.err and "Traceback" not in done.err
        assert "not every recipe could be read" in done.err.splitlines()[-1]

    def test_stops_no_edit_of_another_recipe(self, repo: Path) -> None:
        (repo / "deploy" / "broken.yaml").write_text("metadata: {name: broken\n")
        done = bumpbot("--repo", repo, "edit", "chat", "--image", f"{VLLM}:v9.9.9")
        assert done.code == 0 and done.out and "note: passed over: deploy/broken.yaml:2: not YAML" in done.err
        assert "the recipe broken cannot be read: deploy/broken.yaml:2" in bumpbot(
            "--repo", repo, "edit", "broken", "--image", f"{VLLM}:v9.9.9").line

    def test_and_a_glob_that_finds_nothing_are_told_by_layout_check(self, repo: Path) -> None:
        (repo / "deploy" / "broken.yaml").write_text("metadata: {name: broken\n")
        layout = repo / ".github" / "bumpbot.yml"
        layout.write_text(LAYOUT.replace("**/Dockerfile", "nowhere/*"))
        done = bumpbot("--repo", repo, "layout", "check")
        assert done.code == 0 and "note: no file fits nowhere/*" in done.err and "note: deploy/broken.yaml:2: not YAML" in done.err

    def test_of_another_repository_is_no_matter_of_a_layout_that_is_only_checked(self, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "layout.yml").write_text(LAYOUT.replace("**/Dockerfile", "nowhere/*"))
        done = bumpbot("--repo", repo, "layout", "check", tmp_path / "layout.yml")
        assert (done.code, done.err) == (0, "")


class TestItsLayout:
    """The file of the default branch counts, wherever the work stands (SECURITY.md rule 1)."""

    EVIL = LAYOUT.replace("docker.io/vllm/vllm-openai, ", "")

    def allows(self, repo: Path) -> bool:
        done = bumpbot("--repo", repo, "edit", "chat", "--image", f"{VLLM}:v9.9.9")
        assert done.code in (0, 1), done.err
        return done.code == 0 and "not on the layout's list" not in done.err

    def evil(self, repo: Path, branch: str) -> None:
        git(repo, "checkout", "--quiet", "-b", branch)
        (repo / ".github" / "bumpbot.yml").write_text(self.EVIL)
        git(repo, "commit", "--quiet", "--all", "--message", "another list")

    def test_on_another_branch_is_the_default_branchs(self, repo: Path) -> None:
        self.evil(repo, "topic")
        assert self.allows(repo)

    def test_on_a_detached_head_is_the_default_branchs(self, repo: Path) -> None:
        self.evil(repo, "topic")
        git(repo, "checkout", "--quiet", "--detach", "topic")
        assert self.allows(repo)

    def test_in_a_linked_worktree_is_the_default_branchs(self, repo: Path, tmp_path: Path) -> None:
        self.evil(repo, "topic")
        git(repo, "checkout", "--quiet", "main")
        git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"), "topic")
        assert self.allows(tmp_path / "linked")

    @pytest.mark.parametrize("default", ["main", "master"])
    def test_of_a_clone_that_knows_no_default_branch_is_the_remotes(self, repo: Path, tmp_path: Path, default: str) -> None:
        """A checkout in Actions fetches one commit and sets no origin/HEAD; a local main may hold anything."""
        git(repo, "branch", "--move", "main", default)
        clone = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", str(repo), str(clone))
        git(clone, "remote", "set-head", "origin", "--delete")
        (clone / ".github" / "bumpbot.yml").write_text(self.EVIL)
        git(clone, "commit", "--quiet", "--all", "--message", "a local list")
        git(clone, "checkout", "--quiet", "--detach")
        assert self.allows(clone)

    def test_of_a_clone_of_one_other_branch_is_not_that_branchs_and_is_told(self, repo: Path, tmp_path: Path) -> None:
        git(repo, "branch", "topic")
        git(tmp_path, "clone", "--quiet", "--single-branch", "--branch", "topic", f"file://{repo}", str(tmp_path / "clone"))
        self.refused(tmp_path / "clone")

    def test_of_a_repository_with_one_branch_is_that_branchs_whatever_it_is_called(self, repo: Path) -> None:
        git(repo, "branch", "--move", "main", "trunk")
        done = bumpbot("--repo", repo, "edit", "chat", "--image", f"{VLLM}:v9.9.9")
        assert (done.code, done.err) == (0, "")
        git(repo, "branch", "other")
        self.refused(repo)

    def refused(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "edit", "chat", "--image", f"{VLLM}:v9.9.9")
        assert done.code == 1 and "which branch is the default one is not known here" in done.err, done.err
        assert "no recipe is called chat" in done.err
        named = bumpbot("--repo", repo, "--layout", repo / ".github" / "bumpbot.yml", "edit", "chat", "--image", f"{VLLM}:v9.9.9")
        assert (named.code, named.err) == (0, "")

    def test_of_a_bare_repository_is_found_and_its_files_are_not(self, repo: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "--quiet", "--bare", str(repo), str(tmp_path / "bare.git"))
        done = bumpbot("--repo", tmp_path / "bare.git", "--offline", "scan")
        assert done.code == 1 and "bare repository" in done.line
