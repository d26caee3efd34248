"""All checks of one recipe, as `bumpbot plan` makes them in its own process: with nothing kept, with the clone and the wheels
there but nothing read, and from the cache; of each the checks alone and the whole command, on the clock and of all processors.

    python -m benchmarks.preflight [--old 0.5.12] [--new 0.5.19] [--dynamo 1.1.0] [--rounds 5] [--where]

The engine is a git repository served on loopback: the published wheels of sglang as its first and last commit, and 3,000 commits
between them that each change one of its files. The images lie in a registry on loopback, the recipe is one of the own kind beside a
pinned Dynamo, whose wheel and the engine's kernel wheel come from the index. The issue asks that the checks
take less than 2 s from the cache; exit 1 where they take longer. Python's bytecode is kept, as an installation has it. `--where`
plans once more under a profiler.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bot.adapters.process import LocalProcess
from bot.adapters.wheels import Wheels
from bot.cli import main as bumpbot
from bot.ports import Tree
from bot.rehearse.registry import ImageData, LoopbackRegistry
from tests.fakes.upstream_http import serve

CACHED_S, BETWEEN, NAME = 2.0, 3_000, "lmsysorg/sglang"
MADE = datetime(2026, 9, 1, 12, tzinfo=UTC)
LAYOUT = """version: 1
preset: own
allow: ["{image}"]
sources: {{"{image}": "{source}"}}
preflight:
  coupled: [{{name: dynamo, package: ai-dynamo, module: dynamo, version: [.serve.env.DYNAMO_VERSION]}}]
"""
RECIPE = """name: sglang-h200
image: {image}:v{old}
engine: {{name: sglang}}
model: {{repo: acme/toy-32b}}
hardware: {{gpu: h200, gpus: 4, runner: [self-hosted, h200]}}
serve:
  args: {{tp: 4, ep: 4, context-length: 32768, chunked-prefill-size: 4096, mem-fraction-static: 0.78, attention-backend: fa3}}
  env: {{SGLANG_ENABLE_SPEC_V2: "1", DYNAMO_VERSION: "{dynamo}"}}
workload: {{kind: chat, requests: {{1: 8, 16: 32}}}}
evals: [{{task: gsm8k, threshold: 0.9}}]
"""


def files(wheel: Tree) -> dict[str, bytes]:
    """The repository's files at a release: the wheel's under `python/`, with what it says it needs."""
    found = {f"python/{path}": wheel.read(path) or b"" for path in wheel.paths("sglang/") if path.endswith(".py")}
    (told,) = [path for path in wheel.paths("") if path.endswith(".dist-info/METADATA")]
    needs = re.findall(r"^Requires-Dist: ([^;\n]+)$", (wheel.read(told) or b"").decode(), re.MULTILINE)
    listed = "".join(f"  {json.dumps(need.strip())},\n" for need in needs)
    return {**found, "python/pyproject.toml": f'[project]\nname = "sglang"\ndependencies = [\n{listed}]\n'.encode()}


def stream(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[bytes]:
    """A history for fast-import from one release to another."""
    draw, paths = random.Random(7), sorted(old)

    def commit(mark: int, title: str, changed: Mapping[str, bytes], gone: tuple[str, ...] = ()) -> Iterator[bytes]:
        yield (f"commit refs/heads/main\nmark :{mark}\ncommitter c <c@example.org> {1_770_000_000 + mark * 900} +0000\n"
               f"data {len(title)}\n{title}\n").encode()
        yield from (f"D {path}\n".encode() for path in gone)
        for path, data in changed.items():
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"

    yield from commit(1, "Release", old)
    for mark in range(2, BETWEEN + 2):
        path = draw.choice(paths)
        yield from commit(mark, f"Change number {mark} (#{mark})", {path: old[path] + f"# {mark}\n".encode()})
    yield from commit(BETWEEN + 2, "Release (#1)", new, tuple(sorted(set(old) - set(new))))


def written(folder: Path, index: Wheels, old: str, new: str) -> tuple[str, str]:
    """The engine's repository; its first and its last commit."""
    def git(*argv: str, data: bytes | None = None) -> list[str]:
        return subprocess.run(["git", *argv], cwd=folder, input=data, check=True, capture_output=True).stdout.decode().split()

    folder.mkdir()
    git("init", "--quiet", "--bare", "--initial-branch=main")
    git("config", "uploadpack.allowFilter", "true")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("fast-import", "--quiet", data=b"".join(stream(files(index.wheel("sglang", old)), files(index.wheel("sglang", new)))))
    commits = git("rev-list", "--first-parent", "main")
    return commits[-1], commits[0]


