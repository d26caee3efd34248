"""zizmor (auditor persona) and actionlint over our workflows and the action: nothing but what zizmor.yml answers for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.recipe import own
from tests.conftest import BIN
from tests.workflows.repository import ROOT, WORKFLOWS

INPUTS = (".github/workflows", "action.yml")
PARTS = (".github", "action.yml", "zizmor.yml")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the linters read, in a folder of their own: what else lies in the tree is not theirs."""
    place = tmp_path_factory.mktemp("tree")
    for name in PARTS:
        at = ROOT / name
        shutil.copytree(at, place / name) if at.is_dir() else shutil.copy(at, place / name)
    (place / ".git").mkdir()  # actionlint finds its configuration by it
    return place


def zizmor(place: Path, *options: str) -> list[dict[str, Any]]:
    argv = [BIN / "zizmor", "--offline", "--no-progress", "--persona", "auditor", "--format", "json", *options, *INPUTS]
    done = subprocess.run(argv, cwd=place, env={"PATH": os.environ["PATH"], "HOME": str(place)}, capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def actionlint(place: Path) -> subprocess.CompletedProcess[str]:
    """With shellcheck where there is one: its warnings, since its advice differs from version to version."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "SHELLCHECK_OPTS": "--severity=warning"}
    return subprocess.run([BIN / "actionlint", "-no-color"], cwd=place, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.needs("zizmor")
class TestZizmor:
    def test_finds_nothing_that_is_not_answered_for(self, copy: Path) -> None:
        assert zizmor(copy) == []

    def test_would_find_what_is_ignored_and_nothing_else_is(self, copy: Path) -> None:
        found = Counter((finding["ident"], finding["locations"][0]["symbolic"]["key"]["Local"]["verbatim_path"].rsplit("/", 1)[-1])
                        for finding in zizmor(copy, "--no-ignores", "--no-config"))
        assert found == {
            ("dangerous-triggers", "wake.yml"): 3, ("self-repository", "wake.yml"): 1, ("self-repository", "benchmark.yml"): 3,
            ("self-repository", "smoke.yml"): 1, ("self-repository", "sweep.yml"): 1}

    def test_is_told_the_reason_of_each_thing_it_ignores(self) -> None:
        text = (ROOT / "zizmor.yml").read_text()
        for rule in yaml.safe_load(text)["rules"]:
            assert re.search(rf"{rule}:\n    ignore:\n(      # .+\n)+      - ", text), rule
        assert "zizmor: ignore" not in "".join(file.read_text() for file in WORKFLOWS.glob("*.yml"))

    def test_would_find_a_script_that_quotes_a_comment(self, copy: Path, tmp_path: Path) -> None:
        shutil.copytree(copy, tmp_path / "tree")
        file = tmp_path / "tree" / ".github" / "workflows" / "wake.yml"
        file.write_text(file.read_text().replace("run: |", "run: |\n          echo '${{ github.event.comment.body }}'", 1))
        assert "template-injection" in {finding["ident"] for finding in zizmor(tmp_path / "tree")}


@pytest.mark.needs("actionlint")
class TestActionlint:
    def test_finds_nothing(self, copy: Path) -> None:
        done = actionlint(copy)
        assert (done.returncode, done.stdout) == (0, "")

    def test_would_find_a_runner_that_nobody_has(self, copy: Path, tmp_path: Path) -> None:
        shutil.copytree(copy, tmp_path / "tree")
        file = tmp_path / "tree" / ".github" / "workflows" / "wake.yml"
        file.write_text(file.read_text().replace("runs-on: ubuntu-24.04", "runs-on: [self-hosted, h2000]", 1))
        done = actionlint(tmp_path / "tree")
        assert done.returncode == 1 and '"h2000" is unknown' in done.stdout

    def test_knows_every_label_that_a_recipe_here_asks_for(self) -> None:
        known = set(yaml.safe_load((ROOT / ".github" / "actionlint.yaml").read_text())["self-hosted-runner"]["labels"])
        asked = {label for file in (ROOT / "recipes").glob("*.yaml") for label in own.load(file.read_bytes(), file.name).hardware.runner}
        assert asked - {"self-hosted", "linux", "x64", "arm64"} <= known
