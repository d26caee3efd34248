"""A repository that bumps its own recipes: recipes, workflows and the action on one main, behind a loopback GitHub."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bot.rehearse import scenario
from bot.rehearse.github.hub import Exchange
from bot.rehearse.github.people import Person
from bot.rehearse.world import World
from tests.cli import worlds
from tests.cli.shell import bumpbot
from tests.workflows.act import ROOT, Ran, Runner
from tests.workflows.listed import listed
from tests.workflows.payloads import payload
from tests.workflows.runner import TASK

# The smoke that the bot starts: it fails, hours after every test is over unless a test moves the clock.
STORY = """    runs:
      - {id: 34000000001, workflow: smoke.yml, event: workflow_dispatch,
         attempts: [{jobs: [{name: smoke / toy c16 eval gsm8k, minutes: 600, conclusion: failure}]}]}
"""
WORKFLOWS = ROOT / ".github" / "workflows"
SECRETS = {"BUMPBOT_APP_PRIVATE_KEY": "the-key-of-the-app", "BUMPBOT_MODEL_TOKEN": "the-model-token"}
MEASURES = ("toy c1", "toy c4", f"toy c4 eval {TASK}")
APP = {"BUMPBOT_APP_ID": "Iv1.loopback"}


def read(name: str) -> dict[str, Any]:
    """A workflow or action as GitHub's YAML reads it: `on` is a word and no truth value, numbers are text."""
    file = ROOT / name if name == "action.yml" else WORKFLOWS / name
    return yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)


@dataclass
class Repository:
    """The running world, what its API was asked, and a runner for its workflows."""

    world: World
    image: str
    folder: Path
    asked: list[Exchange] = field(default_factory=list)

    @property
    def writes(self) -> list[tuple[str, str]]:
        """(method, path below the repository) of every request that changed something; a query of GraphQL is posted, and reads."""
        base = f"/repos/{self.world.repository}/"
        return [(one.method, one.path.removeprefix(base)) for one in self.asked if one.method != "GET" and one.status < 400
                and not (one.path == "/graphql" and "mutation" not in str(one.sent))]

    @property
    def reads(self) -> list[str]:
        """Paths below the repository that were read."""
        base = f"/repos/{self.world.repository}/"
        return [one.path.removeprefix(base) for one in self.asked if one.method == "GET"]

    @property
    def tip(self) -> str:
        """The commit of main."""
        return self.world.hub.git.resolve("main") or ""

    @property
    def artifacts(self) -> Path:
        """Where the stand-ins keep a run's artifacts."""
        return self.folder / "act" / "artifacts"

    def matrix(self) -> list[dict[str, Any]]:
        """The points of the recipe as main has it, from the command itself."""
        return bumpbot("--repo", self.folder / "scenario" / "repo", "--layout", "own", "matrix", "toy", "--format", "json").json

    def link(self, path: str, target: str, branch: str) -> str:
        """A commit on a new branch, on which a path is a symbolic link."""
        git, env = self.world.hub.git, {"GIT_INDEX_FILE": str(self.folder / "index")}
        blob = git.git("hash-object", "-w", "--stdin", data=target.encode())[1].decode().strip()
        git.git("read-tree", "main", env=env)
        git.git("update-index", "--cacheinfo", f"120000,{blob},{path}", env=env)
        tree = git.git("write-tree", env=env)[1].decode().strip()
        commit = git.make_commit(tree, (self.tip,), "A link", ("ada", "ada@example.com"), self.world.clock.now())
        git.update_ref(f"refs/heads/{branch}", commit)
        return commit

    def facts(self, **more: Any) -> dict[str, Any]:
        """What every payload of this repository says."""
        owner, _, name = self.world.repository.partition("/")
        return {"repository": {"full_name": self.world.repository, "name": name, "owner": {"login": owner}, "default_branch": "main"},
                **more}

    def person(self, login: str) -> Person:
        """Somebody who acts now: the world's clock stands still until it is told, and the bot's does not."""
        self.world.clock.advance_to(datetime.now(UTC))
        return self.world.hub.person(login)

    def wake(self, event: str, payload: dict[str, Any], *, app: bool = True, **options: Any) -> Ran:
        """One run of wake.yml."""
        self.asked.clear()
        self.world.clock.advance_to(datetime.now(UTC))
        options["variables"] = {**(APP if app else {}), **options.get("variables", {})}
        return self._runner(event, payload, WORKFLOWS / "wake.yml", secrets=self._secrets, **options)

    def begin(self, **options: Any) -> Ran:
        """A maintainer starts wake.yml by hand and names recipe and image."""
        inputs = {"recipe": "toy", "image": f"{self.image}:v1.1.0"}
        facts = self.facts(inputs=inputs, ref="refs/heads/main", sender={"login": "ada", "type": "User"})
        return self.wake("workflow_dispatch", payload("workflow_dispatch", facts), inputs=inputs, **options)

    def measure(self, workflow: str, inputs: dict[str, str], *, ref: str = "refs/heads/main", event: str = "workflow_dispatch",
                **options: Any) -> Ran:
        """One run of smoke.yml or sweep.yml, started from `ref`."""
        payload = self.facts(inputs=inputs, ref=ref, sender={"login": "bumpbot[bot]"})
        listed(self.world.hub, workflow, ("plan", *MEASURES), self.artifacts)
        options["env"] = {"GITHUB_REF": ref, "GITHUB_SERVER_URL": f"file://{self._served()}", **options.get("env", {})}
        return self._runner(event, payload, WORKFLOWS / workflow, secrets=self._secrets, inputs=inputs, **options)

    def stranger(self, example: Path, event: str, payload: dict[str, Any], commit: str) -> Ran:
        """One run of a workflow in a repository that is not ours, with our action at a commit."""
        file = self.folder / "stranger" / example.name
        file.parent.mkdir(exist_ok=True)
        file.write_text(example.read_text().replace("OWNER", "someone").replace("COMMIT", commit))
        action = self.folder / "action"
        action.mkdir(exist_ok=True)
        for name in ("action.yml", "requirements.lock"):
            shutil.copy(ROOT / name, action)
        return self._runner(event, payload, file, secrets=self._secrets, actions={f"someone/bumpbot@{commit}": action})

    @property
    def _runner(self) -> Runner:
        env = {"GITHUB_API_URL": self.world.github_url, "BUMPBOT_GIT_URL": self.world.git_url, "GITHUB_REF": "refs/heads/main",
               "DOCKER_CONFIG": str(self.folder / "no-docker"), "STANDIN_REPOSITORY": self.world.git_url,
               "STANDIN_TOKEN": self.world.tokens["bot"], "STANDIN_KEY": SECRETS["BUMPBOT_APP_PRIVATE_KEY"]}
        return Runner(self.folder, self.world.repository, env)

    @property
    def _secrets(self) -> dict[str, str]:
        return {**SECRETS, "GITHUB_TOKEN": self.world.tokens["default"]}

    def _served(self) -> Path:
        """A folder in which git finds the repository by its name, as it does on the forge's host."""
        served = self.folder / "served" / f"{self.world.repository}.git"
        if not served.exists():
            served.parent.mkdir(parents=True)
            served.symlink_to(self.world.git_url)
        return self.folder / "served"