@contextmanager
def world(work: Path, old: str, new: str, dynamo: str) -> Iterator[tuple[Path, list[str]]]:
    """The folder of the recipe, and the arguments of its plan."""
    ends = written(work / "sglang.git", Wheels(LocalProcess(), work / "index", os.environ), old, new)
    images = {f"v{version}": ImageData(created=MADE, pushed=MADE, platforms=("linux/amd64",),
                                       labels={"org.opencontainers.image.revision": end}, env={"CUDA_VERSION": "13.0.1"})
              for version, end in zip((old, new), ends, strict=True)}
    with ExitStack() as stack:
        source, _ = stack.enter_context(serve(work / "sglang.git"))
        registry = LoopbackRegistry({NAME: images})
        stack.callback(registry.stop)
        image = f"{registry.start().removeprefix('http://')}/{NAME}"
        place = work / "repository"
        said = {"image": image, "source": source, "old": old, "dynamo": dynamo}
        for path, text in ((".github/bumpbot.yml", LAYOUT), ("recipes/sglang-h200.yaml", RECIPE)):
            (place / path).parent.mkdir(parents=True)
            (place / path).write_text(text.format(**said))
        yield place, ["plan", "sglang-h200", "--image", f"{image}:v{new}", "--format", "json"]


class Run(NamedTuple):
    """One run of the command: seconds on the clock and of all processors, of the checks and as a whole; what each check said."""

    checks: tuple[float, float]
    whole: tuple[float, float]
    found: dict[str, str]


def run(argv: list[str], place: Path, cache: Path) -> Run:
    """The command in a process of its own; none of its children outlives it."""
    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times, bytecode = cache.with_name("times"), cache.with_name("bytecode")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"BUMPBOT_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONPYCACHEPREFIX": str(bytecode)}
    began, before = perf_counter(), spent()
    clocked = [sys.executable, "-m", "benchmarks.timed_plan", str(times), *argv]
    done = subprocess.run(clocked, cwd=place, env=env, capture_output=True)
    whole = perf_counter() - began, spent() - before
    assert done.returncode in (0, 1) and done.stdout, done.stderr.decode()
    clock, own, others = json.loads(times.read_text())
    return Run((clock, own + others), whole, {one["check"]: one["result"] for one in json.loads(done.stdout)["checks"]})


def forget(cache: Path) -> None:
    """Of what is kept only the clone and the wheels are left, which are fetched and no answers."""
    for folder in cache.glob("surveys-*"):
        shutil.rmtree(folder)
    for file in cache.glob("upstream/*.git/*.kept"):
        file.unlink()


def told(name: str, runs: list[Run]) -> None:
    """One line for the checks and one for the whole command."""
    for part, rows in (("checks", [one.checks for one in runs]), ("whole", [one.whole for one in runs])):
        walls, used = zip(*rows, strict=True)
        print(f"{name:7} {part:7} median {statistics.median(walls):6.2f} s  longest {max(walls):6.2f} s  "
              f"processors {statistics.median(used):6.2f} s  (n = {len(rows)})")


def where(argv: list[str], place: Path, cache: Path) -> None:
    """The costliest functions of one plan from the cache, with all that they call."""
    os.environ["BUMPBOT_CACHE"] = str(cache)
    os.chdir(place)
    profile, out = cProfile.Profile(), sys.stdout
    with Path(os.devnull).open("w") as sys.stdout:
        try:
            profile.runcall(bumpbot, argv)
        except SystemExit:
            pass
        finally:
            sys.stdout = out
    pstats.Stats(profile).strip_dirs().sort_stats("cumulative").print_stats(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--old", "0.5.12"), ("--new", "0.5.19"), ("--dynamo", "1.1.0")):
        parser.add_argument(name, default=default)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--where", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, world(Path(folder), asked.old, asked.new, asked.dynamo) as (place, argv):
        cache = Path(folder) / "cache"
        first, cold = run(argv, place, cache), list[Run]()
        for _ in range(asked.rounds):
            forget(cache)
            cold.append(run(argv, place, cache))
        cached = [run(argv, place, cache) for _ in range(asked.rounds)]
        assert all(one.found == first.found for one in (*cold, *cached))
        if asked.where:
            where(argv, place, cache)
    print(", ".join(f"{check} {result}" for check, result in first.found.items()))
    for name, runs in (("empty", [first]), ("cold", cold), ("cached", cached)):
        told(name, runs)
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors; limit {CACHED_S:g} s for the cached checks")
    sys.exit(statistics.median(one.checks[0] for one in cached) >= CACHED_S)


if __name__ == "__main__":
    main()
