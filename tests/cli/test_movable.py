"""What `plan` and `bump` refuse from files alone, and `edit` does and reports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.shell import ROOT, Done, bumpbot

KEY = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
LINKED = "benchmarks/multi_node/srt-slurm-recipes/vllm/kimi-k3/agentic/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml"
OTHER = "vllm/vllm-openai:v0.24.0"


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A few recipes of InferenceX; one of them names another image in its linked file than in the master."""
    guest = tmp_path / "guest"
    shutil.copytree(ROOT / "tests" / "recipe" / "data" / "inferencex", guest)
    text = (guest / LINKED).read_text()
    (guest / LINKED).write_text(text.replace("vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef", OTHER, 1))
    return guest


def asked(guest: Path, *argv: str) -> Done:
    return bumpbot("--repo", guest, "--layout", "inferencex", *argv, "--image", "vllm/vllm-openai:v0.25.0")


class TestADisagreementThatStoodBefore:
    @pytest.mark.parametrize("offline", [(), ("--offline",)])
    def test_is_refused_by_plan_before_a_registry_is_asked(self, apart: Path, offline: tuple[str, ...]) -> None:
        done = asked(apart, *offline, "plan", KEY)
        assert done.code == 1 and done.out == ""
        assert f"model.container says {OTHER}, the recipe vllm/vllm-openai:nightly-dev" in done.line
        assert done.line.endswith("nobody can tell which of them the published numbers are of")

    def test_stays_in_an_edit_and_is_reported(self, apart: Path) -> None:
        done = asked(apart, "edit", KEY, "--write", "--format", "json")
        assert done.code == 0 and f"model.container says {OTHER}" in done.err and "it stays" in done.err
        assert OTHER in (apart / LINKED).read_text() and any(OTHER in note for note in done.json["notes"])
        assert {site["path"] for site in done.json["sites"]} == {f"{KEY}.image", "identity.container.image"}
