"""Every bump that people made, made again by bumpbot: how many sites are equal, explained, unexplained.

    python -m benchmarks.replay [--shared ../shared/inferencex/replay] [--history PATH]

The recorded bumps of --shared, and those of a clone of InferenceX (--history, bare or not): each commit of its main branch
in which a recipe's image changed, from the tree before it. Why a site differs is told by the rules of
tests/recipe/replays.py, which know no commit. Exit 1 where a site differs without a reason, or a master file in which
people changed lines of images alone has other bytes; 2 where there is nothing to replay.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from bot.layout import Layout
from tests.recipe.conftest import SHARED, preset
from tests.recipe.replays import Bump, Told, recorded, told

MASTERS = [f"{folder}{vendor}-master.yaml" for folder in ("configs/", ".github/configs/") for vendor in ("amd", "nvidia")]
RECIPES = "benchmarks/"


class History:
    """A git repository, read through one process of `cat-file`."""

    def __init__(self, folder: Path) -> None:
        self._git = ["git", "-C", str(folder)]
        self._batch = subprocess.Popen([*self._git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._images: dict[str, dict[str, str] | None] = {}

    def bumps(self) -> Iterator[Bump]:
        """The commits of the first-parent history, oldest first, in which a key that stays has another image."""
        for commit in self._run("log", "--first-parent", "--reverse", "--format=%H", "HEAD", "--", *MASTERS):
            was, now = self._all(f"{commit}^"), self._all(commit)
            if was is None or now is None:
                print(f"  {commit[:12]}: a master file is no YAML, not replayed", file=sys.stderr)
                continue
            moved = {key: (image, now[key]) for key, image in was.items() if key in now and now[key] != image}
            if moved:
                files = self._run("diff-tree", "-r", "--no-renames", "--name-only", f"{commit}^", commit, "--", *MASTERS, RECIPES)
                yield Bump(commit=commit[:12], keys=moved, before=Revision(self, f"{commit}^"), after=Revision(self, commit),
                           files=tuple(file for file in files if file.endswith((".yaml", ".yml"))))

    def read(self, name: str) -> bytes | None:
        """The bytes of `revision:path` or of an object's id; None where there is no such file."""
        stdin, stdout = self._batch.stdin, self._batch.stdout
        assert stdin is not None and stdout is not None
        stdin.write(f"{name}\n".encode())
        stdin.flush()
        head = stdout.readline().split()
        if head[-1] == b"missing":
            return None
        data = stdout.read(int(head[2]) + 1)[:-1]
        return data if head[1] == b"blob" else None

    def paths(self, revision: str, prefix: str) -> list[str]:
        folder = prefix.rpartition("/")[0]
        names = self._run("ls-tree", "-r", "--name-only", revision, *([f"{folder}/"] if folder else []))
        return [name for name in names if name.startswith(prefix)]

    def _all(self, revision: str) -> dict[str, str] | None:
        found: dict[str, str] = {}
        for row in self._run("ls-tree", revision, *MASTERS, check=False):
            blob = row.split()[2]
            if blob not in self._images:
                self._images[blob] = _images(self.read(blob) or b"")
            images = self._images[blob]
            if images is None:
                return None
            found |= images
        return found

    def _run(self, *arguments: str, check: bool = True) -> list[str]:
        done = subprocess.run([*self._git, *arguments], check=check, capture_output=True, text=True)
        return done.stdout.splitlines()


class Revision:
    """The Tree of one commit."""

    def __init__(self, history: History, revision: str) -> None:
        self._history, self._revision = history, revision

    def read(self, path: str) -> bytes | None:
        return self._history.read(f"{self._revision}:{path}")

    def paths(self, prefix: str = "") -> list[str]:
        return self._history.paths(self._revision, prefix)


def _images(data: bytes) -> dict[str, str] | None:
    try:
        recipes = yaml.load(data, Loader=yaml.CSafeLoader) or {}
    except yaml.YAMLError:
        return None
    return {key: str(recipe["image"]) for key, recipe in recipes.items() if isinstance(recipe, dict) and "image" in recipe}


def replay(name: str, bumps: Iterable[Bump], layout: Layout, *, verbose: bool) -> bool:
    """Prints the row of one collection and the reasons below it; True when nothing is left without one."""
    count, keys, sites, reasons, masters = 0, 0, Counter[str](), Counter[str](), Counter[bool]()
    for bump in bumps:
        found = told(bump, layout)
        count, keys = count + 1, keys + len(bump.keys)
        sites.update(moved=found.moved, stayed=found.stayed, lines=found.lines, unexplained=len(found.unexplained))
        reasons.update({reason: len(cases) for reason, cases in found.reasons.items()})
        masters.update(found.masters.values())
        _tell(found, verbose=verbose)
    print(f"{name:<14} {count:>7} {keys:>6} {sites['moved']:>7} {sites['lines']:>7} {sites['stayed']:>8} "
          f"{reasons.total():>10} {sites['unexplained']:>12} {f'{masters[True]} of {masters.total()}':>16}")
    for reason, times in reasons.most_common():
        print(f"    {times:>6}  {reason}")
    return not sites["unexplained"] and not masters[False]


def _tell(found: Told, *, verbose: bool) -> None:
    for case in found.unexplained:
        print(f"  {found.commit}: {case}", file=sys.stderr)
    for file, same in found.masters.items():
        if not same:
            print(f"  {found.commit}: other bytes in {file}", file=sys.stderr)
    if verbose:
        for refusal in dict.fromkeys(found.refusals):
            print(f"  {found.commit}: refused, {refusal}", file=sys.stderr)
        for reason, cases in found.reasons.items():
            for case in cases:
                print(f"  {found.commit}: {reason}: {case}", file=sys.stderr)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.replay", description="bumps of people, made again")
    options.add_argument("--shared", type=Path, default=SHARED / "replay", help="the folder of recorded bumps")
    options.add_argument("--history", type=Path, help="a clone of InferenceX")
    options.add_argument("--verbose", action="store_true", help="every site that differs, on stderr")
    asked = options.parse_args()
    names = [name for name in ("open", "linked-open") if (asked.shared / f"{name}.jsonl").exists()]
    collections = {name: recorded(asked.shared, name) for name in names}
    if not collections and asked.history is None:
        print(f"no recorded bumps at {asked.shared}: name them with --shared, or a clone with --history", file=sys.stderr)
        return 2
    layout = preset("inferencex")
    print(f"{'':<14} {'commits':>7} {'bumps':>6} {'moved':>7} {'line =':>7} {'stayed':>8} {'explained':>10} {'unexplained':>12} "
          f"{'master bytes =':>16}")
    good = [replay(name, bumps, layout, verbose=asked.verbose) for name, bumps in collections.items()]
    if asked.history is not None:
        good.append(replay("history", History(asked.history).bumps(), layout, verbose=asked.verbose))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
