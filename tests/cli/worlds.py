"""A small repository with one recipe of the own kind whose image lies in a registry on loopback, and a GitHub over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.rehearse import scenario
from bot.rehearse.registry import ImageData, LoopbackRegistry
from bot.rehearse.world import World

NAME = "registry.example/acme/engine"
START = datetime(2026, 1, 5, 10, tzinfo=UTC)
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
CHANGELOG = """- recipes:
    - other
  description:
    - "Older than anybody."
  pull: https://github.com/acme/recipes/pull/3
"""
SCENARIO = """version: 1
name: toy
about: a repository of one recipe
attribution: made up for a test
clock: {start: START}
repository: {owner: acme, name: recipes, first_number: 7}
layout: own
recipe: toy
accounts:
  bot: bumpbot[bot]
  people:
    - {login: ada, name: Ada, email: ada@example.com, permission: admin}
workflows:
  - {file: smoke.yml, name: Smoke, run_name: "Smoke {inputs.nonce}",
     triggers: {workflow_dispatch: {inputs: [recipe, commit, nonce, points, eval-limit, fail-fast]}}}
  - {file: sweep.yml, name: Sweep, run_name: "Sweep {inputs.nonce}",
     triggers: {workflow_dispatch: {inputs: [recipe, commit, nonce, points, eval-limit, fail-fast]}}}
variants:
  own:
    policy: {caps: {gpu_hours: 40}}
    until: UNTIL
    expect: {outcome: failed}
"""
REGISTRY = """registry.example:
  acme/engine:
    v1.0.0: {created: 2026-01-01T00:00:00Z, pushed: 2026-01-01T00:00:00Z, platforms: [linux/amd64]}
    v1.1.0: {created: 2026-01-03T00:00:00Z, pushed: 2026-01-03T00:00:00Z, platforms: [linux/amd64]}
"""
TAGS = {
    tag: ImageData(created=datetime(2026, 1, day, tzinfo=UTC), pushed=datetime(2026, 1, day, tzinfo=UTC),
                   platforms=("linux/amd64", "linux/arm64"), env={"CUDA_VERSION": "13.0.1"})
    for tag, day in (("v1.0.0", 1), ("v1.1.0", 3), ("v0.9.0", 2))
}


@contextmanager
def registry(tags: Mapping[str, ImageData] = TAGS) -> Iterator[str]:
    """The name `127.0.0.1:PORT/acme/engine` of a repository of images that answers."""
    server = LoopbackRegistry({"acme/engine": dict(tags)})
    server.start()
    try:
        yield f"{server.url.removeprefix('http://')}/acme/engine"
    finally:
        server.stop()


def write(folder: Path, name: str = NAME) -> Path:
    """The files of the repository, in a folder that is no git repository."""
    for path, text in (("recipes/toy.yaml", RECIPE), (".github/bumpbot.yml", LAYOUT), ("perf-changelog.yaml", None)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(name=name) if text else CHANGELOG)
    return folder


@dataclass
class Forge:
    """A GitHub that answers, and the environment in which a workflow of it would run."""

    world: World
    image: str
    env: dict[str, str]


def scenario_folder(folder: Path, image: str = NAME, *, start: datetime = START, story: str = "", expect: str = "failed") -> Path:
    """The folder of a scenario in which nothing happens, or what `story` (events and runs) tells."""
    write(folder / "repo", image)
    text = SCENARIO.replace("START", start.isoformat()).replace("UNTIL", (start + timedelta(hours=2)).isoformat())
    text = text.replace("outcome: failed", f"outcome: {expect}") + story
    for name, content in (("scenario.yaml", text), ("registry.yaml", REGISTRY), ("baseline.json", "{}\n")):
        (folder / name).write_text(content)
    return folder


@contextmanager
def forge(work: Path) -> Iterator[Forge]:
    """The repository behind a loopback GitHub, its image at a loopback registry."""
    with registry() as image:
        folder = scenario_folder(work / "scenario", image, start=datetime.now(UTC))
        place = work / "world"
        place.mkdir()
        with World(scenario.load(folder), place) as world:
            env = {
                "GITHUB_REPOSITORY": world.repository, "GITHUB_API_URL": world.github_url, "BUMPBOT_TOKEN": world.tokens["bot"],
                "BUMPBOT_GIT_URL": world.git_url, "BUMPBOT_LOGIN": "bumpbot[bot]",
            }
            yield Forge(world, image, env)
