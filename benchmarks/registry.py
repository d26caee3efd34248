"""Looking for newer images of many repositories: bumpbot beside Renovate 39, on one docker-registry, in one run.

    python -m benchmarks.registry [--runs 3] [--images 200] [--renovate .cache/renovate]

Each image is a repository with 14 tags (v0.5.3 to v0.5.9, for two CUDA versions) of two platforms each; the recipes hold
v0.5.3-cu129, and both programs must find v0.5.9-cu129 for every one. A cold run starts with an empty cache, the warm one
after it with what the cold one left. Requests are those of the registry's own access log. Medians of `--runs` rounds, the
range behind them. Exit 1 where an aim is missed or an image was not found, 2 where docker-registry is absent.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from benchmarks.updaters import FILE, ROOT, Bumpbot, Renovate, renovate
from bot.rehearse.registry import Content, ImageData, Stored, build
from tests.adapters.registries import DockerRegistry

MADE = datetime(2026, 9, 1, 12, tzinfo=UTC)
PATCHES, CUDA = range(3, 10), (129, 130)
TAGS = tuple(f"v0.5.{patch}-cu{cuda}" for patch in PATCHES for cuda in CUDA)
CURRENT, NEWEST = "v0.5.3-cu129", "v0.5.9-cu129"
FASTER, FEWER = 5, 2
# Where Renovate cannot run: seconds and requests of an earlier measurement, 200 images, Renovate 39.264.1, two CPU cores.
STORED = {"cold": (12.3, 803), "warm": (10.4, 0)}


class Measured(Struct, frozen=True, kw_only=True):
    """One program's runs of one kind: seconds and requests a run, those answered 304 among them, images found at least."""

    seconds: tuple[float, ...]
    requests: tuple[int, ...]
    unchanged: tuple[int, ...] = ()
    found: int | None = None


Figures = dict[str, Measured]
"""cold and warm -> what was measured."""


def fill(registry: DockerRegistry, images: int) -> list[str]:
    """The repositories' names. Platforms are pushed once and lent to the others; every index is a repository's own."""
    names = [f"bench/img-{number}" for number in range(images)]
    built = {tag: annotated(build(ImageData(created=MADE, pushed=MADE, platforms=("linux/amd64", "linux/arm64"),
                                            labels={"org.opencontainers.image.version": tag})), tag) for tag in TAGS}
    for tag, content in built.items():
        registry.push_content(names[0], tag, content)
    for name in names[1:]:
        registry.lend(names[0], name)
    for name in names:
        for tag, content in built.items():
            registry.put(name, tag, changed(content.top, {"annotations": {"org.opencontainers.image.title": name}}))
    return names


def annotated(content: Content, tag: str) -> Content:
    """The image with source and revision told on its platforms, without which Renovate asks for a config more an image."""
    about = {"org.opencontainers.image.source": "https://example.com/bench/engine",
             "org.opencontainers.image.revision": hashlib.sha1(tag.encode()).hexdigest()}
    inner = tuple(changed(made, {"annotations": about}) for made in content.manifests)
    listed = [{**entry, "digest": made.digest, "size": len(made.body)}
              for entry, made in zip(json.loads(content.top.body)["manifests"], inner, strict=True)]
    return Content(top=changed(content.top, {"manifests": listed}), manifests=inner, blobs=content.blobs)


def changed(stored: Stored, values: dict[str, Any]) -> Stored:
    """A manifest with other values, under the digest it then has."""
    body = json.dumps({**json.loads(stored.body), **values}).encode()
    return Stored(media=stored.media, body=body, digest=f"sha256:{hashlib.sha256(body).hexdigest()}")


