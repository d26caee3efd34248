"""Apache Otava's own change-point code (apache-otava, pinned), in an environment of its own: it pins another numpy.

This file is also the program that runs there: it reads JSON from stdin and imports nothing of bumpbot.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = "apache-otava==0.8.0"
INSTALL_S, LIMIT_S = 900, 1800


def environment(folder: Path) -> Path | str:
    """The Python of an environment that holds Otava, made in `folder` where it is absent; else why it cannot be had."""
    python = folder / "bin" / "python"
    stamp = folder / PACKAGE
    if stamp.exists():
        return python
    print(f"installing {PACKAGE} into {folder}", file=sys.stderr)
    for command in ([sys.executable, "-m", "venv", str(folder)],
                    [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", PACKAGE]):
        made = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
        if made.returncode:
            return f"{' '.join(command[1:])} failed: {made.stderr.strip()[-200:]}"
    stamp.touch()
    return python


def alarms(python: Path, sweeps: list[list[list[float]]], signs: list[float], *, at: int, p: float, magnitude: float) -> list[bool]:
    """For each sweep whether any of its series (of which +1 says that more is better, -1 that less is) has a change for the
    worse at index `at`."""
    asked = json.dumps({"sweeps": sweeps, "signs": signs, "at": at, "p": p, "magnitude": magnitude})
    # -I: neither this folder nor PYTHONPATH, where a module of the same name could stand, is looked through.
    made = subprocess.run([str(python), "-I", __file__], input=asked, capture_output=True, text=True, timeout=LIMIT_S)
    if made.returncode:
        raise SystemExit(f"Otava ended with {made.returncode}: {made.stderr.strip()[-500:]}")
    told: list[bool] = json.loads(made.stdout)
    return told


def _child(asked: dict[str, Any]) -> list[bool]:
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]

    def worse(series: list[float], sign: float) -> bool:
        found, _ = compute_change_points(series, max_pvalue=asked["p"], min_magnitude=asked["magnitude"])
        return any(point.index == asked["at"] and sign * (point.stats.mean_2 - point.stats.mean_1) < 0 for point in found)

    return [any(map(worse, sweep, asked["signs"])) for sweep in asked["sweeps"]]


if __name__ == "__main__":
    json.dump(_child(json.load(sys.stdin)), sys.stdout)
