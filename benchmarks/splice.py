"""One image in a master file: bumpbot's splice beside ruamel.yaml's round trip, in one process; and all sites of a repository.

    python -m benchmarks.splice [--repo ../shared/inferencex/snapshot] [--runs 5]

--repo is a checkout of InferenceX. Both programs read configs/nvidia-master.yaml from the same bytes, give one recipe
another image and return bytes, in turn, round by round; ruamel.yaml is told to keep quotes and never to
fold a line, and its lines are counted without that help too. Then the sites of every recipe are looked up, the files read and
parsed each time. CPU seconds, medians of --runs rounds, the range behind them. Exit 1 where an aim is missed, 2 where the
repository or ruamel.yaml (which is no dependency of the bot) is absent.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import io
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from bot.adapters.tree import FolderTree
from bot.recipe.files import splice
from bot.recipe.read import keys
from bot.recipe.shelf import Shelf
from bot.recipe.sites import sites
from tests.recipe.conftest import SHARED, preset

MASTER = "configs/nvidia-master.yaml"
IMAGE = "vllm/vllm-openai:v0.99.0"
FASTER, ALL_SITES_S = 20, 1.0
# The settings under which it changes least of this file.
KIND: dict[str, Any] = {"preserve_quotes": True, "width": 1 << 20}


def spliced(data: bytes, key: str, old: str) -> bytes:
    return splice.replace(data, (key, "image"), old, IMAGE, file=MASTER).data


def round_trip(data: bytes, key: str, settings: dict[str, Any]) -> bytes:
    from ruamel.yaml import YAML

    yaml = YAML()
    for name, value in settings.items():
        setattr(yaml, name, value)
    loaded = yaml.load(data)
    loaded[key]["image"] = IMAGE
    made = io.BytesIO()
    yaml.dump(loaded, made)
    return made.getvalue()


def all_sites(repo: Path) -> int:
    shelf, layout = Shelf(FolderTree(repo)), preset("inferencex")
    return sum(len(sites(shelf, layout, key).places) for key in keys(shelf, layout))


def changed(before: bytes, after: bytes) -> int:
    """Lines of the file that a diff shows as removed."""
    shown = difflib.unified_diff(before.decode().splitlines(), after.decode().splitlines(), n=0, lineterm="")
    return sum(line.startswith("-") and not line.startswith("---") for line in shown)


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    before = time.process_time()
    made = task()
    return time.process_time() - before, made


def told(name: str, seconds: list[float], more: str) -> None:
    print(f"{name:<40} {median(seconds):>9.3f} s {f'{min(seconds):.3f}-{max(seconds):.3f}':>16} {len(seconds):>3}   {more}")


def measure(repo: Path, runs: int) -> bool:
    """Prints the table and the aims; True where all were met."""
    data = (repo / MASTER).read_bytes()
    shelf, layout = Shelf(FolderTree(repo)), preset("inferencex")
    here = [key for key, home in shelf.homes(layout).items() if home.file == MASTER]
    key = here[len(here) // 2]
    old = sites(shelf, layout, key).image
    seconds: dict[str, list[float]] = {"ours": [], "theirs": [], "sites": []}
    for number in range(runs):
        for name, task in (("theirs", lambda: round_trip(data, key, KIND)), ("ours", lambda: spliced(data, key, old)),
                           ("sites", lambda: all_sites(repo))):
            took, _ = timed(task)
            seconds[name].append(took)
            print(f"  round {number + 1}, {name}: {took:.3f} s", file=sys.stderr)
    lines = {"ours": changed(data, spliced(data, key, old)), "theirs": changed(data, round_trip(data, key, KIND)),
             "plain": changed(data, round_trip(data, key, {}))}
    length = data.count(b"\n")
    print(f"{'':<40} {'CPU, median':>11} {'range':>16} {'n':>3}")
    told(f"bumpbot, one image of {length} lines", seconds["ours"], f"{lines['ours']} line changed")
    told("ruamel.yaml, the same", seconds["theirs"], f"{lines['theirs']} lines changed ({lines['plain']} unhelped)")
    told(f"bumpbot, all sites of {len(keys(shelf, layout))} recipes", seconds["sites"], f"{all_sites(repo)} sites")
    return verdict(seconds, lines["ours"])


def verdict(seconds: dict[str, list[float]], lines: int) -> bool:
    ratios = sorted(theirs / ours for theirs, ours in zip(seconds["theirs"], seconds["ours"], strict=True))
    slowest = median(seconds["sites"])
    aims = [
        (median(ratios) >= FASTER, f"at least {FASTER} times faster than ruamel.yaml",
         f"{median(ratios):.1f} times ({ratios[0]:.1f}-{ratios[-1]:.1f})"),
        (lines == 1, "one changed line", str(lines)),
        (slowest < ALL_SITES_S, f"all sites under {ALL_SITES_S:g} s", f"{slowest:.3f} s"),
    ]
    print()
    for met, aim, got in aims:
        print(f"{'met   ' if met else 'MISSED'}  {aim:<40} {got}")
    return all(met for met, _, _ in aims)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.splice", description="a splice beside a round trip")
    options.add_argument("--repo", type=Path, default=SHARED / "snapshot", help="a checkout of InferenceX")
    options.add_argument("--runs", type=int, default=5)
    asked = options.parse_args()
    if not (asked.repo / MASTER).is_file():
        print(f"{asked.repo} has no {MASTER}: name a checkout of InferenceX with --repo", file=sys.stderr)
        return 2
    if find_spec("ruamel") is None or find_spec("ruamel.yaml") is None:
        print("ruamel.yaml is absent: pip install ruamel.yaml", file=sys.stderr)
        return 2
    return 0 if measure(asked.repo, asked.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
