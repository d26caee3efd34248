"""A small repository with one recipe of the own kind whose image lies in a registry on loopback, and a GitHub over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.rehearse import scenario
from bot.rehearse.registry import ImageData, LoopbackRegistry
from bot.rehearse.world import World

LAYOUT = """version: 1
preset: own
style: full
allow: [{name}]
"""
RECIPE = """# Measured since spring.
name: toy
image: {name}:v1.0.0  # moves
engine: {{name: sglang}}
model: {{repo: acme/toy}}
hardware: {{gpu: h200, gpus: 4, runner: [self-hosted, h200]}}
workload: {{kind: chat, requests: {{1: 8, 16: 32}}}}
evals: [{{task: gsm8k, threshold: 0.9}}]
"""
SCENARIO = """version: 1
name: toy
about: a repository of one recipe
attribution: made up for a test
clock: {start: 2026-01-05T10:00:00Z}
repository: {owner: acme, name: recipes, first_number: 7}
layout: own
recipe: toy
accounts:
  bot: bumpbot[bot]
  people:
    - {login: ada, name: Ada, email: ada@example.com, permission: admin}
workflows:
  - {file: smoke.yml, name: Smoke, run_name: "Smoke {inputs.nonce}",
     triggers: {workflow_dispatch: {inputs: [recipe, commit, nonce]}}}
  - {file: sweep.yml, name: Sweep, run_name: "Sweep {inputs.nonce}",
     triggers: {workflow_dispatch: {inputs: [recipe, commit, nonce]}}}
variants:
  own:
    policy: {caps: {gpu_hours: 40}}
    until: 2026-01-05T12:00:00Z
    expect: {outcome: failed}
"""
TAGS = {
    tag: ImageData(created=datetime(2026, 1, day, tzinfo=UTC), pushed=datetime(2026, 1, day, tzinfo=UTC),
                   platforms=("linux/amd64", "linux/arm64"), env={"CUDA_VERSION": "13.0.1"})
    for tag, day in (("v1.0.0", 1), ("v1.1.0", 3), ("v0.9.0", 2))
}


@contextmanager
def registry() -> Iterator[str]:
    """The name `127.0.0.1:PORT/acme/engine` of a repository of images that answers."""
    server = LoopbackRegistry({"acme/engine": TAGS})
    server.start()
    try:
        yield f"{server.url.removeprefix('http://')}/acme/engine"
    finally:
        server.stop()


def write(folder: Path, name: str = "registry.example/acme/engine") -> Path:
    """The files of the repository, in a folder that is no git repository."""
    for path, text in (("recipes/toy.yaml", RECIPE), (".github/bumpbot.yml", LAYOUT), ("perf-changelog.yaml", None)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(name=name) if text else CHANGELOG)
    return folder


CHANGELOG = """- recipes:
    - other
  description:
    - "Older than anybody."
  pull: https://github.com/acme/recipes/pull/3
"""


@dataclass
class Forge:
    """A GitHub that answers, and the environment in which a workflow of it would run."""

    world: World
    image: str
    env: dict[str, str]


@contextmanager
def forge(work: Path) -> Iterator[Forge]:
    """The repository behind a loopback GitHub, its image at a loopback registry."""
    with registry() as image:
        folder = work / "scenario"
        write(folder / "repo", image)
        for name, text in (("scenario.yaml", SCENARIO), ("registry.yaml", "{}\n"), ("baseline.json", "{}\n")):
            (folder / name).write_text(text)
        place = work / "world"
        place.mkdir()
        with World(scenario.load(folder), place) as world:
            env = {
                "GITHUB_REPOSITORY": world.repository, "GITHUB_API_URL": world.github_url, "BUMPBOT_TOKEN": world.tokens["bot"],
                "BUMPBOT_GIT_URL": world.git_url, "BUMPBOT_LOGIN": "bumpbot[bot]",
            }
            yield Forge(world, image, env)
