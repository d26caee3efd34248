"""One small world for tests of the loopback GitHub: a bare repository, a clock moved by hand, three kinds of token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bot.rehearse.github import (
    Account,
    AttemptScript,
    Cause,
    Concurrency,
    Input,
    JobScript,
    LoopbackGitHub,
    RunScript,
    Trigger,
    Workflow,
)
from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.github.wire import Response
from tests.rehearse.openapi.check import Checker

START = datetime(2026, 9, 10, 6, 0, tzinfo=UTC)
APP, MAINTAINER, READER, JOB = "app-token", "human-token", "reader-token", "job-token"
ACCOUNTS = (
    Account(login="bumpbot[bot]", token=APP, kind="app", emails=("bumpbot@example.com",)),
    Account(login="github-actions[bot]", token=JOB, kind="default", emails=("actions@example.com",)),
    Account(login="maintainer", token=MAINTAINER, permission="maintain"),
    Account(login="passer-by", token=READER, permission="read"),
)
SWEEP = Workflow(
    file="run-sweep.yml",
    name="Run Sweep",
    run_name="Run Sweep - {title}",
    triggers={
        "pull_request": Trigger(
            types=("ready_for_review", "synchronize", "labeled", "unlabeled"),
            paths=("perf-changelog.yaml",),
            branches=("main",),
        )
    },
    labels=("full-sweep",),
    modifiers=("all-evals",),
    concurrency=Concurrency(group="sweep-{number}-active", cancel_in_progress=True),
)
SMOKE = Workflow(
    file="smoke.yml", name="Smoke", run_name="Smoke {inputs.nonce}",
    triggers={"workflow_dispatch": Trigger(inputs={"recipe": Input(required=True), "nonce": Input(default=""),
                                                   "mode": Input(default="quick", options=("quick", "slow"))})})


class HandClock:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at

    def forward(self, minutes: float = 0, seconds: float = 0) -> datetime:
        self.at += timedelta(minutes=minutes, seconds=seconds)
        return self.at


class World:
    """A running loopback GitHub with short words for what tests do. `play` maps a workflow's file to its jobs."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.git_dir = folder / "origin.git"
        self.clock = HandClock()
        self.scripts: dict[str, list[RunScript]] = {}
        self._seed()
        options = {"workflows": (SWEEP, SMOKE), "accounts": ACCOUNTS, **options}
        self.hub = LoopbackGitHub(
            repository="acme/recipes", git_dir=self.git_dir, clock=self.clock, script=self.script, **options
        )
        self.human = self.hub.person("maintainer")

    def _seed(self) -> None:
        self.git_dir.mkdir()
        git = GitRepo(self.git_dir)
        git.git("init", "--bare", "--quiet", "--initial-branch=main", ".")
        tree = git.tree_with(
            None, {"recipe.yaml": b"image: old\nlines: 1\n", "perf-changelog.yaml": b"- first\n", "docs/a.md": b"a\n"}
        )
        git.update_ref("refs/heads/main", git.make_commit(tree, (), "start", ("maintainer", "m@example.com"), START))

    def script(self, workflow: Workflow, cause: Cause, head: str) -> RunScript:
        waiting = self.scripts.get(workflow.file)
        return waiting.pop(0) if waiting else one_job()

    def plays(self, file: str, *scripts: RunScript) -> None:
        self.scripts[file] = list(scripts)

    def branch(self, name: str = "bump/1", **files: bytes) -> str:
        return self.human.push(name, {"recipe.yaml": b"image: new\nlines: 1\n", **files}, "bump the image")

    def pull(self, branch: str = "bump/1", *, draft: bool = True, changelog: bool = True) -> int:
        self.human.push(branch, {"recipe.yaml": b"image: new\nlines: 1\n"}, "bump the image")
        if changelog:
            self.human.push(branch, {"perf-changelog.yaml": b"- first\n- second\n"}, "changelog")
        return self.human.open(branch, f"Bump {branch}", draft=draft)

    def ask(self, method: str, path: str, body: Any = None, *, token: str = APP, query: Mapping[str, str] | None = None,
            headers: Mapping[str, str] | None = None) -> Response:
        sent = b"" if body is None else json.dumps(body).encode()
        whole = path if path.startswith("/") else f"/repos/acme/recipes/{path}"
        return self.hub.handle(
            method, whole, query or {}, {"Authorization": f"Bearer {token}", **(headers or {})}, sent
        )

    def get(self, path: str, **query: str) -> Any:
        answer = self.ask("GET", path, query=query)
        assert answer.status == 200, answer.value
        return answer.value

    def runs(self, file: str | None = None) -> list[Any]:
        return [run for run in self.hub.runs() if file in (None, run.workflow.file)]

    def events(self, name: str | None = None) -> list[str]:
        return [
            f"{event} {payload.get('action') or ''}".strip()
            for event, payload in self.hub.drain()
            if name in (None, event)
        ]


def one_job(
    minutes: float = 30, conclusion: str = "success", *, pool: str = "gpu", gpus: int = 8, **more: Any
) -> RunScript:
    return RunScript(attempts=(AttemptScript(jobs=(JobScript(name="bench", pool=pool, gpus=gpus, minutes=minutes,
                                                             conclusion=conclusion, **more),)),))


def attempts(*of: list[JobScript], id: int | None = None) -> RunScript:
    return RunScript(id=id, attempts=tuple(AttemptScript(jobs=tuple(jobs)) for jobs in of))


@contextmanager
def checked(folder: Path, **options: Any) -> Iterator[World]:
    """A world in process, each exchange of which is held against GitHub's description when the test ends."""
    world, checker = World(folder, **options), Checker()
    world.hub.exchanges.append(checker)
    try:
        yield world
        assert not checker.problems, "\n".join(dict.fromkeys(checker.problems))
    finally:
        world.hub.stop()


@contextmanager
def served(folder: Path, **options: Any) -> Iterator[World]:
    """The same over HTTP."""
    with checked(folder, **options) as world:
        world.hub.start()
        yield world


def address(world: World, path: str, **query: str) -> str:
    return f"{world.hub.url}/repos/acme/recipes/{path}" + (f"?{urlencode(query)}" if query else "")
