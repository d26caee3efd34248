"""A repository of the own kind on the loopback GitHub in which nothing is wrong, and a registry with its image.

Stories spoil one thing of it: a setting (`world.settings`), a file of the default branch (`world.put`), a token (`world.token`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.rehearse.github import Account, Input, LoopbackGitHub, Trigger, Workflow
from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.github.objects import id_of
from bot.rehearse.github.settings_state import Environment, Group, Machine, Rules, Settings
from tests.cli.shell import Done, bumpbot
from tests.cli.worlds import RECIPE, registry
from tests.rehearse.github_world import START, HandClock
from tests.rehearse.openapi.check import Checker

REPOSITORY, PAGE = "acme/recipes", "https://github.com/acme/recipes"
APP_ID = id_of("app bumpbot")
PIN = "a" * 40
INPUTS = ("recipe", "commit", "nonce", "points", "eval-limit", "fail-fast")
TOKENS = {
    "maintainer": "ghp_the-maintainers-secret", "bumpbot[bot]": "ghs_the-apps-secret", "github-actions[bot]": "ghs_the-jobs-secret",
    "contributor": "github_pat_the-contributors-secret", "scoped": "ghp_the-classic-secret",
}
ACCOUNTS = (
    Account(login="maintainer", token=TOKENS["maintainer"], permission="admin", scopes=("repo", "read:org")),
    Account(login="bumpbot[bot]", token=TOKENS["bumpbot[bot]"], kind="app"),
    Account(login="github-actions[bot]", token=TOKENS["github-actions[bot]"], kind="default"),
    Account(login="contributor", token=TOKENS["contributor"], permission="read"),
    Account(login="scoped", token=TOKENS["scoped"], permission="write", scopes=("repo", "workflow", "delete_repo")),
)
LAYOUT = "version: 1\npreset: own\nallow: [{image}]\n"
DISPATCHED = """name: {name}
run-name: {name} ${{{{ inputs.nonce }}}}
on:
  workflow_dispatch:
    inputs:
      recipe: {{required: true}}
      commit: {{required: true}}
      nonce: {{required: true}}
      points: {{default: ""}}
      eval-limit: {{default: ""}}
      fail-fast: {{type: boolean, default: true}}
permissions: {{}}
jobs:
  points:
    uses: ./.github/workflows/benchmark.yml
"""
BENCHMARK = f"""name: benchmark
on: {{workflow_call: {{}}}}
jobs:
  point:
    runs-on: [self-hosted, h200]
    steps:
      - uses: actions/checkout@{PIN}
"""
WAKE = f"""name: wake
on:
  schedule: [{{cron: "7 * * * *"}}]
  issue_comment: {{types: [created]}}
permissions: {{}}
jobs:
  wake:
    runs-on: ubuntu-24.04
    environment: bumpbot
    steps:
      - uses: actions/checkout@{PIN}
        with: {{ref: main}}
      - uses: acme/tokens@{PIN}
        with:
          app-id: ${{{{ vars.BUMPBOT_APP_ID }}}}
          private-key: ${{{{ secrets.BUMPBOT_APP_PRIVATE_KEY }}}}
      - run: bumpbot wake
