"""The repository, its images and its baselines: one invented team that benchmarks one invented model with SGLang."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bot import strict
from bot.model.recipe import Point
from bot.recipe import own
from bot.rehearse.registry import ImageData, build
from tests.rehearse.own_scenarios import numbers, results
from tests.rehearse.own_scenarios.numbers import MTP, PLAIN

REPOSITORY, IMAGE = "docker.io", "lmsysorg/sglang"
OLD, NEW, REBUILT = "v0.5.21", "v0.5.22", "v0.5.22-rebuilt"
KEY, SIBLING = "larch72b-fp8-h200-sglang-tp4", "larch72b-fp8-h200-sglang-tp4-mtp"
CURVES = {KEY: PLAIN, SIBLING: MTP}
MEASURED = "2026-09-22"
BASELINE_RUN, BASELINE_HEAD = 18002200417, "6b1f0c52ae1d7d3c1f0a94b2e70c5d8831f6a9e4"
NOTE = "# Invented: no such model, team or measurement exists. tests/rehearse/make_own_scenarios.py makes this file.\n"
OLD_COMMIT, NEW_COMMIT = "1f6d0c9e3b7a52c84d10e6f3a9b8c7d6e5f40312", "c40a9d7715be62f3081d2f9e64cb5a7083d1e92f"

TAG = """    {tag}:
      created: {created}
      pushed: {pushed}
      platforms: [linux/amd64, linux/arm64]
      labels: {{org.opencontainers.image.revision: {commit}}}
      env: {{CUDA_VERSION: {cuda}, TORCH_CUDA_ARCH_LIST: "9.0 10.0"}}
"""
REGISTRY = "docker.io:\n  lmsysorg/sglang:\n" + TAG.format(
    tag=OLD, created="2026-09-08T11:20:31Z", pushed="2026-09-08T12:04:10Z", commit=OLD_COMMIT, cuda="13.0.1",
) + TAG.format(tag=NEW, created="2026-10-01T09:41:07Z", pushed="2026-10-01T10:22:55Z", commit=NEW_COMMIT, cuda="13.0.1")
AGAIN = "    # What the tag v0.5.22 holds once it was pushed again: the same commit, built anew on another base.\n" + TAG.format(
    tag=REBUILT, created="2026-10-05T08:31:40Z", pushed="2026-10-05T09:00:00Z", commit=NEW_COMMIT, cuda="13.0.2")

LAYOUT = """# Invented, with everything else here. The rules of this repository beyond those of the preset.
version: 1
preset: own
# Published points lie here, by the day on which they were measured.
baselines: {folder: baselines}
changelog: {pull: "https://github.com/northwind-bench/recipes/pull/{number}"}
limits:
  gpu-hours: 40