@contextmanager
def repository(work: Path) -> Iterator[Repository]:
    """A repository with the recipe `toy`, whose workflows are this project's, whose people are ada (admin) and eve (read)."""
    with worlds.registry() as image:
        folder = worlds.scenario_folder(work / "scenario", image, start=datetime.now(UTC), story=STORY)
        _declare(folder / "scenario.yaml")
        (folder / "repo" / ".ci").mkdir()
        for name in ("action.yml", "requirements.lock", "requirements-bench.lock", "zizmor.yml", ".ci/bench"):
            shutil.copy(ROOT / name, folder / "repo" / name)
        shutil.copytree(WORKFLOWS, folder / "repo" / ".github" / "workflows")
        place = work / "world"
        place.mkdir()
        with World(scenario.load(folder), place) as world:
            made = Repository(world, image, work)
            world.hub.exchanges.append(made.asked.append)
            yield made


def _declare(file: Path) -> None:
    """The scenario's dispatched workflows as their files have them, so that an input nobody takes is refused; one more person."""
    declared = yaml.safe_load(file.read_text())
    for one in declared["workflows"]:
        told = read(one["file"])
        assert told["name"] == one["name"]
        one["triggers"] = {"workflow_dispatch": {"inputs": list(told["on"]["workflow_dispatch"]["inputs"])}}
        one["run_name"] = told["run-name"].replace("${{ inputs.nonce }}", "{inputs.nonce}")
    declared["accounts"]["people"].append({"login": "eve", "name": "Eve", "email": "eve@example.com", "permission": "read"})
    file.write_text(yaml.safe_dump(declared))