def recipes(folder: Path, names: list[str], programs: list[Bumpbot | Renovate], netloc: str) -> Path:
    """A git repository with one recipe an image, and the configuration of each program."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / FILE).write_text("".join(f"recipe-{number}:\n  image: {name}:{CURRENT}\n" for number, name in enumerate(names)))
    for program in programs:
        program.prepare(repo, netloc, names)
    git = ["git", "-C", str(repo), "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "recipes"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return repo


def measure(programs: list[Bumpbot | Renovate], registry: DockerRegistry, repo: Path, names: list[str],
            rounds: int) -> dict[str, Figures]:
    """Every program in turn, cold and then warm, round by round, so that a machine that slows down slows all of them."""
    runs: dict[tuple[str, str], list[tuple[float, int, int, int]]] = {}
    for number in range(rounds):
        for program in programs:
            cache = repo.parent / f"{program.name}-{number}"
            cache.mkdir()
            for kind in STORED:
                before = len(registry.asked)
                seen = program.run(repo, cache)
                asked = registry.asked[before:]
                found = sum(seen.found.get(name) == NEWEST for name in names)
                runs.setdefault((program.name, kind), []).append(
                    (seen.seconds, len(asked), sum(one.status == 304 for one in asked), found))
                print(f"  round {number + 1}, {program.name} {kind}: {seen.seconds:.2f} s, {len(asked)} requests", file=sys.stderr)
            shutil.rmtree(cache, ignore_errors=True)
    figures: dict[str, Figures] = {}
    for (name, kind), told in runs.items():
        seconds, requests, unchanged, found = zip(*told, strict=True)
        figures.setdefault(name, {})[kind] = Measured(seconds=seconds, requests=requests, unchanged=unchanged, found=min(found))
    return figures


def table(figures: dict[str, Figures], images: int) -> None:
    print(f"\n{'':<14} {'':<5} {'wall, median':>13} {'range':>15} {'n':>3} {'requests':>9} {'of them 304':>12} {'found':>9}")
    for name, kinds in figures.items():
        for kind, told in kinds.items():
            print(f"{name:<14} {kind:<5} {median(told.seconds):>11.2f} s {f'{min(told.seconds):.2f}-{max(told.seconds):.2f}':>15} "
                  f"{len(told.seconds):>3} {median(told.requests):>9g} {median(told.unchanged) if told.unchanged else '-':>12} "
                  f"{'-' if told.found is None else f'{told.found}/{images}':>9}")


def verdict(ours: Figures, theirs: Figures, images: int) -> bool:
    """Says of each aim whether it was met, with the ratio; True where all were."""
    wall: Callable[[Figures, str], float] = lambda told, kind: median(told[kind].seconds)  # noqa: E731
    most = {kind: max(ours[kind].requests) for kind in ours}
    rows = [
        (f"cold: at most 1/{FASTER} of its wall time", wall(theirs, "cold") / wall(ours, "cold"), FASTER, "times faster"),
        (f"cold: at most 1/{FEWER} of its requests", median(theirs["cold"].requests) / max(most["cold"], 1), FEWER, "times fewer"),
        (f"warm: at most 1/{FASTER} of its wall time", wall(theirs, "warm") / wall(ours, "warm"), FASTER, "times faster"),
        ("warm: at most one request an image", images / max(most["warm"], 1), 1, "images a request"),
        ("both find the newest for every image", min(told.found for side in (ours, theirs) for told in side.values()
                                                     if told.found is not None) / images, 1, "of the images"),
    ]
    print()
    for aim, got, wanted, unit in rows:
        print(f"{'met   ' if got >= wanted else 'MISSED'}  {aim:<40} {got:.2f} {unit}")
    return all(got >= wanted for _, got, wanted, _ in rows)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.registry", description="bumpbot beside Renovate 39")
    options.add_argument("--runs", type=int, default=3, help="rounds; each is a cold and a warm run of both")
    options.add_argument("--images", type=int, default=200)
    options.add_argument("--renovate", type=Path, default=ROOT / ".cache" / "renovate", help="where it is, or is installed to")
    told = options.parse_args()
    if shutil.which("docker-registry") is None:
        print("docker-registry is absent: apt-get install docker-registry", file=sys.stderr)
        return 2
    other = renovate(told.renovate.resolve())
    programs = [Bumpbot()] if isinstance(other, str) else [other, Bumpbot()]
    with TemporaryDirectory() as folder, DockerRegistry(Path(folder) / "registry") as registry:
        print(f"filling {told.images} repositories", file=sys.stderr)
        names = [f"{registry.netloc}/{name}" for name in fill(registry, told.images)]
        repo = recipes(Path(folder), names, programs, registry.netloc)
        figures = measure(programs, registry, repo, names, told.runs)
    if isinstance(other, str):
        print(f"Renovate was not run ({other}); its figures are stored ones, of 200 images measured earlier elsewhere")
        figures["stored"] = {kind: Measured(seconds=(s,), requests=(r,)) for kind, (s, r) in STORED.items()}
    table(figures, told.images)
    theirs = figures.get(Renovate.name) or figures["stored"]
    return 0 if verdict(figures[Bumpbot.name], theirs, told.images) else 1


if __name__ == "__main__":
    sys.exit(main())
