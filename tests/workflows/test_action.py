"""action.yml in a repository that is not ours: the ten lines that the README quotes, run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflows.act import pins
from tests.workflows.payloads import payload
from tests.workflows.repository import ROOT, Repository, read

EXAMPLE = Path(__file__).parent / "examples" / "stranger.yml"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class TestAStranger:
    def test_needs_ten_lines(self) -> None:
        assert len(EXAMPLE.read_text().splitlines()) == 10

    @pytest.mark.needs("act")
    def test_gets_a_bump_with_the_jobs_own_token(self, here: Repository) -> None:
        inputs = {"recipe": "toy", "image": f"{here.image}:v1.1.0"}
        event = payload("workflow_dispatch", here.facts(inputs=inputs, ref="refs/heads/main", sender={"login": "ada"}))
        ran = here.stranger(EXAMPLE, "workflow_dispatch", event, COMMIT)
        assert (ran.code, ran.jobs) == (0, {"wake": "success"}), ran.log
        made, = here.world.hub.pulls()
        assert made.author.login == "github-actions[bot]" and f"{here.image}:v1.1.0" in made.body
        assert [run.workflow for run in here.world.hub.runs_made()] == ["smoke.yml"]

    @pytest.mark.needs("act")
    def test_is_installed_from_the_actions_own_folder_by_hashes_and_checks_nothing_out(self, here: Repository) -> None:
        ran = here.stranger(EXAMPLE, "schedule", here.facts(), COMMIT)
        assert ran.code == 0 and "no bump is open" in ran.log
        assert [note.split(" install ")[1] for note in ran.notes] == [
            "--require-hashes --only-binary :all: -r requirements.lock", "--no-deps --no-build-isolation ."]


class TestTheAction:
    def test_says_what_each_input_is(self) -> None:
        told = read("action.yml")
        assert all(one["description"] and "default" in one for one in told["inputs"].values())

    def test_keeps_inputs_out_of_its_scripts(self) -> None:
        scripts = [step["run"] for step in read("action.yml")["runs"]["steps"] if "run" in step]
        assert len(scripts) == 3 and not any("${{" in script for script in scripts)

    def test_uses_what_the_stand_ins_stand_in_for(self) -> None:
        assert {name.split("@")[0] for name in pins(ROOT / "action.yml")} == {"actions/setup-python"}
