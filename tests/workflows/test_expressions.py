"""Every `if:` and every concurrency group, evaluated by GitHub's own parser of workflows and its own expressions."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import EXPRESSIONS
from tests.workflows.payloads import comment, ended, payload, pull, stock
from tests.workflows.repository import WORKFLOWS

pytestmark = pytest.mark.needs("@actions/expressions")
HERE = {"repository": {"full_name": "acme/recipes", "default_branch": "main"}}
Evaluate = Callable[[Path, list[dict[str, Any]]], dict[str, Any]]


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Contexts of a workflow -> what GitHub's reader says of the file, and of each job in each context."""
    bundle = tmp_path_factory.mktemp("bundle") / "evaluate.cjs"
    env = {"PATH": os.environ["PATH"], "NODE_PATH": str(EXPRESSIONS)}
    source = Path(__file__).parent / "expressions" / "evaluate.mjs"
    subprocess.run([EXPRESSIONS / ".bin" / "esbuild", source, "--bundle", "--platform=node", "--format=cjs", "--log-level=warning",
                    f"--outfile={bundle}"], env=env, check=True, timeout=60)

    def run(file: Path, contexts: list[dict[str, Any]]) -> dict[str, Any]:
        asked = json.dumps({"workflow": str(file), "contexts": contexts})
        done = subprocess.run(["node", bundle], input=asked, env=env, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    return run


def context(event: str, told: dict[str, Any], *, may: str | None = None, asker: str = "success", cancelled: bool = False) -> dict[str, Any]:
    """A run of wake.yml: what GitHub knows when it decides about its jobs. `may` is what the asker gave."""
    github = {"event_name": event, "event": told, "repository": "acme/recipes", "run_id": "34000000001"}
    return {"github": github, "cancelled": cancelled, "needs": {"asker": {"result": asker, "outputs": {"may": may} if may else {}}}}


def forked(told: dict[str, Any]) -> dict[str, Any]:
    told["pull_request"]["head"]["repo"] = None
    return told


COMMAND = comment(HERE, "ada", "/bump sweep")
# name -> (event, payload, whether GitHub is asked who it is); the wake follows only when the answer is write
FROM_PEOPLE = {
    "a command": ("issue_comment", COMMAND, True),
    "a command of the owner": ("issue_comment", comment(HERE, "ada", "/bump help", association="OWNER"), True),
    "a command of a member": ("issue_comment", comment(HERE, "ada", "/bump help", association="MEMBER"), True),
    "a command of a contributor": ("issue_comment", comment(HERE, "mallory", "/bump sweep", association="CONTRIBUTOR"), False),
    "a command of nobody": ("issue_comment", comment(HERE, "mallory", "/bump sweep", association="NONE"), False),
    "a command of a bot": ("issue_comment", comment(HERE, "other[bot]", "/bump sweep", kind="Bot"), False),
    "a command below other words": ("issue_comment", comment(HERE, "ada", "Looks good.\n\n/bump sweep"), True),
    "a comment": ("issue_comment", comment(HERE, "ada", "Looks good"), False),
    "a comment as GitHub shows it": ("issue_comment", stock("issue_comment.created"), False),
    "an edited comment as GitHub shows it": ("issue_comment", stock("issue_comment.edited"), False),
    "a label": ("pull_request_target", pull(HERE, "ada"), True),
    "a label of a bot": ("pull_request_target", pull(HERE, "other[bot]", kind="Bot"), False),
    "a push": ("pull_request_target", pull(HERE, "ada", name="pull_request.synchronize"), True),
    "a label on a fork's": ("pull_request_target", pull(HERE, "ada", head="mallory/recipes"), False),
    "a push to a fork": ("pull_request_target", pull(HERE, "mallory", name="pull_request.synchronize", head="mallory/recipes"), False),
    "a label on one whose fork is gone": ("pull_request_target", forked(pull(HERE, "ada")), False),
}
# name -> (event, payload, whether it wakes the bot); nobody is asked
FROM_GITHUB = {
    "the schedule": ("schedule", {"schedule": "5,20,35,50 * * * *"}, True),
    "a push to main": ("push", stock("push"), True),
    "by hand": ("workflow_dispatch", payload("workflow_dispatch", HERE), True),
    "the end of a smoke": ("workflow_run", ended(HERE, 5, "a" * 40), True),
    "the end of a run of a pull request": ("workflow_run", ended(HERE, 5, "a" * 40, event="pull_request"), False),
    "the end of a run of a fork": ("workflow_run", ended(HERE, 5, "a" * 40, source="mallory/recipes"), False),
    "the end of a run as GitHub shows it": ("workflow_run", stock("workflow_run.completed"), False),
}


# what became of the asker -> what GitHub then knows of it
ANSWERS: dict[str, dict[str, Any]] = {
    "write": {"may": "wake"}, "less": {}, "left out": {"asker": "skipped"}, "failed": {"asker": "failure"}}


@pytest.fixture(scope="module")
def read(evaluate: Evaluate) -> Callable[..., dict[str, Any]]:
    """One context of wake.yml -> its jobs by name."""
    def one(*args: Any, **more: Any) -> dict[str, Any]:
        found, = evaluate(WORKFLOWS / "wake.yml", [context(*args, **more)])["jobs"]
        return {job["id"]: job for job in found}

    return one


@pytest.fixture(scope="module")
def all_people(evaluate: Evaluate) -> dict[str, dict[str, Any]]:
    """Each case of FROM_PEOPLE with each of ANSWERS, read at once."""
    made = {f"{name}, {how}": context(event, told, **more) for name, (event, told, _) in FROM_PEOPLE.items()
            for how, more in ANSWERS.items()}
    found = evaluate(WORKFLOWS / "wake.yml", list(made.values()))["jobs"]
    return {name: {job["id"]: job for job in each} for name, each in zip(made, found, strict=True)}


class TestWake:
    @pytest.mark.parametrize("name", FROM_PEOPLE)
    def test_asks_who_somebody_is_only_where_it_could_matter(self, all_people: dict[str, dict[str, Any]], name: str) -> None:
        assert all_people[f"{name}, less"]["asker"]["runs"] is FROM_PEOPLE[name][2]

    @pytest.mark.parametrize("name", FROM_PEOPLE)
    def test_enters_the_bumps_group_only_for_somebody_with_write(self, all_people: dict[str, dict[str, Any]], name: str) -> None:
        assert all_people[f"{name}, write"]["wake"]["runs"]
        for how in ("less", "left out", "failed"):
            assert not all_people[f"{name}, {how}"]["wake"]["runs"], how

    @pytest.mark.parametrize("name", FROM_GITHUB)
    def test_follows_what_github_itself_tells_without_asking(self, read: Callable[..., dict[str, Any]], name: str) -> None:
        event, told, wakes = FROM_GITHUB[name]
        found = read(event, told, asker="skipped")
        assert (found["asker"]["runs"], found["wake"]["runs"]) == (False, wakes)

    def test_does_nothing_in_a_run_that_was_cancelled(self, read: Callable[..., dict[str, Any]]) -> None:
        assert not read("schedule", {}, asker="skipped", cancelled=True)["wake"]["runs"]
        assert not read("issue_comment", COMMAND, may="wake", cancelled=True)["wake"]["runs"]

    def test_is_one_at_a_time_and_stops_none_while_askers_wait_for_nobody(self, read: Callable[..., dict[str, Any]]) -> None:
        found = read("issue_comment", COMMAND)
        assert (found["wake"]["group"], found["wake"]["cancels"]) == ("bumpbot-wake", "false")
        assert (found["asker"]["group"], found["asker"]["cancels"]) == ("bumpbot-asker-34000000001", "false")

    def test_is_never_dropped_when_a_person_dispatched_it(self, read: Callable[..., dict[str, Any]]) -> None:
        """Of those that wait in a group GitHub keeps the newest alone, and no later wake knows which recipe was asked for."""
        found = read("workflow_dispatch", {"inputs": {"recipe": "toy"}})
        assert (found["wake"]["group"], found["wake"]["cancels"]) == ("bumpbot-wake-34000000001", "false")


class TestBenchmark:
    @pytest.mark.parametrize(("plan", "run", "cancelled", "collects"), [
        ("success", "success", False, True), ("success", "failure", False, True), ("failure", "skipped", False, False),
        ("success", "cancelled", True, False),
    ])
    def test_collects_whatever_a_plan_began(self, evaluate: Evaluate, plan: str, run: str, cancelled: bool, collects: bool) -> None:
        needs = {"plan": {"result": plan, "outputs": {}}, "run": {"result": run, "outputs": {}}}
        found, = evaluate(WORKFLOWS / "benchmark.yml", [{"needs": needs, "cancelled": cancelled}])["jobs"]
        assert {job["id"]: job["runs"] for job in found}["collect"] is collects

    def test_measures_nothing_without_a_plan(self, evaluate: Evaluate) -> None:
        found, = evaluate(WORKFLOWS / "benchmark.yml", [{"needs": {"plan": {"result": "failure", "outputs": {}}}}])["jobs"]
        assert {job["id"]: job["runs"] for job in found}["run"] is False


class TestGitHubsOwnParser:
    @pytest.mark.parametrize("file", [*sorted(WORKFLOWS.glob("*.yml")), Path(__file__).parent / "examples" / "stranger.yml"],
                             ids=lambda file: file.name)
    def test_finds_no_fault(self, evaluate: Evaluate, file: Path) -> None:
        assert evaluate(file, [])["errors"] == []

    def test_would_find_one(self, evaluate: Evaluate, tmp_path: Path) -> None:
        (tmp_path / "broken.yml").write_text("on: push\njobs: {a: {runs-on: x, if: nonsense.y, steps: [{run: 'true'}]}}\n")
        assert evaluate(tmp_path / "broken.yml", [])["errors"]