"""
NEEDED = {"contents": "write", "pull_requests": "write", "issues": "write", "actions": "write", "metadata": "read"}
READS = {"administration": "read", "environments": "read", "secrets": "read", "actions_variables": "read",
         "organization_self_hosted_runners": "read"}


def review(count: int = 1) -> dict[str, Any]:
    """The rule that a pull request needs approvals."""
    return {"type": "pull_request", "parameters": {
        "required_approving_review_count": count, "dismiss_stale_reviews_on_push": False, "require_code_owner_review": False,
        "require_last_push_approval": False, "required_review_thread_resolution": False}}


def healthy() -> Settings:
    """Settings in which nothing is wrong."""
    keep = ({"type": "deletion"}, {"type": "non_fast_forward"})
    made = Settings(
        approval="all_external_contributors", variables={"BUMPBOT_APP_ID": str(APP_ID), "BUMPBOT_MODE": "propose"},
        environments={"bumpbot": Environment(policies=[("main", "branch")], secrets=["BUMPBOT_APP_PRIVATE_KEY"])},
        apps={"bumpbot": {**NEEDED, **READS}},
        groups=[Group(name="gpus", public=True, machines=[Machine(name="h200-00", labels=("self-hosted", "linux", "h200"))],
                      workflows=(f"{REPOSITORY}/.github/workflows/benchmark.yml@refs/heads/main",))])
    made.rulesets = {1: Rules(name="default", include=("~DEFAULT_BRANCH",), rules=(*keep, review())),
                     2: Rules(name="ledger", include=("refs/heads/bumpbot/ledger",), rules=keep)}
    return made


def workflow(file: str, *inputs: str) -> Workflow:
    """A workflow as the loopback GitHub lists it."""
    name = file.partition(".")[0].capitalize()
    return Workflow(file=file, name=name, triggers={"workflow_dispatch": Trigger(inputs={name: Input() for name in inputs})})


@dataclass
class World:
    """`token` is the login whose token doctor looks with; `ours`: it is given as the bot's own. `env` adds or replaces."""

    hub: LoopbackGitHub
    git_dir: Path
    image: str
    token: str = "maintainer"
    ours: bool = False

    @property
    def settings(self) -> Settings:
        return self.hub.settings

    def refuse(self, path: str, status: int) -> None:
        """From now on, whatever has `path` in it is refused."""
        self.settings.refused[path] = status

    def fine_grained(self) -> str:
        """A new fine-grained token of the maintainer's."""
        token = "github_pat_another-secret"
        self.hub.store.tokens[token] = Account(login="maintainer", token=token, permission="admin")
        return token

    def checkout(self, folder: Path) -> Path:
        """A clone of the repository in a folder."""
        subprocess.run(["git", "clone", "--quiet", str(self.git_dir), str(folder)], check=True)
        return folder

    def put(self, files: dict[str, str | None]) -> None:
        """Changes files of the default branch; None removes one."""
        self.hub.person("maintainer").push("main", {path: None if text is None else text.encode() for path, text in files.items()}, "x")

    def env(self, **more: str) -> dict[str, str]:
        """The environment that doctor is called in."""
        token = {"BUMPBOT_TOKEN" if self.ours else "GITHUB_TOKEN": TOKENS[self.token]}
        return {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_API_URL": self.hub.url, "BUMPBOT_GIT_URL": str(self.git_dir), **token, **more}

    def doctor(self, *argv: str, **env: str) -> Done:
        """`bumpbot doctor`, here and now."""
        return bumpbot("doctor", *argv, env=self.env(**env))

    def findings(self, **env: str) -> dict[str, dict[str, Any]]:
        """What doctor says, by check."""
        return {one["check"]: one for one in self.doctor("--format", "json", **env).json}


def seed(git_dir: Path, image: str) -> None:
    """The repository's first commit."""
    git_dir.mkdir()
    git = GitRepo(git_dir)
    git.git("init", "--bare", "--quiet", "--initial-branch=main", ".")
    files = {
        ".github/bumpbot.yml": LAYOUT.format(image=image.partition("@")[0]), "recipes/toy.yaml": RECIPE.format(name=image),
        "recipes/README.md": "not a recipe", ".github/workflows/smoke.yml": DISPATCHED.format(name="Smoke"),
        ".github/workflows/sweep.yml": DISPATCHED.format(name="Sweep"), ".github/workflows/benchmark.yml": BENCHMARK,
        ".github/workflows/wake.yml": WAKE,
    }
    tree = git.tree_with(None, {path: text.encode() for path, text in files.items()})
    git.update_ref("refs/heads/main", git.make_commit(tree, (), "start", ("maintainer", "m@example.com"), START))


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """The healthy repository, served; every exchange is held against GitHub's description at the end."""
    git_dir, checker = folder / "origin.git", Checker()
    with registry() as image:
        seed(git_dir, image)
        workflows = (workflow("wake.yml"), workflow("smoke.yml", *INPUTS), workflow("sweep.yml", *INPUTS), workflow("benchmark.yml"))
        with LoopbackGitHub(repository=REPOSITORY, git_dir=git_dir, clock=HandClock(), accounts=ACCOUNTS,
                            workflows=workflows) as hub:
            hub.exchanges.append(checker)
            hub.settings = healthy()
            for name in ("sweep-enabled", "full-sweep-enabled", "full-sweep-fail-fast", "bumpbot-handoff"):
                hub.store.label(name)
            yield World(hub=hub, git_dir=git_dir, image=image)
    assert not checker.problems, "\n".join(dict.fromkeys(checker.problems))