%s"""
RECIPE = """%(about)s
name: %(key)s
image: %(image)s
engine: {name: sglang, source: https://github.com/sgl-project/sglang}
model: {repo: northwind/Larch-72B, revision: 4c1d7ee0a3f95b28c6d4e1f0b7a8c9d2e3f40516, weights: fp8, kv: fp8}
hardware: {gpu: h200, gpus: 4, runner: [self-hosted, h200]}
serve:
  args:
    tp: 4
    context-length: 16384
    # Larger chunks raise the time between tokens of everybody else.
    chunked-prefill-size: 8192
    mem-fraction-static: 0.85
    max-running-requests: 160
%(more)s  env: {}
workload: {kind: chat, input: 1024, output: 256, requests: {1: 8, 16: 64, 64: 256, 128: 512}, repeats: 3}
evals: [{task: gsm8k, threshold: 0.90, metric: exact_match,strict-match}]
gates: {failed_requests: 0.10}
policy: {channel: stable, minimum-age-days: 2}
"""
ABOUT = {
    KEY: "# Larch 72B on four H200, plain decoding.",
    SIBLING: "# Larch 72B on four H200 with multi-token prediction; moves with the recipe without it.",
}
MORE = {
    KEY: "",
    SIBLING: "    speculative-algorithm: EAGLE\n    speculative-num-steps: 3\n    speculative-num-draft-tokens: 4\n",
}
CHANGELOG = """# One entry a change of results, appended last. Invented, with everything else here.
- recipes:
    - %(key)s
  description:
    - "First measurement of Larch 72B on H200, SGLang v0.5.21."
  pull: https://github.com/northwind-bench/recipes/pull/31
"""
UPSTREAM = f"""repository: sgl-project/sglang
about: Invented, commit ids and titles too. What the compare route answers for the commits that the images are labelled with.
comparisons:
  - base: {OLD_COMMIT}
    head: {NEW_COMMIT}
    merge_base: {OLD_COMMIT}
    ahead: 214
    behind: 0
    commits:
      - {{sha: 0a91c6b4f27d8e35019cbd4a6e8f7135c2d0b9a8, title: "[Scheduler] Overlap grammar compilation with decoding", date: 2026-09-17T08:12:00Z, pull: 40117}}
      - {{sha: 5d3e7f1a9c8b60421f7e2d4c6a8b0913e5f7a2c1, title: "[Spec] Share the draft model's KV pool", date: 2026-09-24T15:40:00Z, pull: 40388}}
      - {{sha: {NEW_COMMIT}, title: "Release v0.5.22", date: 2026-10-01T07:55:00Z, pull: 40561}}
"""


@dataclass(frozen=True)
class Team:
    """A repository of these recipes, with the limits of its layout."""

    keys: tuple[str, ...] = (KEY,)
    limits: str = ""

    def write(self, folder: Path) -> None:
        """repo/, registry.yaml, baseline.json and upstream/."""
        repo = folder / "repo"
        texts = {
            repo / ".github/bumpbot.yml": LAYOUT % self.limits,
            repo / "perf-changelog.yaml": CHANGELOG % {"key": KEY},
            **{repo / f"recipes/{key}.yaml": recipe(key) for key in self.keys},
            **{repo / f"baselines/{MEASURED}/{key}.jsonl": baseline(key) for key in self.keys},
            folder / "registry.yaml": NOTE + REGISTRY,
            folder / "baseline.json": "{}\n",
            folder / "upstream/sglang.yaml": NOTE + UPSTREAM,
        }
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def digest_of(tag: str) -> str:
    """The digest that the loopback registry computes for a tag's made-up bytes."""
    told = strict.load(dict[str, dict[str, dict[str, ImageData]]], REGISTRY + AGAIN, file="registry.yaml")
    return build(told[REPOSITORY][IMAGE][tag]).top.digest


def reference(tag: str) -> str:
    return f"{IMAGE}:{tag}@{digest_of(tag)}"


def recipe(key: str, tag: str = OLD) -> str:
    """The recipe's file on this image."""
    return RECIPE % {"about": f"{ABOUT[key]} Invented, its numbers too.", "key": key, "image": reference(tag), "more": MORE[key]}


def fingerprint(key: str, tag: str) -> str:
    return own.points(own.load(recipe(key, tag).encode(), f"recipes/{key}.yaml"))[0].fingerprint


def all_points(key: str) -> tuple[Point, ...]:
    """What `bumpbot matrix` prints."""
    return own.points(own.load(recipe(key).encode(), f"recipes/{key}.yaml"))


def id_of(key: str, conc: int, task: str | None = None) -> str:
    """The id of one of these points."""
    return next(point.id for point in all_points(key) if (point.concurrency, point.eval and point.eval.task) == (conc, task))


def cell(key: str, conc: int, tag: str) -> dict[str, object]:
    """The point of a row in its normal form."""
    return {"recipe": key, "concurrency": conc, "workload": "chat", "topology": "TP4", "fingerprint": fingerprint(key, tag)}


def baseline(key: str) -> str:
    """The published points of a recipe on the old image, one row a line."""
    told = {"run": BASELINE_RUN, "attempt": 1, "head": BASELINE_HEAD, "image": reference(OLD)}
    rows: list[dict[str, object]] = []
    for conc in numbers.LEVELS:
        measured = numbers.measure(CURVES[key], conc, f"baseline {key}")
        rows += results.rows(measured, cell(key, conc, OLD), told)
    correct = {KEY: (1271, 1273), SIBLING: (1270, 1272)}[key]
    rows += results.eval_rows(correct, numbers.QUESTIONS, cell(key, numbers.LEVELS[-1], OLD), told)
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
