"""A scenario folder of a few lines, for tests that change one line and look at what is said about it."""

from __future__ import annotations

from pathlib import Path

SCENARIO = """version: 1
name: small
about: one smoke that fails, on a small repository
attribution: made up for a test
clock: {start: 2026-01-05T10:00:00Z}
repository: {owner: acme, name: recipes, first_number: 7}
layout: own
recipe: toy
accounts:
  bot: bumpbot[bot]
  people:
    - {login: ada, name: Ada, email: ada@example.com, permission: admin}
    - {login: bob, name: Bob, email: bob@example.com, permission: read}
workflows:
  - file: smoke.yml
    name: Smoke
    triggers:
      workflow_dispatch: {inputs: [nonce]}
pools:
  - {label: gpu, capacity: 1}
schedule: {first: 2026-01-05T10:05:00Z, minutes: 30}
variants:
  own:
    policy: {caps: {gpu_hours: 40}}
    until: 2026-01-05T12:00:00Z
    expect: {outcome: failed, cause: unrepairable}
    events:
      - {do: dispatch, at: 2026-01-05T10:10:00Z, by: ada, recipe: toy, image: "registry.example/acme/engine:2.0"}
      - {do: push, at: 2026-01-05T10:20:00Z, by: ada, message: grow, append: {log.txt: "second line\\n"}}
      - {do: repush, at: 2026-01-05T10:40:00Z, image: "registry.example/acme/engine:2.0", to: 2.0-again}
    runs:
      - id: 901
        workflow: smoke.yml
        event: workflow_dispatch
        attempts:
          - jobs:
              - {name: one, minutes: 12, pool: gpu, gpus: 8, conclusion: failure, artifacts: [logs]}
"""
REGISTRY = """registry.example:
  acme/engine:
    "1.0": {created: 2025-12-01T00:00:00Z, pushed: 2025-12-01T01:00:00Z, platforms: [linux/amd64, linux/arm64]}
    "2.0": {created: 2026-01-02T00:00:00Z, pushed: 2026-01-02T01:00:00Z, platforms: [linux/arm64], kind: manifest,
            labels: {built-by: acme}, env: {CUDA_VERSION: "13.0.1"}}
    2.0-again: {created: 2026-01-04T00:00:00Z, pushed: 2026-01-04T01:00:00Z, platforms: [linux/arm64], kind: manifest}
"""


def write(folder: Path, scenario: str = SCENARIO, *, registry: str = REGISTRY, baseline: str = "{}\n") -> Path:
    """The folder, whole."""
    for name, text in (
        ("scenario.yaml", scenario),
        ("registry.yaml", registry),
        ("baseline.json", baseline),
        ("repo/log.txt", "first line\n"),
        ("repo/recipes/toy.yaml", "name: toy\n"),
        ("artifacts/901/1/logs/server.log", "it broke\n"),
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
