"""Two programs that look for newer images in a folder of recipes: bumpbot, and Renovate 39 to compare it with.

Each runs as a process of its own, as a person would start it; a cache folder makes a run cold (empty) or warm.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).parents[1]
FILE = "master.yaml"
LIMIT_S, INSTALL_S = 600, 900
PACKAGE = "renovate@^39"
# The Node versions that its 39th major runs on.
NODE = re.compile(r"v(20\.(1[5-9]|[2-9]\d)|22\.(1[1-9]|[2-9]\d))\.")


class Finding(Struct, frozen=True, kw_only=True):
    """What one run found (image name -> new tag) and how long it took, start of the process to its end."""

    found: dict[str, str]
    seconds: float


class Bumpbot:
    """`bumpbot scan` of this working tree."""

    name = "bumpbot"

    def prepare(self, repo: Path, netloc: str, names: list[str]) -> None:
        """A layout file that says which file holds recipes, and which images may be proposed."""
        layout = {"version": 1, "recipes": [{"files": FILE, "key": "*", "image": [".image"]}], "allow": names}
        (repo / ".github").mkdir()
        (repo / ".github" / "bumpbot.yml").write_text(json.dumps(layout))

    def run(self, repo: Path, cache: Path) -> Finding:
        env = {"PATH": os.environ["PATH"], "HOME": str(cache), "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
        seconds, told = _timed([sys.executable, "-m", "bot", "scan", "--repo", str(repo), "--format", "json"], repo, env)
        found = {}
        for row in json.loads(told):
            name, _, tag = (row["candidate"] or "").partition("@")[0].rpartition(":")
            if name:
                found[name] = tag
        return Finding(found=found, seconds=seconds)


class Renovate:
    """Renovate's lookup of a local folder; `program` is where it is installed."""

    name = "Renovate"

    def __init__(self, program: Path) -> None:
        self._program = program

    def prepare(self, repo: Path, netloc: str, names: list[str]) -> None:
        """Its configuration: a pattern that finds the images, and tags of one CUDA version compared as versions."""
        image = r"image:\s*(?<depName>[^\s:]+(?::\d+)?/[^\s:@]+):(?<currentValue>[^\s@]+)(?:@(?<currentDigest>sha256:[a-f0-9]+))?"
        manager = {"customType": "regex", "fileMatch": [rf"(^|/){re.escape(FILE)}$"], "matchStrings": [image],
                   "datasourceTemplate": "docker",
                   "versioningTemplate": r"regex:^v(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)(?<compatibility>-cu\d+)?$"}
        (repo / "renovate.json").write_text(json.dumps({
            "enabledManagers": ["custom.regex"], "customManagers": [manager], "pinDigests": True,
            "hostRules": [{"matchHost": netloc, "insecureRegistry": True}]}))

    def run(self, repo: Path, cache: Path) -> Finding:
        env = {"PATH": os.environ["PATH"], "HOME": str(cache), "RENOVATE_CACHE_DIR": str(cache / "cache"),
               "RENOVATE_BASE_DIR": str(cache / "base"), "LOG_FORMAT": "json", "LOG_LEVEL": "debug"}
        seconds, told = _timed([str(self._program), "--platform=local", "--dry-run=lookup"], repo, env)
        lines = [json.loads(line) for line in told.splitlines() if b'"packageFiles with updates"' in line]
        found: dict[str, str] = {}
        for dependency in _dependencies(lines[-1]["config"] if lines else {}):
            for update in dependency.get("updates", ()):
                if update.get("newValue") and update.get("updateType") != "pinDigest":
                    found[dependency["depName"]] = update["newValue"]
        return Finding(found=found, seconds=seconds)


def renovate(folder: Path) -> Renovate | str:
    """Renovate from `folder`, installed there first where it is absent (minutes); else why it cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip() if node else "no node"
    if npm is None or not NODE.match(version):
        return f"it needs Node 20 and npm, here is {version}"
    program = folder / "node_modules" / ".bin" / "renovate"
    if not program.exists():
        print(f"installing {PACKAGE} into {folder}: minutes, 330 MB", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        # Without --ignore-scripts it sat for minutes in the build of a native module that it can do without.
        made = subprocess.run([npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE],
                              capture_output=True, text=True, timeout=INSTALL_S)
        if made.returncode or not program.exists():
            return f"npm could not install it: {made.stderr.strip()[-200:]}"
    return Renovate(program)


def _dependencies(config: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [dependency for files in config.values() for file in files for dependency in file.get("deps", ())]


def _timed(argv: list[str], cwd: Path, env: dict[str, str]) -> tuple[float, bytes]:
    began = perf_counter()
    made = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    seconds = perf_counter() - began
    if made.returncode:
        raise SystemExit(f"{argv[0]} ended with {made.returncode}: {(made.stderr or made.stdout).decode(errors='replace')[-2000:]}")
    return seconds, made.stdout
